"""Plots of a tournament as SVG elements: each makes a matplotlib figure for a width in pixels."""
