# SPDX-License-Identifier: BSD-3-Clause
"""Seeded races of Python, one case each, for findings.py.

Run with 3 ranks; the argument is the case. A line that races ends with a comment `race: CASE`,
those of correct cases have none.
"""

import sys
import threading

import numpy as np

import tombolo

job = tombolo.init()
me = job.rank
a, counters, arrived = job.zeros(64), job.zeros(4, int), job.signals(2)
job.barrier()


def put_get():  # CASE(put_get)
    if me == 1:
        a.put(0, 0, 1.0)  # race: put_get
    if me == 2:
        a.get(0, 0)  # race: put_get


def put_not_waited():  # CASE(put_not_waited)
    if me == 1:
        future = a.put_nb(0, slice(0, 4), 5.0)  # race: put_not_waited
    job.barrier()
    if me == 2:
        a.get(0, 1)  # race: put_not_waited
    if me == 1:
        future.wait()


def behind_its_signal():  # CASE(behind_its_signal)
    if me == 1:
        a.put_signal(2, 0, 1.0, arrived, 0)
        a.put(2, 5, 1.0)  # race: behind_its_signal
    if me == 2:
        arrived.wait(0)
        a.get(2, 5)  # race: behind_its_signal


def lists():  # CASE(lists)
    if me == 0:
        a.put_list(1, [0, 3], [1.0, 2.0])  # race: lists
    if me == 2:
        a.get_list(1, [3, 4])  # race: lists


def atomic_and_put():  # CASE(atomic_and_put)
    if me == 1:
        counters.fetch_add(0, 0, 1)  # race: atomic_and_put
    if me == 2:
        counters.put(0, 0, 7)  # race: atomic_and_put


def local_and_put():  # CASE(local_and_put)
    if me == 0:
        _ = a.local[3]  # race: local_and_put
    if me == 1:
        a.put(0, 3, 1.0)  # race: local_and_put


def at_of_other():  # CASE(at_of_other)
    if me == 1:
        a.at(0)[2:4] = 1.0  # race: at_of_other
    if me == 0:
        a.local.sum()  # race: at_of_other


def views():  # CASE(views)
    if me == 2:
        column = a.at(1).reshape(8, 8)[:, 1]
        column += 1.0  # race: views
    if me == 0:
        a.get(1, 17)  # race: views


def some_elements():  # CASE(some_elements)
    if me == 1:
        a.at(0)[[5, 9]] = 2.0  # race: some_elements
    if me == 2:
        a[0, [9, 11]]  # race: some_elements


def functions():  # CASE(functions)
    if me == 0:
        a.local.fill(2.0)  # race: functions
    if me == 2:
        np.concatenate([a.at(0)[60:], a.at(2)[:4]])  # race: functions


def ok_neighbours():  # CASE(ok_neighbours)
    there, mine = a.at((me + 1) % 3), a.local.reshape(8, 8)
    there[me::4] = 1.0
    np.add(mine[:, 3], mine[:, 7], out=mine[:, 7])
    np.add.at(there, [8 + me, 12 + me], 1.0)
    job.barrier()
    assert mine.copy().max() <= 2.0 and np.where(mine > 0.0, mine, 0.0).sum() > 0.0
    assert float(there[0]) + there.take([4, 8]).sum() + sum(there[1:3]) >= 0.0
    job.barrier()
    mine[...] = me
    mine *= 2.0
    mine.sort()
    np.copyto(mine, np.zeros((8, 8)))
    job.barrier()
    assert there.item(3) == 0.0


def ok_all():  # CASE(ok_all)
    counters.fetch_add(0, 1, 1)
    a.put((me + 1) % 3, slice(8, 16), 2.0)
    job.barrier()
    a.get((me + 2) % 3, slice(8, 16))
    if me == 1:
        a.put_signal(2, 20, 1.0, arrived, 1)
    if me == 2:
        arrived.wait(1)
        a.get(2, 20)
    job.allgather_object(me)


def ok_thread():  # CASE(ok_thread)
    other = threading.Thread(target=ok_all)
    other.start()
    other.join()


if len(sys.argv) > 1:
    globals()[sys.argv[1]]()
job.barrier()
