#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""Which algorithms run: two-level forms where a team spans nodes, and what the settings say.

Needs $TOMBOLO and $TMB_BUILD. Runs coll_random, which checks the results, with ranks in nodes of
two (GASNET_SUPERNODE_MAXSIZE) and reads from TOMBOLO_VERBOSE which algorithm each collective took
and why.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from choices import ONE_LEVEL, TWO_LEVEL, check, choice, failures  # noqa: E402

NODES = [*TWO_LEVEL, "sync"]  # collectives that have a two-level form
TOMBOLO = os.environ["TOMBOLO"]
PROGRAM = os.path.join(os.environ["TMB_BUILD"], "tests", "conformance", "coll_random")
LINE = re.compile(choice(r"([A-Z_a-z]+)(?:, line \d+)?") + r"(?: in (\d+) nodes)?")


def choices(ranks, **settings):
    """What each collective used: {(collective, algorithm, reason, has nodes)}."""
    done = subprocess.run(
        [TOMBOLO, "run", "-n", str(ranks), "--timeout", "100", "--", PROGRAM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "TOMBOLO_VERBOSE": "1", **settings},
        check=False,
    )
    check(done.returncode == 0, f"{ranks} ranks, {settings}: exit code {done.returncode}")
    if done.returncode:
        print(done.stderr[-2000:])
    found = set()
    for name, algorithm, reason, _, size, nodes in LINE.findall(done.stderr):
        found.add((name, algorithm, reason, bool(nodes)))
        if nodes:
            check(1 < int(nodes) < int(size), f"{name}: {size} ranks in {nodes} nodes")
    check(found, f"{ranks} ranks, {settings}: no algorithm was named")
    return found


def forced(ranks):
    words = ",".join(f"{name}=nodes" for name in NODES)
    found = choices(ranks, GASNET_SUPERNODE_MAXSIZE="2", TOMBOLO_COLL_ALG=words)
    for name in NODES:
        want = (name, "nodes", "TOMBOLO_COLL_ALG", True)
        check(want in found, f"{ranks} ranks: {name} forced to nodes never used it")
    for name, algorithm, reason, nodes in found:
        if nodes and name in ONE_LEVEL:
            check(reason == "thresholds", f"{ranks} ranks: {name} uses {algorithm} by {reason}")


def main():
    for ranks in (4, 7, 16):
        forced(ranks)
    found = choices(7, GASNET_SUPERNODE_MAXSIZE="2")
    for name in NODES:
        want = (name, "nodes", "thresholds", True)
        check(want in found, f"7 ranks in nodes of 2: {name} never chose nodes")
    for settings in (
        {"GASNET_SUPERNODE_MAXSIZE": "1"},
        {},
    ):
        for name, algorithm, _, _ in choices(4, **settings):
            check(algorithm != "nodes", f"4 ranks, {settings}: {name} uses nodes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
