#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares src/base/messages/messages.def with the messages of the sources.

Usage: messages.py            says which messages have no number, and which rows have no message
       messages.py --write    adds a row for each new message, with the next number of its family

Messages are the formats of tmb_fatal, tmb_fatal_nopos, TMB_CHECK, tmb_warn and
tmb_wrong_setting, of tmb_refuse and tmb_advise, of the upcalls up->fatal, print and wrong_setting
of conduits, of the reasons why no conduit is found, and of tmb_print
where a row has the format already or the file is a tool's. A
format that is "%s" alone, or no literal, has no number. A row whose message is removed becomes
TMB_MESSAGE_OLD: by hand, for its number is never given again.

The runtimes of Fortran and UPC use public headers only, so they cannot look a number up: there the
text itself ends in [TMB-2101], and --write adds that, too. Their rows are TMB_MESSAGE_CODE.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/base/messages/messages.def"
RUNTIME_TABLE = ROOT / "src/base/messages/runtimes.def"  # families 20 to 89, which TABLE includes
INCLUDE = '#include "base/messages/runtimes.def"\n\n'
ADVICE = ROOT / "src/base/messages/advice.def"
SETTING = re.compile(r"\b(?:TOMBOLO|GASNET)_[A-Z_]*[A-Z](?==)")
FUNCTION = re.compile(r"\b(?:gex|gexx|gasnet)_\w+(?=\()")
CALL = re.compile(
    r"\b(tmb_fatal_nopos|tmb_fatal|tmb_warn|tmb_print|tmb_wrong_setting|TMB_CHECK"
    r"|tmb_refuse|tmb_advise|(?<=up->)(?:fatal|print|wrong_setting)|note(?=\(why,))\s*\(\s*"
)
# Arguments before the format.
BEFORE = {"TMB_CHECK": 1, "tmb_advise": 1, "note": 1, "tmb_refuse": 2, "caf_fail": 2,
          "prif_fail": 2, "sh_fatal": 1}
PIECE = re.compile(r"\s*(?:\"((?:[^\"\\]|\\.)*)\"|(PRI\w+|PROGRAM_PREFIX))")
RUNTIMES = ("coarray", "prif", "upc/runtime", "shmem/runtime")
RUNTIME_CALL = re.compile(r"\b(rt_fatal|caf_fail|caf_refuse|prif_fail|sh_fatal|sh_say)\s*\(\s*")
STRINGS = re.compile(r"(?:\s*(?:\"(?:[^\"\\]|\\.)*\"|PRI\w+))+")
CODE = re.compile(r" \[TMB-(\d{4})\]$")
ROW = re.compile(r"^(TMB_MESSAGE(?:_PART|_OLD|_CODE)?)\((\d+), ", re.M)
FAMILY = re.compile(r"^TMB_MESSAGES\((\d+),\s+\"([^\"]*)\"", re.M)
# Notices of progress: they need no explanation.
NOTICES = re.compile(
    r"watchdog:|signal %d \(%s\): ending|time limit of|%u more|still waiting|ticks: %s|process"
    r" %ld on"
    r"|ofi: provider %s, device|ofi: rank %u handed over"
    r"|%s returns %s|diagnostics: %s|\w+: %s$|(?:%s|explain: .*)$"
)
WIDTH = 100


def split_runtimes():
    """The table of the runtimes as (comment, rows)."""
    text = RUNTIME_TABLE.read_text()
    at = text.index("TMB_MESSAGES(")
    return text[:at], text[at:]


def read_table(path=TABLE):
    """The whole table."""
    return path.read_text().replace(INCLUDE, split_runtimes()[1])


def write_table(text):
    """Writes both files of the table."""
    begin, end = text.index("TMB_MESSAGES(20,"), text.index("TMB_MESSAGES(90,")
    RUNTIME_TABLE.write_text(split_runtimes()[0] + text[begin:end])
    TABLE.write_text(text[:begin] + INCLUDE + text[end:])


def literal(text, at):
    """The format that begins at a place, as one text with its macros in <>, or None."""
    out = []
    while True:
        match = PIECE.match(text, at)
        if not match:
            return "".join(out) if out else None
        prefix = {"PROGRAM_PREFIX": "tombolo-bench-"}
        out.append(match[1] if match[2] is None else prefix.get(match[2], f"<{match[2]}>"))
        at = match.end()


