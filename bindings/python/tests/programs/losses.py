# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed, and the others go on: report_failures, LostError, on_lost, shrink."""

import os
import signal
import time

import tombolo

job = tombolo.init()
last = job.size - 1
assert not job.reports_failures and job.lost() == []
a = job.array([job.rank + 1.0])
arrived = job.signals(1)
job.report_failures()
assert job.reports_failures and job.peer(last).state == "alive"
reported = []


def leave(rank, peer):
    """A wait that only the lost rank could have ended."""
    reported.append((rank, peer))
    raise tombolo.LostError("reported", rank)


job.on_lost(leave)
call = job.call(last, time.sleep, 0) if job.rank == 0 else None
if job.rank == last:
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)
try:
    arrived.wait()
except tombolo.LostError as error:
    assert error.rank == last and str(error) == "reported"
job.on_lost(None)
assert reported == [(last, tombolo.Peer("failed", True, 137, 9))], reported
assert job.lost() == [last]
for what in (job.barrier, lambda: job.call(last, time.sleep, 0).wait()):
    try:
        what()
    except tombolo.LostError as error:
        assert error.rank == last, error
    else:
        raise SystemExit("a barrier or call with a lost rank succeeded")
if call:
    try:
        call.wait(timeout=20)
    except tombolo.LostError:
        pass
team = job.shrink()
assert team.size == job.size - 1 and team.rank == job.rank
b = team.zeros(1)
b[(team.rank + 1) % team.size, 0] = 7.0
team.barrier()
assert b.local[0] == 7 and team.allreduce(job.rank) == sum(range(last))
print("went on with", team.size)
