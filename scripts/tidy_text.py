# SPDX-License-Identifier: BSD-3-Clause
"""Rules of tidy.py on the text of sources and pages: heads, lengths, words, paths, numbers.

A rule takes a SourceFile of tidy.py and yields (line, rule, message).
"""

import re
from pathlib import Path

MAX_LINE = 100
MAX_LINE_TABLE = 120  # rows of a .def table
MAX_FILE_LINES = 1000


def read_words(text):
    """The words in bold of the last table of docs/TERMS.md, and what stands for each."""
    rows = re.findall(r"^\| (.*) \| (.*) \|$", text.partition("## Instead of")[2], re.M)
    return {w.lower(): use for cell, use in rows for w in re.findall(r"\*\*([^*]+)\*\*", cell)}


WORDS = read_words((Path(__file__).resolve().parent.parent / "docs/TERMS.md").read_text())
WORD = re.compile(r"(?<![a-z])(" + "|".join(WORDS) + r")s?(?![a-z])", re.I)
WORDS_OK = ("docs/TERMS.md", "docs/DECISIONS/", "study/journal/", "scripts/tidy")
PATH = re.compile(
    r"(?<![\w/.$<{*-])((?:src|docs|tests|scripts|cmake|coarray|prif|upc|tools|study)/"
    r"(?![\w/.-]*(?:NAME|ROOM|\bx\.))[\w/.-]*\w\.(?:c|h|cc|hpp|py|sh|md|def|cmake|upc|f90|litmus))"
    r"(?![\w.*-]*\w)"
)
PATHS_OK = ("study/journal/", "docs/DECISIONS/")  # they name files of their time
MAX_SENTENCE = 32  # words; 25 is what to aim at
HISTORY = ("study/FIGURES", "study/journal/", "CHANGELOG.md")  # written by a script; lists
TUNED = ("src/core/", "src/net/")
NUMBER = re.compile(r"\s*#\s*define\s+(\w+)\s+((?:\(*(?:UINT\d\d_C|size_t|uintptr_t)|[\d(]).*)")
KNOWN_NUMBERS = {"_GNU_SOURCE", "GASNET_PAR", "NS_PER_S", "HAS_WIDE"}
BASIS = re.compile(r"\b([Cc]hosen|[Mm]easured|[Ff]ixed|[Ee]stimate|RFC \d+)\b")


def check_head(file):
    """SPDX first (after a #! line); C files then carry a comment that says what the file is."""
    first = 1 if file.lines and file.lines[0].startswith("#!") else 0
    if len(file.lines) <= first or "SPDX-License-Identifier: BSD-3-Clause" not in file.lines[first]:
        yield first + 1, "spdx", "the first line must be the SPDX line: BSD-3-Clause"
        return
    if not file.is_c:
        return
    match = re.match(r"(?:\s*(?:/\*.*?\*/|//[^\n]*))+", file.text, re.S)
    head = [line for line in match.group().split("\n") if re.search(r"\w", line)] if match else []
    short = file.is_test or file.path.startswith("examples/")
    least = 1 if short else 3
    if len(head) - 1 < least:
        yield 1, "head", f"a comment after the SPDX line must say what this file is ({least} lines)"


def check_lines(file):
    """Line length, and file length where documentation in public headers does not count."""
    limit = MAX_LINE_TABLE if file.path.endswith(".def") else MAX_LINE
    for number, line in enumerate(file.lines, 1):
        if len(line) > limit:
            yield number, "line-length", f"{len(line)} columns, at most {limit}"
    count = len(file.lines)
    if file.path.startswith("include/"):
        count = sum(1 for line in file.code.split("\n") if line.strip())
    if count > MAX_FILE_LINES and file.is_c:
        yield 1, "file-lines", f"{count} lines, at most {MAX_FILE_LINES}"


def check_words(file):
    """Words of docs/TERMS.md that have a better one, in names, comments, messages and pages."""
    if file.path.startswith(WORDS_OK):
        return
    for number, line in enumerate(file.lines, 1):
        for match in WORD.finditer(line):
            word = match.group(1).lower()
            yield number, "words", f"{word}: write {WORDS[word]} (docs/TERMS.md)"


def check_paths(file, root):
    """Files that pages and comments name by their folder exist; NAME, ROOM and x stand for any."""
    if file.path.startswith(PATHS_OK):
        return
    for number, line in enumerate(file.lines, 1):
        if line.startswith("    " if file.path.endswith(".md") else "#"):
            continue
        for name in PATH.findall(line):
            if not (root / name).exists():
                yield number, "path", f"{name} does not exist"


def _plain_number(value):
    """Whether a macro's value is made of numbers alone; a hexadecimal one is a pattern, no size."""
    value = re.sub(r"\bUINT\d\d_C\b|\bsize_t\b|\buintptr_t\b|\b\d[\w.]*", "", value)
    return not re.search(r"[A-Za-z_]", value)


def check_tuning(file):
    """A number says in its comment, or in one above it in its paragraph, what it is based on."""
    if not file.path.startswith(TUNED) or "_test." in file.path:
        return
    based = inside = False
    for number, line in enumerate(file.lines, 1):
        if not line.strip():
            based = inside = False
            continue
        alone = inside or line.lstrip().startswith("/*")
        based = based or (alone and BASIS.search(line) is not None)
        inside = alone and "*/" not in line
        match = NUMBER.match(line)
        if not match or match.group(1) in KNOWN_NUMBERS or "0x" in line:
            continue
        value, _, comment = match.group(2).partition("/*")
        if _plain_number(value) and not based and not BASIS.search(comment):
            text = "say whether it was chosen or measured, and by what, or what it is fixed by"
            yield number, "tuning", f"{match.group(1)}: {text}"


def _paragraphs(lines):
    """Text of a page as (line number, text): paragraphs, items of lists, cells of tables."""
    text, start, code = [], 0, False
    for number, line in enumerate([*lines, ""], 1):
        fence, row = line.startswith("```"), line.startswith("|")
        code ^= fence
        item = re.match(r"\s*([*-]|\d+\.) ", line)
        plain = not (code or fence or row or line.startswith("#") or not line.strip())
        if text and (item or not plain):
            yield start, " ".join(text)
            text = []
        if row:
            yield from ((number, cell) for cell in line.split("|"))
        elif plain and (text or item or not line.startswith("    ")):
            start = start if text else number
            text.append(line.strip())


def check_sentences(file):
    """Sentences, or their parts up to a colon or semicolon; `code` counts as one word."""
    if file.path.startswith(HISTORY):
        return
    for number, text in _paragraphs(file.lines):
        text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "Code", text))
        for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z*\[(\"0-9])|(?<=;)\s+", text):
            count = len(re.findall(r"[^\W_][\w'.,/%-]*", part))
            if count > MAX_SENTENCE:
                start = " ".join(part.split()[:6])
                text = f"{count} words, at most {MAX_SENTENCE}: {start} ..."
                yield number, "sentence", text


def check_tables(file):
    """Rows of a page's table follow its head; behind an empty line they are shown as text."""
    code = False
    for number, line in enumerate(file.lines, 1):
        code ^= line.startswith("```")
        if code or not line.startswith("|"):
            continue
        above = file.lines[number - 2] if number > 1 else ""
        below = file.lines[number] if number < len(file.lines) else ""
        if not above.startswith("|") and not re.match(r"\|[ :|-]+\|$", below):
            yield number, "table", "rows without a head; is there an empty line above them?"


OF_SOURCES = (check_head, check_lines, check_words)
OF_PAGES = (check_words, check_sentences, check_tables)
