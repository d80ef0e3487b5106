#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""`tombolo tune`: the table covers every collective, later runs use it, and errors are clear.

Needs $TOMBOLO and $TMB_BUILD. Asserts nothing about time, and so not which algorithm is best. That
a run uses the table is read from TOMBOLO_VERBOSE; coll_random checks the results meanwhile.
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from choices import ONE_LEVEL, TWO_LEVEL, check, choice, failures  # noqa: E402

TOMBOLO = os.environ["TOMBOLO"]
PROGRAM = os.path.join(os.environ["TMB_BUILD"], "tests", "conformance", "coll_random")
COLLECTIVES = TWO_LEVEL + ONE_LEVEL
ENDLESS = 2**63 - 1
CHOICE = re.compile(choice(r"TOMBOLO_COLL_TABLE, line (\d+)"))


def run(*command, **settings):
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        timeout=200,
        check=False,
    )


def tune(*arguments, **settings):
    return run(TOMBOLO, "tune", "--quick", *arguments, **settings)


def coll_random(ranks, **settings):
    return run(TOMBOLO, "run", "-n", str(ranks), "--timeout", "60", "--", PROGRAM, **settings)


def rules(text):
    """{line number: (collective, least, most, bytes, algorithm)}."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        check(len(words) == 7, f"line {number} of the table: {line}")
        found[number] = (words[0], *map(int, words[1:4]), words[4])
    return found


def check_table(table, ranks, most):
    for name in COLLECTIVES:
        sizes = [rule[3] for rule in table if rule[0] == name]
        check(sizes, f"the table has no rule for {name}")
        check(sizes == sorted(set(sizes)), f"{name}: sizes {sizes} do not ascend")
        last = ENDLESS if name in ONE_LEVEL else most
        check(sizes[-1:] == [last], f"{name}: the last rule ends at {sizes[-1:]}, not {last}")
    for rule in table:
        check(rule[0] in COLLECTIVES, f"{rule[0]} is no collective")
        check(rule[1] == rule[2] == ranks, f"{rule}: measured with {ranks} ranks")


def check_use(path, ranks):
    """A run with the table takes from it what it says it takes."""
    table = rules(path.read_text())
    done = coll_random(ranks, TOMBOLO_COLL_TABLE=str(path), TOMBOLO_VERBOSE="1")
    check(done.returncode == 0, f"coll_random with the table: {done.stderr[-1000:]}")
    used = CHOICE.findall(done.stderr)
    check(used, "a run with the table names no algorithm of it")
    for name, algorithm, line, size, members in used:
        rule = table.get(int(line))
        check(rule is not None, f"{name} is said to follow line {line}, which is no rule")
        if rule is None:
            continue
        check(rule[0] == name and rule[4] == algorithm, f"{name} by {algorithm} is not {rule}")
        check(rule[1] <= int(members) <= rule[2], f"{name} on {members} ranks is not {rule}")
        if name not in ONE_LEVEL:
            check(int(size) <= rule[3], f"{name} of {size} bytes is not {rule}")
    return {name for name, *_ in used}


def measured(folder):
    path = folder / "table"
    done = tune("-n", "3", "--max-bytes", "4KB", "-o", str(path))
    check(done.returncode == 0, f"tune: {done.stderr}")
    check_table(list(rules(path.read_text()).values()), 3, 4096)
    used = check_use(path, 3)
    check(used == set(COLLECTIVES), f"not taken from the table: {set(COLLECTIVES) - used}")


def nodes_too(folder):
    """With several nodes their forms are candidates; one collective can be chosen."""
    done = tune(
        "-n", "4,3", "-c", "scan", "-c", "gather", "--max-bytes", "8", "-v",
        GASNET_SUPERNODE_MAXSIZE="2",
    )
    check(done.returncode == 0, f"tune of two: {done.stderr}")
    table = list(rules(done.stdout).values())
    check({rule[0] for rule in table} == {"scan", "gather"}, f"tune of two: {table}")
    check({rule[1] for rule in table} == {3, 4}, f"tune of 4 and 3 ranks: {table}")
    check("scan=board" not in done.stderr, "tune measures a board of several nodes")
    for word in ("scan=nodes", "gather=nodes", "scan=doubling", "gather=binomial"):
        check(word in done.stderr, f"tune did not measure {word}")
    done = tune("-n", "3", "-c", "scan", "--max-bytes", "8", "-v")
    check("scan=nodes" not in done.stderr, "tune measures nodes where there is one")
    check("scan=board" in done.stderr, "tune does not measure the board")


def pretended_hosts(folder):
    """Jobs on several hosts: forms for one host are no candidates, and the rules are for them."""
    path = folder / "places"
    places = {"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "loop"}
    words = ["-n", "4", "-c", "scan", "-c", "allreduce", "--max-bytes", "4KB", "-v"]
    done = tune(*words, "-o", str(path), **places)
    check(done.returncode == 0, f"tune of two hosts: {done.stderr}")
    text = path.read_text()
    check("=board" not in done.stderr and "board" not in text, f"a board of two hosts: {text}")
    check("scan=nodes" in done.stderr, "tune did not measure the form for two hosts")
    check("\nwhere loop 2 2\n" in text, f"the rules do not say for whom: {text}")
    for settings, want in ((places, {"scan", "allreduce"}), ({}, set())):
        done = coll_random(4, TOMBOLO_COLL_TABLE=str(path), TOMBOLO_VERBOSE="1", **settings)
        used = {name for name, *_ in CHOICE.findall(done.stderr)}
        check(done.returncode == 0 and used == want, f"{settings}: {used} {done.stderr[-500:]}")
    done = tune("-n", "2", *words[2:], **places)
    check("\nwhere loop 2 1\n" in done.stdout, f"one rank a host: {done.stdout}")
    check("=nodes" not in done.stderr, "tune measures nodes where each host has one rank")
    done = tune(*words, **{**places, "TOMBOLO_PLACES": "0,1"})
    check(done.returncode != 0 and "TOMBOLO_PLACES=0,1" in done.stderr, f"places: {done.stderr}")


def written_by_hand(folder):
    """The first rule that fits is taken, by its line; where none fits, a threshold."""
    path = folder / "hand"
    path.write_text(
        "# by hand\nallreduce 4 64 1000000 ring 2 512\nallreduce 2 3 1000000 flat 2 512\n"
        "scan 2 3 1000000 flat 2 512\ngather 2 3 1000000 board 2 512\n"
    )
    done = coll_random(3, TOMBOLO_COLL_TABLE=str(path), TOMBOLO_VERBOSE="1")
    used = {(name, alg, int(line)) for name, alg, line, *_ in CHOICE.findall(done.stderr)}
    want = {("allreduce", "flat", 3), ("scan", "flat", 4), ("gather", "board", 5)}
    check(used == want, f"by hand: {used}")
    check("exchange uses board by thresholds" in done.stderr, "exchange does not use the board")


def bad_tables(folder):
    path = folder / "bad"
    for text, words in (
        ("broadcast 2 4 64 rung 2 5", ["line 1", "'rung'", "broadcast", "knomial"]),
        ("# x\nscan 2 4 64K flat 2 5", ["line 2", "bytes '64K'", "whole number"]),
        ("\n\nscan 2 4 64 flat", ["line 3", "fewer than 7 words", "ranks_min ranks_max"]),
        ("scans 2 4 64 flat 2 5", ["line 1", "'scans'", "exscan"]),
        ("scan 2 4 64 flat 2 5\0", ["not a text file"]),
    ):
        path.write_text(text)
        done = coll_random(2, TOMBOLO_COLL_TABLE=str(path))
        check(done.returncode != 0, f"a table with {text!r} was taken")
        for word in [str(path), "TOMBOLO_COLL_TABLE", "tombolo tune", *words]:
            check(word in done.stderr, f"{text!r}: the message lacks {word!r}: {done.stderr}")
    done = coll_random(2, TOMBOLO_COLL_TABLE=str(folder / "none"))
    check(done.returncode != 0, "a table that is not there was taken")
    check("No such file" in done.stderr, f"no file: {done.stderr}")
    done = coll_random(2, TOMBOLO_COLL_ALG="scan=ring")
    check(done.returncode != 0, "scan=ring was taken")
    check("'ring' is no algorithm of scan" in done.stderr, f"scan=ring: {done.stderr}")


def bad_arguments(folder):
    for arguments, words in (
        (["-n", "1"], ["--ranks", "1", "2 to 1024"]),
        (["-n", "2,x"], ["--ranks", "x", "2 to 1024"]),
        (["-c", "sync"], ["--collective", "sync", "reduce-scatter"]),
        (["--max-bytes", "0"], ["--max-bytes", "0", "64KB"]),
        (["-o", str(folder / "none" / "table")], ["--output", "none/table", "No such file"]),
        (["extra"], ["extra", "only options"]),
    ):
        done = tune(*arguments)
        check(done.returncode != 0, f"tune {arguments} succeeded")
        for word in words:
            check(word in done.stderr, f"tune {arguments}: no {word!r} in {done.stderr!r}")


def on_terminal(*arguments):
    """What `tombolo tune` writes on a terminal."""
    ours, its = pty.openpty()
    command = [TOMBOLO, "tune", "-n", "2", "--quick", "--max-bytes", "8", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=its) as job:
        os.close(its)
        seen = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the other end is closed
                more = b""
            if not more:
                break
            seen += more
        check(job.wait(timeout=200) == 0, f"tune on a terminal failed: {seen!r}")
    os.close(ours)
    return seen.decode()


def progress():
    """On a terminal one line says what is measured and what is left; in a pipe there is nothing."""
    seen = on_terminal("--collective", "broadcast")
    parts = re.findall(r"tombolo tune: broadcast=\S+ \((\d+) of (\d+)\)(, about \d+ s left)?", seen)
    check(len(parts) > 2, f"progress on a terminal: {seen!r}")
    check([int(at) for at, _, _ in parts] == list(range(1, len(parts) + 1)), f"{parts}")
    check({int(of) for _, of, _ in parts} == {len(parts)}, f"all parts were counted: {parts}")
    check(not parts[0][2] and all(left for _, _, left in parts[1:]), f"time left: {parts}")
    check(seen.endswith("\r\033[K"), f"the line is cleared: {seen!r}")
    done = tune("-n", "2", "--quick", "--max-bytes", "8", "--collective", "broadcast")
    check(done.returncode == 0 and done.stderr == "", f"in a pipe: {done.stderr!r}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bad_arguments(folder)
        progress()
        measured(folder)
        nodes_too(folder)
        pretended_hosts(folder)
        written_by_hand(folder)
        bad_tables(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
