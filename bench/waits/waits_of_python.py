# SPDX-License-Identifier: BSD-3-Clause
"""The barrier of Python beside that of C (pair.h), for study/compare/waits.py.

Usage: waits_of_python.py LIBRARY, that of pair.c. The C calls are made by C, so the row includes
the time that the interpreter takes for a call.
"""

import ctypes
import sys

import tombolo

BARRIER = 0

job = tombolo.init()
pair = ctypes.CDLL(sys.argv[1])
pair.pair_begin()
for _ in range(pair.pair_samples() + 1):
    pair.pair_measure(BARRIER)
    pair.pair_start()
    for _ in range(pair.pair_count()):
        job.barrier()
    pair.pair_stop()
pair.pair_report(b"python_barrier")
