# SPDX-License-Identifier: BSD-3-Clause
"""A rank leaves without a word, and the others go on.

    python -m tombolo run -n 4 survivors.py

With one rank, nobody leaves.
"""

import os

import tombolo

job = tombolo.init()
last = job.size - 1
job.report_failures()  # the end of a rank does not end the job any more
assert job.reports_failures
seen = {}
job.on_lost(lambda rank, peer: seen.update({rank: peer}))

if job.size > 1 and job.rank == last:
    os._exit(0)
while job.size > 1 and not job.lost():
    job.poll(0.01)
team = job
if job.size > 1:
    try:
        job.barrier()
    except tombolo.LostError as error:
        assert error.rank == last
    peer: tombolo.Peer = job.peer(last)
    assert peer.lost and peer.code == 0, peer
    assert seen == {last: peer} and job.lost() == [last]
    team = job.shrink()  # those that are left agree on it
assert team.allreduce(1) == team.size
if team.rank == 0:
    print(f"{team.size} of {job.size} ranks are left")
job.report_failures(False)  # the end of a rank is that of the job again
team.barrier()
job.exit(0)
