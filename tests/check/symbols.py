#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each function of the API is seen by the checker, or docs/CHECK.md says why it need not be.

Usage: symbols.py [ROOT]
The functions are those of tests/data/symbols.txt, and ours in include/tombolo/ext. One is seen if
it is in check/runtime/calls.def, or if its definition (inline, or in src/api and src/coll) calls
one that is. The others are in the table "Calls that are not seen" of docs/CHECK.md, where `*`
stands for any letters. A row of the table that names no such function fails the test, too.
"""

import fnmatch
import re
import sys
from pathlib import Path

DEFINITION = re.compile(r"^[^\n#{}();=]*?\b(\w+)\s*\([^{};]*\)\s*\{\n(.*?)^ ?\}", re.M | re.S)
MACRO = re.compile(r"^#\s*define\s+(\w+)\((?:[^)]*)\)((?:.*\\\n)*.*)$", re.M)
# Functions whose names macros make, and what they call.
MADE = {"gex_AD_OpNB_*": "gexx_ad_op_nb", "gex_AD_OpNBI_*": "gexx_ad_op_nbi",
        "gasnet_coll_broadcast": "gasnet_coll_broadcast_nb",
        "gasnet_coll_exchange": "gasnet_coll_exchange_nb",
        "gasnet_coll_gather": "gasnet_coll_gather_nb",
        "gasnet_coll_gather_all": "gasnet_coll_gather_all_nb",
        "gasnet_coll_scatter": "gasnet_coll_scatter_nb"}
API = re.compile(r"(?:gex|gexx|gasnet|gasnetc|gasnett|GEX|GEXX)_")


def texts(root):
    """Sources in which functions of the API are defined, without comments and strings."""
    folders = ("include", "src/api", "src/coll/calls")
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".c", ".def", ".hpp"):
                yield re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', " ",
                             path.read_text(encoding="utf-8"), flags=re.S)


def calls_of(root):
    """The names that each definition mentions; those of a file alone have its number."""
    def whole(number, name):
        return name if API.match(name) else f"{number}:{name}"

    calls = {}
    for number, text in enumerate(texts(root)):
        for pattern in (DEFINITION, MACRO):
            for name, body in pattern.findall(text):
                words = {whole(number, word) for word in re.findall(r"\b[A-Za-z_]\w+", body)}
                calls.setdefault(whole(number, name), set()).update(words)
    return calls


def seen_of(root):
    """The functions that the checker stands before, and those that come to one."""
    defined = (root / "check/runtime/calls.def").read_text(encoding="utf-8")
    seen = set(re.findall(r"^CHK_CALL\((\w+)\)", defined, re.M))
    calls, before = calls_of(root), 0
    ends = seen & {"gasnet_exit"}  # what refuses to work comes to it, too
    seen -= ends
    while len(seen) != before:
        before = len(seen)
        seen |= {name for name, body in calls.items() if body & seen}
    return seen | ends


def table(root):
    """The patterns of the table in docs/CHECK.md."""
    text = (root / "docs/CHECK.md").read_text(encoding="utf-8")
    section = text.split("## Calls that are not seen\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.split("\n") if line.startswith("| `")]
    return [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row)]


def main():
    """Prints the functions that neither are seen nor named."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    rows = (line.split("\t") for line in
            (root / "tests/data/symbols.txt").read_text(encoding="utf-8").split("\n") if line)
    names = {row[0] for row in rows if row[1] in ("function", "legacy-function")}
    for path in (root / "include/tombolo/ext").glob("*.h"):
        names |= set(re.findall(r"^GEXX_(?:API|INLINE)\b.*?\b(gexx_[A-Z]\w+)\(",
                                path.read_text(encoding="utf-8"), re.M))
    seen, patterns = seen_of(root), table(root)
    made = [pattern for pattern, call in MADE.items() if call in seen]
    rest = {name for name in names - seen if not any(fnmatch.fnmatch(name, p) for p in made)}
    faults = [f"{name}: neither in check/runtime/calls.def nor in docs/CHECK.md"
              for name in sorted(rest) if not any(fnmatch.fnmatch(name, p) for p in patterns)]
    faults += [f"docs/CHECK.md: `{pattern}` names no call that is not seen"
               for pattern in patterns if not any(fnmatch.fnmatch(name, pattern) for name in rest)]
    print("\n".join(faults))
    print(f"{len(names)} functions, {len(names - rest)} are seen, {len(faults)} faults")
    return 1 if faults or rest == names else 0


if __name__ == "__main__":
    sys.exit(main())
