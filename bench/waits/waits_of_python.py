# SPDX-License-Identifier: BSD-3-Clause
"""The barrier of Python beside that of C (pair.h), for study/compare/waits.py.

Usage: waits_of_python.py LIBRARY FOLDER, that of pair.c, and where the module of bare.c is. The C
calls are made by a function of Python that does nothing else, so both sides of the row include the
time that the interpreter takes for a call.
"""

import ctypes
import sys

import tombolo

job = tombolo.init()
pair = ctypes.CDLL(sys.argv[1])
sys.path.append(sys.argv[2])
import bare  # noqa: E402


def sample(count):
    pair.pair_start()
    for _ in range(count):
        bare.barrier()
    pair.pair_measured()
    pair.pair_start()
    for _ in range(count):
        job.barrier()
    pair.pair_stop()


pair.pair_begin()
for _ in range(pair.pair_samples() + 1):
    sample(pair.pair_count())
pair.pair_report(b"python_barrier")
