# SPDX-License-Identifier: BSD-3-Clause
"""Teams of ranks and of hosts; functions and values that go to other ranks.

    python -m tombolo run -n 4 teams.py
"""

import numpy as np
import tombolo

job = tombolo.init(heap_bytes=64 << 20)
right = (job.rank + 1) % job.size
senders = []


def of_parity(team):
    """Even and odd ranks apart; `team` is free at the end of the block."""
    assert team.job_rank(team.rank) == job.rank
    assert team.allreduce(1) == len(range(job.rank % 2, job.size, 2))


def of_hosts():
    """The ranks that share a host reach each other's memory without a copy."""
    team = job.split_hosts()
    assert job.hosts >= 1 and job.host_rank == team.rank
    a = team.array([job.rank])
    assert all(team.is_near(r) and a.at(r)[0] == team.job_rank(r) for r in range(team.size))
    assert team.handle != 0  # the gex_TM_t, for C libraries of this process
    team.free()


def note():
    senders.append(job.sender)


def fail():
    raise ZeroDivisionError("here")


def functions():
    """One way, with an answer, and with an exception for an answer."""
    job.send(right, note)
    while not senders:
        job.poll(0.01)
    assert senders == [(job.rank - 1) % job.size]
    assert job.call(right, np.add, 2, 3).wait() == 5
    try:
        job.call(right, fail).wait()
    except ZeroDivisionError as error:
        assert isinstance(error.__cause__, tombolo.RemoteError)


def values():
    """Any object, to a rank that asks for it by sender and tag, or takes what comes."""
    job.send_object(right, {"from": job.rank}, tag=1)
    job.send_object(right, [1, 2], tag=2)
    assert job.recv_object(tag=2, timeout=30) == [1, 2]
    message: tombolo.Message = job.recv_message()
    assert message.tag == 1 and message.value["from"] == message.source


assert job.heap_bytes >= 64 << 20
with job.split(job.rank % 2, key=job.rank) as halves:
    of_parity(halves)
for part in (of_hosts, functions, values):
    part()
    job.barrier()
if job.rank == 0:
    print(f"teams of {job.size} ranks")
