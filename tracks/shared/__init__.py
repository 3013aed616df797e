"""What both tracks share: index settings, parameters, runners and parameter sources; Rally imports it as ``shared``."""
