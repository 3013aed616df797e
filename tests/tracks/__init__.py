"""Tests of the tracks and of what reads them."""
