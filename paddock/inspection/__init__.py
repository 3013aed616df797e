"""What a corpus or log file is like: sizes, compression, terms, fields, times."""

from paddock.inspection.measure import Inspection, inspect, recipe_sizes, render

__all__ = ["Inspection", "inspect", "recipe_sizes", "render"]
