"""Registers the runners and parameter sources of the track apache with Rally."""

from shared.registration import register

__all__ = ["register"]
