"""What a corpus or log file is like: sizes, compression, terms, fields, times.

source.py reads lines (paddock.imports opens the files), lines.py takes them apart, terms.py, fields.py and times.py
count, fits.py reckons, measure.py brings them together, render.py prints.
"""

from paddock.inspection.measure import USUAL_LINES, inspect
from paddock.inspection.model import Inspection
from paddock.inspection.render import recipe_sizes, render

__all__ = ["USUAL_LINES", "Inspection", "inspect", "recipe_sizes", "render"]
