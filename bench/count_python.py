# SPDX-License-Identifier: BSD-3-Clause
"""Elements of arrays from Python, for scripts/count_paths.py under valgrind.

One rank. Counted are the extension's functions behind a[rank, i], with what they call of Python;
_core.quiet() has the counts written and reset. Prints `path ROUNDS NAME` for each, in order.
"""

import sys

import numpy as np

import tombolo
import tombolo._core

WARM, ROUNDS = 20, 500


def main():
    job = tombolo.init()
    real, number, square = job.zeros(8), job.zeros(8, np.int64), job.zeros((4, 4))

    def put_real():
        real[0, 5] = 1.5

    def put_number():
        number[0, 5] = 7

    def put_square():
        square[0, 2, 3] = 1.5

    paths = {
        "put of an element, real": put_real,
        "get of an element, real": lambda: real[0, 5],
        "put of an element, integer": put_number,
        "get of an element, integer": lambda: number[0, 5],
        "put of an element, two axes": put_square,
        "get of an element, two axes": lambda: square[0, 2, 3],
    }
    print(f"compiler Python {sys.version_info.major}.{sys.version_info.minor}")
    for name, path in paths.items():
        for rounds in (WARM, ROUNDS):
            for _ in range(rounds):
                path()
            tombolo._core.quiet()
        print("path", ROUNDS, name)


main()
