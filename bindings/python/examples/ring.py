# SPDX-License-Identifier: BSD-3-Clause
"""Each rank puts numbers into the next rank's part of an array.

The example of the chapter "Python" of the Book. Run: python3 -m tombolo run -n 4 ring.py
"""

import numpy as np
import tombolo

# book: put
job = tombolo.init()
right = (job.rank + 1) % job.size
left = (job.rank - 1) % job.size
a = job.zeros(10)  # ten numbers on every rank
a[right, 0] = job.rank  # one number into the next rank's part
a[right, 2:8:2] = [1, 2, 3]  # any slice
job.barrier()
# book end
assert a.local[0] == left and list(a[right, 2:8:2]) == [1, 2, 3]
job.barrier()

# book: signal
arrived = job.signals(1)
a.put_signal(right, slice(0, 5), np.full(5, job.rank), arrived)  # data, then the signal
arrived.consume()  # waits for one signal, and takes it
# book end
assert list(a.local[:5]) == [left] * 5

# book: sum
total = job.allreduce(a.local)[0]
if job.rank == 0:
    print(f"ok: the sum over {job.size} ranks is {total:.0f}")
# book end
assert total == job.size * (job.size - 1) / 2