def after_argument(text, at):
    """The place behind the first argument of a call."""
    depth = 0
    for match in re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[(),]").finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if (match[0] == "," and depth == 0) or depth < 0:
            return match.end()
    return len(text)


def of_sources():
    """{format: (file, call)} of all messages."""
    found = {}
    for folder in ("src", "tools"):
        for path in sorted((ROOT / folder).rglob("*.c")):
            name = str(path.relative_to(ROOT))
            if name.endswith("_test.c") or name == "src/base/log.c":
                continue
            text = path.read_text()
            for match in CALL.finditer(text):
                begin = match.end()
                for _ in range(BEFORE.get(match[1], 0)):
                    begin = after_argument(text, begin)
                form = literal(text, begin)
                if form:
                    found.setdefault(form, (name, match[1]))
    return found


def of_runtimes():
    """[(path, end of the last literal, format, number or None, whether it must have one)]."""
    found = []
    for folder in RUNTIMES:
        for path in sorted((ROOT / folder).rglob("*.c")):
            text, ends = path.read_text(), {}
            for match in STRINGS.finditer(text):
                form = literal(text, match.start())
                if form and CODE.search(form):
                    ends[match.end()] = (form, False)
            for match in RUNTIME_CALL.finditer(text):
                begin = match.end()
                for _ in range(BEFORE.get(match[1], 0)):
                    begin = after_argument(text, begin)
                string = STRINGS.match(text, begin)
                form = literal(text, begin)
                if form and form not in ("%s", "%s: %s"):
                    ends[string.end()] = (form, True)
            for end, (form, must) in ends.items():
                code = CODE.search(form)
                found.append((path, end, CODE.sub("", form), code and int(code[1]), must))
    return found


def runtime_complaints(text):
    """What is wrong with the numbers in the texts of the runtimes, and the texts without one."""
    table = rows(text)
    parts = {form: n for kind, n, form in table if kind == "TMB_MESSAGE_PART"}
    coded = {n: form for kind, n, form in table if kind == "TMB_MESSAGE_CODE"}
    said, new, used = [], [], set()
    for path, end, form, number, _ in of_runtimes():
        name = path.relative_to(ROOT)
        part = next((n for p, n in parts.items() if p in form), None)
        if number is None:
            new.append((path, end, form, part))
        elif part is not None and number != part:
            said.append(f"{name}: number {number} of \"{form}\" must be {part}")
        elif part is None and coded.get(number) != form:
            said.append(f"{name}: {TABLE.name} has not \"{form}\" as number {number}")
        used.add(number)
    families = [int(n) for n, files in FAMILY.findall(text) if files in RUNTIMES]
    said += [
        f"{TABLE.name}: no runtime has message {n} any more: make it TMB_MESSAGE_OLD"
        for n in coded
        if n // 100 in families and n not in used
    ]
    return said, new


