"""Registers the runners and parameter sources of the track apache-ecs with Rally."""

from shared.registration import register

__all__ = ["register"]
