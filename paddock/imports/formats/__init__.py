"""Formats of log lines: each turns the text of one event into a time and a document."""
