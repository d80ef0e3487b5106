# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of a CUDA device, or a word that there is none.

    python -m tombolo run -n 2 device.py [ORDINAL]
"""

import importlib.util
import sys

import numpy as np
import tombolo


def on_devices(job, gpu):
    """Puts, gets and a reduction from device to device."""
    right = (job.rank + 1) % job.size
    d: tombolo.DeviceArray = gpu.zeros(10)
    d[right] = np.arange(10.0) + right  # from the host to the device of the next rank
    job.barrier()
    mine: tombolo.DeviceMemory = d.local
    assert mine.nbytes == 80 and mine.get()[3] == job.rank + 3
    mine[4:6].set([1.0, 2.0])
    assert d[job.rank, 5] == 2.0
    total = gpu.empty(10)
    job.allreduce(d.local, out=total.local)
    assert total.local.get()[4] == job.size
    job.barrier()
    return mine.ordinal


def of_cupy(job):
    """An array of CuPy whose memory the other ranks reach."""
    import cupy

    x = cupy.arange(4.0)
    d = job.device_array(x)
    d[(job.rank + 1) % job.size, 0] = 9.0
    job.barrier()
    assert float(x[0]) == 9.0


def main():
    job = tombolo.init()
    try:
        gpu = job.device(int(sys.argv[1]) if len(sys.argv) > 1 else 0, nbytes=1 << 20)
    except RuntimeError as error:
        if job.rank == 0:
            print(f"no device for {job.size} ranks: {str(error).splitlines()[0]}")
        return
    ordinal = on_devices(job, gpu)
    if importlib.util.find_spec("cupy"):
        of_cupy(job)
    if job.rank == 0:
        print(f"device {ordinal} of {job.size} ranks")


main()
