"""What a corpus or log file is like: sizes, compression, terms, fields, times.

lines.py reads lines (paddock.imports opens the files), takes them apart and finds their times, terms.py counts terms
and fields, model.py holds what is found and reckons, measure.py brings them together, render.py prints.
"""

from paddock.inspection.measure import USUAL_LINES, inspect
from paddock.inspection.model import Inspection
from paddock.inspection.render import recipe_sizes, render

__all__ = ["USUAL_LINES", "Inspection", "inspect", "recipe_sizes", "render"]
