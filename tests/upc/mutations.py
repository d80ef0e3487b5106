#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""upc1 under the address and undefined sanitizers: on all tests, and on programs broken at random.

Programs of tests/upc (all in `make test-all`, every second one in `make test`) are preprocessed and
translated as they are, which must succeed; then tokens are deleted, doubled, swapped or replaced by
words of the language, with a fixed seed. A broken program may be refused (exit status 1), but
nothing may crash, hang or be undefined.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
CHECKED = Path(TOMBOLO).resolve().parent.parent / "libexec/tombolo/upc1-checked"
WORDS = ("shared strict relaxed [ ] ( ) { } * & . -> ; , = : ? THREADS MYTHREAD upc_forall"
         " upc_barrier sizeof upc_blocksizeof"
         " struct union enum typedef static extern int double void 0 1 -1"
         " 99999999999999999999 _Generic __typeof__ __attribute__ asm ( { }) for while switch case"
         " default return goto x y [*] [] [0] ... \"text\" 'c' #").split()
WHOLE = "TMB_TEST_WHOLE" in os.environ  # of `make test-all`
MUTANTS = int(os.environ.get("TMB_UPC_MUTANTS", "150" if WHOLE else "30"))
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
HEADERS = CHECKED.parent.parent.parent / "lib/tombolo/upc/include"


def translate(text, options=()):
    command = [CHECKED, "-upc-headers", HEADERS, *options, "-o", "-", "-"]
    run = subprocess.run(command, input=text, capture_output=True,
                         env=ENVIRONMENT, timeout=30, check=False)
    return run.returncode, run.stderr.decode(errors="replace")


def preprocessed(path, folder):
    """The text of a test as upc1 gets it."""
    out = os.path.join(folder, "out.i")
    command = [TOMBOLO, "upcc", "-E", "-w", "-I", str(TESTS / "lib"), str(path), "-o", out]
    if path.name.startswith("static_"):
        command += ["-T", "4"]
    done = subprocess.run(command, capture_output=True, check=False)
    return Path(out).read_bytes() if done.returncode == 0 else b""


def mutant(rng, text):
    """The text with a few tokens changed behind its headers."""
    at = text.rfind(b'check.h" 2')
    head, tail = text[:max(at, 0)], text[max(at, 0):]
    pieces = re.findall(rb'\w+|"[^"\n]*"|\s+|.', tail)
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(20, max(21, len(pieces)))
        kind = rng.randrange(4)
        if i >= len(pieces):
            continue
        if kind == 0:
            del pieces[i]
        elif kind == 1:
            pieces.insert(i, pieces[rng.randrange(len(pieces))])
        elif kind == 2:
            pieces[i] = rng.choice(WORDS).encode()
        else:
            k = rng.randrange(len(pieces))
            pieces[i], pieces[k] = pieces[k], pieces[i]
    return head + b"".join(pieces)


def main():
    if not CHECKED.exists():
        print("upc1-checked is not built: skipped")
        return 77
    rng, problems, texts = random.Random(7), 0, []
    with tempfile.TemporaryDirectory() as folder:
        paths = sorted(TESTS.glob("*.upc")) + sorted(TESTS.glob("programs/*.upc"))
        for path in paths if WHOLE else paths[::2]:
            text = preprocessed(path, folder)
            options = ["-T", "4"] if path.name.startswith("static_") else []
            status, messages = translate(text, options)
            if status:
                problems += 1
                print(f"{path.name}: status {status}: {messages[:2000]}")
            texts.append(text)
    for number in range(MUTANTS):
        text = mutant(rng, rng.choice(texts))
        status, messages = translate(text)
        if status in (0, 1) and "Sanitizer" not in messages and "runtime error" not in messages:
            continue
        problems += 1
        place = [line for line in messages.splitlines() if "rror" in line or "#" in line]
        print(f"mutant {number}: status {status}", *place[-12:], sep="\n  ")
        Path(tempfile.gettempdir(), f"upc-mutant-{number}.i").write_bytes(text)
    print(f"mutations: {len(texts)} programs, {MUTANTS} mutants, {problems} problems")
    return 1 if problems or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
