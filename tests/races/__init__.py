"""Real Rally against a real Elasticsearch; one race at a time."""
