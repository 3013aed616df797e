"""Plots of reports: HTML and SVG from figures that are known; drawing.py is what all are made of."""
