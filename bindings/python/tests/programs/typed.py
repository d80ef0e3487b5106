# SPDX-License-Identifier: BSD-3-Clause
"""A program with types, for type checkers; it is not run."""

from typing import Any

import numpy as np
import tombolo


def square(x: int) -> int:
    return x * x


async def main(job: tombolo.Job) -> None:
    a: tombolo.Array = job.zeros((4, 3))
    right = (job.rank + 1) % job.size
    a[right, 1:3] = np.ones((2, 3))
    future: tombolo.Future[Any] = a.get_nb(right)
    print(await future)
    s: tombolo.Signals = job.signals(2)
    a.put_signal(right, 0, 3.0, s, 1)
    s.consume(1)
    print(job.allreduce(a.local), job.call(right, square, 3).wait())
    team = job.split(job.rank % 2)
    if team is not None:
        team.barrier()
    gpu = job.device(0, 1 << 20)
    d: tombolo.DeviceArray = gpu.zeros(10)
    m: tombolo.DeviceMemory = d.local
    print(m.get().sum())
