#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""Each paragraph in the table of docs/UPC_TESTS.md names its tests, and they exist.

A test is `file` or `file#word`: tests/upc/file.upc or .py, or one of programs/ and reject/ with
that folder in front; the word (a function, a message) must occur in it.
"""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
TABLE = TESTS.parents[1] / "docs" / "UPC_TESTS.md"


def rows(text):
    """The cells of each row of the table."""
    part = text.split("## Paragraphs and their tests", 1)[1].split("\n## ", 1)[0]
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("paragraph", "---"):
            yield cells


def missing(test):
    """What is wrong with a test's name, or None."""
    name, _, word = test.partition("#")
    files = [TESTS / (name + suffix) for suffix in (".upc", ".py")]
    file = next((f for f in files if f.exists()), None)
    if file is None:
        return f"there is no tests/upc/{name}.upc or .py"
    if word and word not in file.read_text(encoding="utf-8"):
        return f"'{word}' does not occur in {file.name}"
    return None


def main():
    problems, seen = [], set()
    table = list(rows(TABLE.read_text(encoding="utf-8")))
    for cells in table:
        if len(cells) != 4:
            problems.append(f"{cells[0]}: {len(cells)} cells instead of 4")
            continue
        tests = re.findall(r"`([^`]+)`", cells[2] + cells[3])
        if not tests:
            problems.append(f"{cells[0]} {cells[1]}: no test")
        if (cells[0], cells[1]) in seen:
            problems.append(f"{cells[0]} {cells[1]}: twice")
        seen.add((cells[0], cells[1]))
        problems += [f"{cells[0]}: {why}" for why in map(missing, tests) if why]
    for problem in problems:
        print(problem)
    print(f"coverage: {len(table)} paragraphs, {len(problems)} problems")
    return 1 if problems or len(table) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
