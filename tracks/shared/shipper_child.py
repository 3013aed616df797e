"""A program that becomes another one, which the kernel ends with whoever started it: however that comes to its end.

    shipper_child.py PARENT PROCESSORS PROGRAM ARGUMENT ...

PARENT is the process id of who starts it, PROCESSORS are the numbers of those that it may run on, with commas; empty
for all. Nothing of this program is left once the other one runs.
"""

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)

if __name__ == "__main__":
    parent, processors, *words = sys.argv[1:]
    ctypes.CDLL(None, use_errno=True).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    # Who ended before that was asked for sends no signal.
    if os.getppid() != int(parent):
        sys.exit("Who started this is gone.")
    if processors:
        try:
            os.sched_setaffinity(0, [int(number) for number in processors.split(",")])
        except OSError as error:
            sys.exit(f"It cannot run on the processors {processors} ({error.strerror}): name some that are there.")
    os.execvp(words[0], words)  # noqa: S606 - no shell is wanted
