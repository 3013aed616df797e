"""Published studies, run again: a chain file each (tournaments/chains/study-*.yml), and the results that are kept.

listed    which studies there are, and how long they take
kept      a result -> docs/studies/NAME/STEP/, small and without paths of the machine; and back
scrubbing what in it is somebody's, taken out
page      what is kept -> docs/studies.md, one table of all; never typed
"""

PREFIX = "study-"
