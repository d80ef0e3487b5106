#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Any damage of a recording ends its replay with a message that names the file and the byte.

Usage: damage.py TOMBOLO PROGRAM [--first SEED] [--count N] [--random]
PROGRAM is that of right.c. Three recordings are damaged, one after the other: of three ranks with
two threads each, of ranks of which one was killed, and of more events than a group holds. A seed
chooses file, place and kind: a bit, a byte, a block of zeros, two parts that change places, a cut,
bytes at the end, a file that is away, and two files that change places, also of two recordings.
Behind the last event of a rank that was killed is room, where nothing is read.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import seeds

HEAD, SUMS, EVENT, GROUPS = 4096, 4096, 16, (65536, 4096)
lock = threading.Lock()
recordings = {}  # of this process: folder of each


def run(options, *words):
    """Runs the command. Returns its code, output and errors."""
    done = subprocess.run([options.tombolo, "run", "--timeout", "50", *words], text=True,
                          capture_output=True, check=False)
    return done.returncode, sorted(done.stdout.split("\n")), done.stderr


def record(options, kind, folder):
    """A new recording, which can be replayed. Returns None or what is wrong."""
    words = [options.program, *{"ended": ["everything"], "killed": ["many_events", "killed"],
                                "other": ["everything"], "long": ["many_events"]}[kind]]
    code, seen, err = run(options, "-n", "3", "--record", folder, *words)
    if (code != 0) != (kind == "killed"):
        return f"{kind}: code {code} while it is recorded: {err}"
    again, replayed, err = run(options, "--replay", folder, *words)
    wanted = "killed by signal 9" if kind == "killed" else ""
    if again != code or replayed != seen or wanted not in err or "damaged" in err:
        return f"{kind}: replay: code {again}, not {code}: {replayed}, not {seen}: {err}"
    return None


def recorded(options, kind):
    """The folder of a recording, made once, or None."""
    with lock:
        if kind not in recordings:
            folder = os.path.join(options.work, kind)
            os.makedirs(folder)
            wrong = record(options, kind, folder)
            if wrong:
                print(wrong)
            recordings[kind] = None if wrong else folder
        return recordings[kind]


def used(path, data):
    """Bytes of a file that are read."""
    if not re.match(r"(rank|locks|sends|takes)\.", os.path.basename(path)):
        return len(data)
    group = GROUPS[os.path.basename(path).count(".") > 1]
    counts = [int.from_bytes(data[at:at + 8], "little") for at in (40, 56)]
    return HEAD + -(-max(counts) // group) * SUMS + EVENT * max(counts)


def change(dice, path, folder, other):
    """One damage to a file. Returns what was done, or None if nothing has changed."""
    with open(path, "rb") as file:
        data = file.read()
    kind, last = dice.randrange(9), used(path, data)
    at = dice.randrange(last) if last else 0
    new = bytearray(data)
    if kind <= 1 and last:
        new[at] ^= 1 << dice.randrange(8)
    elif kind == 2 and last:
        new[at] = dice.randrange(256)
    elif kind == 3:
        new[at:min(at + 4096, last)] = bytes(min(4096, last - at))
    elif kind == 4:
        size = dice.choice((16, 4096, 65536 + 4096))
        one, two = (size * dice.randrange(max(last // size, 1)) for _ in range(2))
        new[one:one + size], new[two:two + size] = data[two:two + size], data[one:one + size]
        new = new[:len(data)] if one < len(data) else new
    elif kind == 5:
        new = new[:at]
    elif kind == 6:
        new += bytes([dice.randrange(1, 256)]) * dice.choice((1, 16, 5000))
    elif kind == 7:
        os.remove(path)
        return "removed"
    else:
        names = sorted(os.listdir(other))
        twin = os.path.join(dice.choice((folder, other)), dice.choice(names))
        with open(twin, "rb") as file:
            new = bytearray(file.read())
    if bytes(new[:last]) == data[:last] and len(new) == len(data):
        return None
    with open(path, "wb") as file:
        file.write(new)
    return f"change {kind} at {at}"


def fault_of(options, seed):
    """What is wrong with a seed, or None."""
    dice = random.Random(seed)
    kind = ("ended", "ended", "killed", "long")[seed % 4]
    of, other = recorded(options, kind), recorded(options, "other")
    if not of or not other:
        return f"seed {seed}: no recording"
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "order")
        shutil.copytree(of, folder)
        path, done = None, None
        while not done:
            path = os.path.join(folder, dice.choice(sorted(os.listdir(folder))))
            done = change(dice, path, folder, other)
        words = {"killed": ["many_events", "killed"], "long": ["many_events"]}
        code, _, err = run(options, "--replay", folder, options.program,
                           *words.get(kind, ["everything"]))
    name = re.escape(os.path.basename(path))
    named = re.search(rf"/{name}(, byte \d+:|: byte 0:|: No such file)", err)
    if code == 2 and named and err.count("\n") <= 2:
        return None
    return f"seed {seed}: {done} of {kind}/{name}: code {code}: {err}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(seeds.main(__doc__, fault_of, work=place))
