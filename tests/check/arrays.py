# SPDX-License-Identifier: BSD-3-Clause
"""Seeded races of Python, one case each, for findings.py.

Run with 3 ranks; the argument is the case. A line that races ends with a comment `race: CASE`,
those of correct cases have none.
"""

import sys
import threading

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
