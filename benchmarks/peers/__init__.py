"""Other generators making documents like Paddock's; run in an environment of their own, so the standard library alone.

protocol.py is what they have in common; each other file is one generator.
"""
