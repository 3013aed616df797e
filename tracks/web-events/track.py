"""Registers the runners and parameter sources of the track web-events with Rally."""

from shared.registration import register

__all__ = ["register"]
