#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""What UPC forbids is reported: tests/upc/reject/*.upc, translated only.

Every line with a comment `/* error: TEXT */` must be reported with that text, by file and line, and
no other line may be; so must warnings, `/* warning: TEXT */`. A file may say `/* threads: N */` in
its first lines.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "reject"
TOMBOLO = os.environ.get("TOMBOLO", "tombolo")


def check(path):
    """Problems with one file, as texts."""
    lines = path.read_text().split("\n")
    expected = {}
    command = [TOMBOLO, "upcc", "-trans"]
    for number, line in enumerate(lines, 1):
        for kind, text in re.findall(r"/\* (error: |warning: )(.*?) \*/", line):
            expected.setdefault(number, []).append((kind, text))
        threads = re.search(r"/\* threads: (\d+) \*/", line)
        if threads:
            command += ["-T", threads.group(1)]
    with tempfile.TemporaryDirectory() as folder:
        command += [str(path), "-o", os.path.join(folder, "out.c")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {}
    messages = re.findall(r"^(.*?):(\d+):\d+: (error: |warning: )(.*)$", run.stderr, re.M)
    for name, line, kind, text in messages:
        if os.path.basename(name) == path.name:
            found.setdefault(int(line), []).append((kind, text))
    if run.returncode == 0 and expected:
        yield f"{path.name}: it was translated"
    for number in sorted(set(expected) | set(found)):
        wanted, got = expected.get(number, []), found.get(number, [])
        for kind, text in wanted:
            if not any(kind == k and text in message for k, message in got):
                yield f"{path.name}:{number}: expected '{kind}{text}', got {got}"
        if len(got) > max(len(set(got)), len(wanted)):
            yield f"{path.name}:{number}: reported twice: {got}"
        if not wanted:
            yield f"{path.name}:{number}: not expected: {got}"


def main():
    files = sorted(FOLDER.glob("*.upc"))
    problems = [problem for path in files for problem in check(path)]
    for problem in problems:
        print(problem)
    print(f"reject: {len(files)} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