def number_runtimes(text, new):
    """Writes numbers into the sources of the runtimes. Returns the table with their rows."""
    for path, end, form, number in sorted(new, key=lambda n: (str(n[0]), -n[1])):
        families = [(int(n), files.split()) for n, files in FAMILY.findall(text)]
        family = family_of(str(path.relative_to(ROOT)), families)
        of_family = [(n, f) for _, n, f in rows(text) if n // 100 == family]
        known = [n for n, f in of_family if f == form]
        if number is None and known:
            number = known[0]
        elif number is None:
            number = max([n for n, _ in of_family] + [family * 100]) + 1
            text = add_row(text, family, row_text(number, form, "TMB_MESSAGE_CODE"))
        source = path.read_text()
        path.write_text(f"{source[: end - 1]} [TMB-{number:04}]{source[end - 1 :]}")
        print(f"{path.relative_to(ROOT)}: TMB-{number:04}")
    return text


def add_row(text, family, row):
    """The table with a row at the end of a family."""
    start = re.search(rf"^TMB_MESSAGES\({family},", text, re.M).start()
    following = re.compile(r"^TMB_MESSAGES\(", re.M).search(text, start + 1)
    end = following.start() if following else len(text)
    body = text[start:end].rstrip("\n") + "\n" + row
    return text[:start] + body + ("\n" if following else "") + text[end:]


def rows(text):
    """[(kind, number, format)] of the table."""
    return [(m[1], int(m[2]), literal(text, m.end())) for m in ROW.finditer(text)]


def row_text(number, form, kind="TMB_MESSAGE"):
    """A row of the table, in lines of at most WIDTH characters of format."""
    pieces, body = [], re.sub(r"<(PRI\w+)>", r'" \1 "', form)
    width = WIDTH - 1 - len(kind) + len("TMB_MESSAGE")
    while len(body) > width:
        cut = body.rfind(" ", 0, width) + 1 or width
        pieces.append(body[:cut])
        body = body[cut:]
    lines = "\n            ".join(f'"{p}"' for p in [*pieces, body])
    return f"{kind}({number}, {lines})\n"


def family_of(name, families):
    """The number of the family that a file belongs to, or None."""
    fits = [(len(f), n) for n, files in families for f in files if name.startswith(f)]
    return max(fits)[1] if fits else None


def complaints(text):
    """What is wrong, and the new messages as [(format, file)]."""
    said, table, found = [], rows(text), of_sources()
    parts = [form for kind, _, form in table if kind == "TMB_MESSAGE_PART"]
    known = {form for kind, _, form in table if kind in ("TMB_MESSAGE", "TMB_MESSAGE_CODE")}
    families = [(int(n), files.split()) for n, files in FAMILY.findall(text)]
    new = []
    for form, (name, call) in found.items():
        quiet = call == "tmb_print" and not name.startswith("tools/")
        if form in known or quiet or NOTICES.match(form) or any(p in form for p in parts):
            continue
        if family_of(name, families) is None:
            said.append(f"{name}: no TMB_MESSAGES of {TABLE.name} names this file: add it to one")
        else:
            new.append((form, name))
    numbers = [n for kind, n, _ in table if kind != "TMB_MESSAGE_PART"]
    said += [
        f"{TABLE.name}: number {n} stands twice" for n in set(numbers) if numbers.count(n) > 1
    ]
    forms = [form for kind, _, form in table if kind == "TMB_MESSAGE"]
    said += [f"{TABLE.name}: two rows say: {f}" for f in set(forms) if forms.count(f) > 1]
    at, here = -1, {}
    for match in re.finditer(rf"{FAMILY.pattern}|{ROW.pattern}", text, re.M):
        at = int(match[1]) if match[1] else at
        if match[4] and int(match[4]) // 100 != at:
            said.append(f"{TABLE.name}: number {match[4]} stands in family {at}")
        here.setdefault(at, []).append(int(match[4]) if match[4] else at * 100)
    said += [
        f"{TABLE.name}: no source has message {n} any more: make it TMB_MESSAGE_OLD"
        for kind, n, form in table
        if kind == "TMB_MESSAGE" and form not in found
    ]
    return said, new, families, here


def advice_complaints(text):
    """What is wrong with the causes and remedies of single messages."""
    advice, said = ADVICE.read_text(), []
    numbers = [int(n) for n in re.findall(r"^TMB_ADVICE\((\d+),", advice, re.M)]
    known = {number for kind, number, _ in rows(text) if kind != "TMB_MESSAGE_OLD"}
    said += [f"{ADVICE.name}: there is no message {n}" for n in numbers if n not in known]
    if numbers != sorted(set(numbers)):
        said.append(f"{ADVICE.name}: numbers do not rise")
    settings = (ROOT / "src/base/config.def").read_text()
    said += [
        f"{ADVICE.name}: there is no setting {name}"
        for name in sorted(set(SETTING.findall(advice)))
        if f'"{name}"' not in settings
    ]
    symbols = (ROOT / "tests/data/symbols.txt").read_text()
    headers = "".join(p.read_text() for p in (ROOT / "include/tombolo/ext").glob("*.h"))
    said += [
        f"{ADVICE.name}: there is no call {name}"
        for name in sorted(set(FUNCTION.findall(advice)))
        if f"{name}\t" not in symbols and f"{name}(" not in headers
    ]
    return said


def main():
    """Compares or writes."""
    text = read_table()
    said, new, families, here = complaints(text)
    said += advice_complaints(text)
    wrong, unnumbered = runtime_complaints(text)
    said += wrong
    if "--write" in sys.argv[1:]:
        for form, name in new:
            family = family_of(name, families)
            number = max(here[family]) + 1
            here[family].append(number)
            text = add_row(text, family, row_text(number, form))
            print(f"{name}: TMB-{number:04}")
        text = number_runtimes(text, unnumbered)
        write_table(text)
    else:
        new += [(form, path.relative_to(ROOT)) for path, _, form, _ in unnumbered]
        said += [f"{name}: no number: {form}: scripts/messages.py --write" for form, name in new]
    print("\n".join(said) if said else f"messages.py: {len(rows(text))} messages")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
