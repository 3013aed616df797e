"""The tracks as Rally reads them: what there is to race, with which challenges and parameters."""

from paddock.tracks.catalogue import (
    Challenge,
    Parameter,
    Track,
    check_distribution,
    check_parameters,
    load_track,
    load_tracks,
    read_parameters,
    track_names,
)

__all__ = [
    "Challenge",
    "Parameter",
    "Track",
    "check_distribution",
    "check_parameters",
    "load_track",
    "load_tracks",
    "read_parameters",
    "track_names",
]
