# SPDX-License-Identifier: BSD-3-Clause
"""Traces of a job that never was: ranks that compute, put to the right and wait for the left.

Every tenth step ends with a barrier. Rank 1 has twice the work. The same arguments give the same
file (docs/TRACE_FORMAT.md), which tests of `tombolo view` read.
"""
import json
import random

EVENT = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":1,"ts":%.3f,"dur":%.3f,"args":{%s}}'
FLOW = '{"ph":"%s","bp":"e","cat":"flow","name":"signal","pid":%d,"tid":1,"ts":%.3f,"id":%d}'


class Job:
    """The clocks of the ranks, and the lines of the file."""

    def __init__(self, ranks):
        self.ranks, self.flows, self.lines = ranks, 0, []
        self.dice = random.Random(1)
        self.now = [self.dice.random() * 30 for _ in range(ranks)]
        self.sent = {}

    def event(self, category, name, rank, took, args=""):
        """An event of a rank from now on."""
        self.lines.append(EVENT % (category, name, rank, self.now[rank], took, args))
        self.now[rank] += took

    def receive(self, rank):
        """Waits for the put of the left neighbour."""
        began, flow = self.sent[rank - 1]
        arrives = began + 1.1 + self.dice.random() * .3
        took = max(.2, arrives - self.now[rank])
        self.event("wait", "wait: signal", rank, took,
                   f'"kind":"signal","waited_for":"a signal at 0x7f00","ended_by":{rank - 1},'
                   f'"ended_ts":{began:.3f}')
        self.lines.append(FLOW % ("f", rank, self.now[rank], flow))
        self.now[rank] += .05

    def send(self, rank):
        """Puts to the right neighbour."""
        self.flows += 1
        self.sent[rank] = self.now[rank], self.flows
        self.lines.append(FLOW % ("s", rank, self.now[rank] + .1, self.flows))
        size = 8 * self.dice.choice((8, 64, 64, 64, 512))
        self.event("signal", "put signal", rank, .4 + self.dice.random() * .2,
                   f'"peer":{rank + 1},"bytes":{size},"object":"0x7f00"')
        self.now[rank] += .1

    def step(self, number):
        """One step of all ranks."""
        for rank in range(self.ranks):
            if rank > 0:
                self.receive(rank)
            work = (8 + self.dice.random() * 3) * (2 if rank == 1 else 1)
            self.event("region", "sweep", rank, work)
            self.now[rank] += .1
            if rank + 1 < self.ranks:
                self.send(rank)
        if number % 10 != 9:
            return
        last = max(self.now)
        by = self.now.index(last)
        for rank in range(self.ranks):
            self.event("collective", "barrier", rank, last - self.now[rank] + 2,
                       f'"team":"all","number":{number // 10 + 1},"algorithm":"shared",'
                       f'"ended_by":{by}')
            self.now[rank] += .1


def write(path, ranks, steps, hosts=1):
    """Writes the trace; returns the number of its events."""
    job = Job(ranks)
    for number in range(steps):
        job.step(number)
    names = ['{"ph":"M","pid":%d,"name":"process_name","args":{"name":"rank %d"}}' % (r, r)
             for r in range(ranks)]
    other = {"format": "tombolo-trace", "version": 1, "program": "pipeline --steps %d" % steps,
             "ranks": ranks, "hosts": [f"node{h}" for h in range(hosts)],
             "host_of": [r * hosts // ranks for r in range(ranks)], "dropped": [0] * ranks}
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns",\n"otherData":%s,\n"traceEvents":[\n' %
                   json.dumps(other))
        file.write(",\n".join(names + job.lines))
        file.write("\n]}\n")
    return sum('"ph":"X"' in line for line in job.lines)
