# SPDX-License-Identifier: BSD-3-Clause
"""`python -m tombolo run -n 4 prog.py args`: the tombolo command, with Python programs.

Everything is passed on to the command, which is beside the package of a wheel, in the tree, or
installed. After `run` and its options, a program whose name ends in .py, and `-m MODULE` or
`-c TEXT`, are started with this Python.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

PLACES = ("_bin/tombolo", "../../bin/tombolo", "../../../../bin/tombolo")
# Options of `tombolo run` whose value is the next word.
LONG = (
    "--ranks", "--hosts", "--hostfile", "--nodes", "--timeout", "--watchdog", "--trace", "--check",
    "--check-json", "--record", "--replay", "--only", "--chaos", "--env", "--env-only", "--cwd",
    "--stdin",
)  # fmt: skip
SHORT = "nNE"


def find() -> str:
    """Path of the command; FileNotFoundError names what was tried."""
    given = os.environ.get("TOMBOLO")
    if given:
        return given
    package = Path(os.path.abspath(__file__)).parent
    for place in PLACES:
        path = package / place
        if os.access(path, os.X_OK):
            return str(path.resolve())
    found = shutil.which("tombolo")
    if found:
        return found
    raise FileNotFoundError(
        f"no tombolo command in {', '.join(PLACES)} below {package}, nor in PATH; install Tombolo, "
        "or name the command in the environment: TOMBOLO=/path/to/tombolo"
    )


def takes_next(word: str) -> bool:
    """Whether the next word is the value of this option; long ones may be cut, as in --time 5."""
    if word.startswith("--"):
        return any(name.startswith(word) for name in LONG)
    for i, letter in enumerate(word):
        if letter in SHORT:
            return word[i + 1 :] in ("", "p" if letter == "n" else "")
    return False


def arguments(words: list[str]) -> list[str]:
    """The command line for the tombolo command."""
    if not words or words[0] != "run":
        return words
    i = 1
    while i < len(words) and words[i].startswith("-") and words[i] not in ("--", "-m", "-c"):
        i += 2 if takes_next(words[i]) else 1
    dashes = i < len(words) and words[i] == "--"
    program = words[i + 1 :] if dashes else words[i:]
    if program and (program[0].endswith(".py") or program[0] in ("-m", "-c")):
        program = [sys.executable, *program]
    return [*words[:i], "--", *program]


def main() -> None:
    """Becomes the tombolo command."""
    words = sys.argv[1:] or ["--help"]
    try:
        command = find()
    except FileNotFoundError as error:
        sys.exit(f"tombolo: {error}")
    os.execv(command, [command, *arguments(words)])


if __name__ == "__main__":
    main()
