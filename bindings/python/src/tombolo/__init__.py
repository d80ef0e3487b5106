# SPDX-License-Identifier: BSD-3-Clause
"""Tombolo for Python: ranks that share NumPy arrays, by puts, gets, messages and collectives.

    import tombolo
    job = tombolo.init()
    a = job.zeros(10)                      # every rank has a part of 10 numbers
    a[(job.rank + 1) % job.size, 0] = 3.5  # put into the part of the next rank
    job.barrier()
    print(job.rank, a.local[0])

Start it with `python -m tombolo run -n 4 prog.py`. The guide is docs/PYTHON.md.
"""

try:
    import numpy as _  # noqa: F401
except ModuleNotFoundError:
    import sys

    raise ModuleNotFoundError(
        f"tombolo needs NumPy, which {sys.executable} does not have: install the package "
        "python3-numpy, run pip install numpy, or use another Python",
        name="numpy",
    ) from None

from ._array import Array, Signals
from ._device import Device, DeviceArray
from ._dist import DistArray
from ._errors import ForgottenWait, LostError, Peer, RemoteError
from ._futures import RankExecutor, as_completed
from ._job import Job, Team, init, job
from ._memory import DeviceMemory
from ._messages import Message
from ._notify import Notice, Notification, Semaphore, SemaphoreName

from ._core import Future

__all__ = [
    "Array",
    "Device",
    "DeviceArray",
    "DeviceMemory",
    "DistArray",
    "ForgottenWait",
    "Future",
    "Job",
    "LostError",
    "Message",
    "Notice",
    "Notification",
    "Peer",
    "RankExecutor",
    "RemoteError",
    "Semaphore",
    "SemaphoreName",
    "Signals",
    "Team",
    "as_completed",
    "init",
    "job",
]
__version__ = "0.1.0"
