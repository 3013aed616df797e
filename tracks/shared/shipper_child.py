"""A program that becomes another one, which the kernel ends with whoever started it: however that comes to its end.

    shipper_child.py PARENT PROCESSORS GROUPS PROGRAM ARGUMENT ...

PARENT is the process id of who starts it, PROCESSORS are the numbers of those that it may run on, with commas, GROUPS
the folders of the control groups that it joins, a line each; empty for all, and for none. Nothing of this program is
left once the other one runs, which with all that it starts stays in these groups.
"""

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)

if __name__ == "__main__":
    parent, processors, groups, *words = sys.argv[1:]
    ctypes.CDLL(None, use_errno=True).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    # Who ended before that was asked for sends no signal.
    if os.getppid() != int(parent):
        sys.exit("Who started this is gone.")
    if processors:
        try:
            os.sched_setaffinity(0, [int(number) for number in processors.split(",")])
        except OSError as error:
            sys.exit(f"It cannot run on the processors {processors} ({error.strerror}): name some that are there.")
    for group in groups.splitlines():
        try:
            with open(f"{group}/cgroup.procs", "w", encoding="ascii") as members:  # noqa: PTH123 - it has to be quick
                members.write("0")  # itself, whatever its number is elsewhere
        except OSError as error:
            sys.exit(f"It cannot join the control group {group} ({error.strerror}): whoever starts it has to own that.")
    os.execvp(words[0], words)  # noqa: S606 - no shell is wanted
