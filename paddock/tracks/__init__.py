"""The tracks as Rally reads them: what there is to race, with which challenges and parameters."""

from paddock.tracks.catalogue import (
    Challenge,
    Parameter,
    Track,
    check_distribution,
    check_parameters,
    copies_of_shards,
    load_track,
    load_tracks,
    named_settings,
    parameters_of_others,
    read_parameters,
    setting_problem,
    settings_by_name,
    track_names,
)

__all__ = [
    "Challenge",
    "Parameter",
    "Track",
    "check_distribution",
    "check_parameters",
    "copies_of_shards",
    "load_track",
    "load_tracks",
    "named_settings",
    "parameters_of_others",
    "read_parameters",
    "setting_problem",
    "settings_by_name",
    "track_names",
]
