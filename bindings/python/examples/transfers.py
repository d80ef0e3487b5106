# SPDX-License-Identifier: BSD-3-Clause
"""Puts and gets in the background, of lists of regions, with signals, tags and semaphores.

    python -m tombolo run -n 4 transfers.py
"""

import warnings

import numpy as np
import tombolo

warnings.simplefilter("error", tombolo.ForgottenWait)  # a future that is dropped is an error
job = tombolo.init()
right, left = (job.rank + 1) % job.size, (job.rank - 1) % job.size


def in_background():
    """A future for each operation; what nobody waits for is quieted."""
    a = job.array([job.rank, 0.0, 0.0])
    a.put_nb(right, 1, 5.0).wait()
    job.barrier()
    first = a.get_nb(right, 0)
    first.add_done_callback(lambda future: assert_equal(future.wait(), right))
    while not first.done():
        job.poll()
    gets = [a.get_nb(rank, 1) for rank in range(job.size)]
    assert [future.wait() for future in tombolo.as_completed(gets)] == [5.0] * job.size
    pending = a.put_nb(right, 2, 1.0)
    assert job.quiet() == 1  # nobody waits for it
    del pending
    job.barrier()
    a.free()


def assert_equal(value, expected):
    assert value == expected


def regions():
    """Several regions of a rank by one operation."""
    a = job.zeros((4, 6))
    assert a.ndim == 2
    a.put_list(right, [0, (slice(1, 3), 2)], [np.ones(6), [7, 8]])
    a.put_list_nb(right, [(3, 5)], [9]).wait()
    job.barrier()
    row, column = a.get_list(right, [0, (slice(None), 2)])
    assert row.sum() == 6 and column.tolist() == [1, 7, 8, 0]
    job.barrier()


def with_signals():
    """Data and a signal in one message; the target looks which one came."""
    a, arrived = job.zeros(3), job.signals(2)
    a.put_signal_nb(right, slice(0, 3), [1, 2, 3], arrived, 1, add=4).wait()
    assert arrived.wait_some() == (1, 4) and a.local.sum() == 6
    job.barrier()


def with_tags():
    """The target waits for a tag; a get tells its target, too."""
    a = job.array([float(job.rank), 0.0])
    put, got = job.notification(left, tag=7), job.notification(left, tag=8)
    a.put_notify(right, 1, 2.5, tag=7)
    notice = put.wait()
    assert (notice.source, notice.tag) == (left, 7) and put.done() and a.local[1] == 2.5
    assert a.get_notify(right, 0, tag=8) == right
    assert got.wait().nbytes == 8
    job.barrier()
    put.start()  # for the next one
    a.put_notify_nb(right, 1, 3.5, tag=7).wait()
    put.wait()
    job.barrier()


def with_semaphores():
    """A semaphore counts what has come; who has its name posts it."""
    a, full = job.zeros(2), job.semaphore()
    names = job.allgather_object(full.name)
    assert not full.try_wait()
    job.barrier()
    a.put_post(right, 0, 1.5, names[right])  # data first
    full.wait()
    assert a.local[0] == 1.5
    names[right].post(2)  # without data
    full.wait(2)
    full.post()  # its owner may post, too
    assert full.try_wait()
    job.barrier()


for part in (in_background, regions, with_signals, with_tags, with_semaphores):
    with job.trace(part.__name__):  # a region of this name in `tombolo run --trace`
        part()
if job.rank == 0:
    print(f"transfers between {job.size} ranks")
