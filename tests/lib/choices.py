# SPDX-License-Identifier: BSD-3-Clause
"""What TOMBOLO_VERBOSE=1 says of the algorithms that collectives use, and a list of failures, for
tests/conformance/coll/coll_nodes.py and tests/multi/tune.py."""

ONE_LEVEL = ["scatterv", "gatherv", "exchangev"]  # lengths that not all ranks know
TWO_LEVEL = ["broadcast", "reduce", "allreduce", "scatter", "gather", "allgather", "allgatherv",
             "exchange", "reduce-scatter", "scan", "exscan"]
failures = []


def check(condition, message):
    """Notes and prints a failure; the test goes on."""
    if not condition:
        failures.append(message)
        print(f"FAILED: {message}")


def choice(reason):
    """Pattern of a line: collective, algorithm, the groups of `reason`, bytes, ranks."""
    return (rf"collectives: (\S+) uses (\S+) by {reason}; first for (\d+) bytes"
            r" on (\d+) ranks")
