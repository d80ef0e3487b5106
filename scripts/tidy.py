#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the house rules that a script can check (docs/ARCHITECTURE.md, CONTRIBUTING.md, LAYERS).

Usage: tidy.py [--root DIR] [--list-rules] [PATH...]
Without paths the whole tree is checked, including the gates over all functions. Prints
`file:line: rule: message` and exits 1 when something was found. A line (or the line after it) is
excused from one rule by the comment `tidy-allow: RULE because REASON`; the number of excuses is
printed.
"""

import argparse
import os
import re
import sys
from pathlib import Path

import ctokens
import tidy_code
import tidy_layers
import tidy_state
import tidy_text

P90_LINES = 40
P99_LINES = 60
GATE_MIN_FUNCTIONS = 100

FOLDERS = ("include", "src", "plugins", "coarray", "tools", "bench", "study",
           "examples", "tests", "upc")
FOLDERS += ("prif", "shmem", "check", "replay", "scripts", "cmake", "bindings")
C_ENDINGS = (".c", ".h", ".hpp", ".cc", ".def")
ENDINGS = C_ENDINGS + (".py", ".sh", ".cmake", ".map", ".in")
RULES = (
    "spdx",
    "head",
    "line-length",
    "file-lines",
    "function-lines",
    "params",
    "complexity",
    "name-length",
    "doc",
    "layers",
    "include-c",
    "banned",
    "getenv",
    "sleeps",
    "locale",
    "malloc",
    "assert",
    "vla",
    "platform",
    "atomics",
    "macro-flow",
    "state",
    "words",
    "prints",
    "tuning",
    "sentence",
    "table",
    "gate",
    "path",
)
ALLOW = re.compile(r"tidy-allow: ([a-z-]+) because \S+")


class SourceFile:
    """One file with everything that the rules read from it, computed once."""

    def __init__(self, root, path):
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.split("\n")
        if self.lines and self.lines[-1] == "":
            self.lines.pop()
        self.is_c = path.endswith(C_ENDINGS)
        self.is_test = path.endswith("_test.c") or path.startswith("tests/")
        self.in_library = (
            path.startswith(("src/", "include/", "plugins/", "tools/")) and not self.is_test
        )
        self.functions, self.tokens, self.directives, self.code = [], [], [], ""
        if self.is_c:
            self.code = ctokens.blank_comments(self.text)
            plain, self.directives = ctokens.split_directives(self.code)
            self.tokens = ctokens.tokenize(plain)
            if not path.endswith(".def"):
                self.functions = ctokens.find_functions(self.tokens, self.directives)


def check_gates(files):
    """The tail of all function lengths: 90 % and 99 % must stay short."""
    lengths = sorted(f.end - f.line + 1 for file in files for f in file.functions)
    if len(lengths) < GATE_MIN_FUNCTIONS:
        return
    for percent, limit in ((90, P90_LINES), (99, P99_LINES)):
        value = lengths[min(len(lengths) - 1, len(lengths) * percent // 100)]
        if value > limit:
            count = len(lengths)
            yield f"gate: {percent} % of {count} functions have up to {value} lines, not {limit}"


def list_files(root, paths):
    """The files to check, relative to the root, sorted."""
    found = set()
    starts = [os.path.relpath(p, root) for p in paths] if paths else list(FOLDERS)
    for start in starts:
        if (root / start).is_file():
            found.add(start)
        for folder, dirs, names in os.walk(root / start):
            dirs[:] = [d for d in dirs if not d.startswith((".", "build", "__pycache__"))]
            found.update(os.path.relpath(os.path.join(folder, name), root) for name in names)
    if not paths:
        found.update(os.path.relpath(p, root) for p in root.glob("*.md"))
        found.update(os.path.relpath(p, root) for p in root.glob("docs/*.md"))
    wanted = ENDINGS + (".md", "CMakeLists.txt")
    return sorted(p for p in found if p.endswith(wanted))


def check_file(file, root, layers, listed, waits):
    """One file's findings as (line, rule, message), and how many a comment excuses."""
    rules = tidy_text.OF_PAGES if file.path.endswith(".md") else tidy_text.OF_SOURCES
    if file.is_c:
        rules = (*rules, *tidy_code.OF_C, tidy_text.check_tuning)
    found = [finding for rule in rules for finding in rule(file)]
    if file.is_c or file.path.endswith(".md"):
        found += tidy_text.check_paths(file, root)
    if file.is_c:
        found += tidy_layers.check_includes(file, root, layers)
        found += tidy_state.check_state(file, listed)
        found += tidy_state.check_sleeps(file, waits)
    allowed = {}
    for number, line in enumerate(file.lines, 1):
        for match in ALLOW.finditer(line):
            allowed.setdefault(match.group(1), set()).update((number, number + 1))
    kept = [f for f in found if f[0] not in allowed.get(f[1], ())]
    return sorted(kept), len(found) - len(kept)


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", default=Path(__file__).resolve().parent.parent, type=Path)
    parser.add_argument("--list-rules", action="store_true", help="print the rule names and stop")
    parser.add_argument("paths", nargs="*", help="files or folders; default: the whole tree")
    options = parser.parse_args(argv)
    if options.list_rules:
        print("\n".join(RULES))
        return 0
    root = options.root.resolve()
    layers, listed = tidy_layers.read_layers(root), tidy_state.read_state_list(root)
    waits = tidy_state.read_waits(root)
    files = [SourceFile(root, path) for path in list_files(root, options.paths)]
    count = excused = 0
    for file in files:
        findings, allowed = check_file(file, root, layers, listed, waits)
        excused += allowed
        for line, rule, message in findings:
            print(f"{file.path}:{line}: {rule}: {message}")
            count += 1
    whole = [*check_gates(files), *tidy_state.check_state_list(files, listed)]
    whole += [*tidy_layers.check_circles(layers), *tidy_layers.check_rooms(files, root)]
    whole += tidy_state.check_waits_list(files, waits)
    for message in [] if options.paths else whole:
        print(message)
        count += 1
    functions = sum(len(file.functions) for file in files)
    print(f"tidy: {len(files)} files, {functions} functions, {excused} excused, {count} findings")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
