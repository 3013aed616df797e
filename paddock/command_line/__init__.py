"""The tasks of ./inv, thin: each checks nothing itself and prints what the packages below give it."""
