# SPDX-License-Identifier: BSD-3-Clause
"""Threads that put numbers: one alone while another one computes (`alone`), or two (`turns`)."""

import sys
import threading
import time

import tombolo

job = tombolo.init()
a = job.zeros(8)
right = (job.rank + 1) % job.size


def put(at):
    """Puts numbers, one after the other."""
    for number in range(20):
        a[right, at] = number
        time.sleep(0.001)


def compute(_at):
    """Calls nothing."""
    return sum(n * n for n in range(100000))


threads = [threading.Thread(target=f, args=(at,))
           for at, f in enumerate((put, put if sys.argv[1] == "turns" else compute))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
job.barrier()
assert a.local[0] == 19
job.barrier()
