"""Registers the runners and parameter sources of the track app-logs-ecs with Rally."""

from shared.registration import register

__all__ = ["register"]
