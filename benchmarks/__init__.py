"""./inv bench.corpus: the corpus generator beside other generators and the disk, in one run.

peers/ holds one small program per generator, all of the same form; the rest starts them and compares.
"""
