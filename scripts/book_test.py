#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that scripts/book.py finds what it promises to find, in small pages and programs."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import book

PROGRAM = "int main(void) {\n  /* book: body */\n  return 0;\n  /* book end */\n}\n"
HEAD = "# A\n\n<!-- listing: examples/a.c:body -->\n```c\n"
GOOD = HEAD + "return 0;\n```\n"
FAULTS = {  # page: a word of what is said about it
    "# A\n\n```c\nint x;\n```\n": "listed from a tested file",
    HEAD + "return 1;\n```\n": "differs from examples/a.c",
    GOOD.replace("body", "nobody"): "has no part",
    GOOD.replace("a.c:body", "b.c"): "no such file",
    "# A\n\n```perl\n1;\n```\n": "no language of a block",
    "# A\n\n<!-- not run -->\n```sh\ntrue\n```\n": "say why",
    "# A\n\n```sh\ntrue\n": "has no end",
    "# A\n\n[b](b.md)\n": "leads nowhere",
    "# A\n\n[b](../../examples/a.c)\n": "leaves docs",
    "# A\n\n`gex_No_Such_Call`\n": "nothing declares",
    "# A\n\n* b\n\n    code\n": "text of the item above",
    "# A\n\nSome text. ## B\n": "begin a line with the heading",
    "# A\n\n    B=1 examples/a.sh --all\n": "examples/a.sh is not executable",
}
LISTS = (  # as Markdown has it, as Python-Markdown wants it
    (
        "1. a\n   b\n   * c\n     d\n\n   e\n2. f\n",
        "1. a\n    b\n    * c\n        d\n\n    e\n\n2. f\n",
    ),
    (
        "* a\n\n  ```\n    x\n  ```\n\nb\n\n    * c\n",
        "* a\n\n    ```\n      x\n    ```\n\nb\n\n    * c\n",
    ),
    ("-   a\n\n    b\n", "-   a\n\n    b\n"),
)
COMMANDS = (  # page, whether it passes
    ("```sh\ntrue\n```\n", True),
    ("```sh\nfalse | true\n```\n", False),
    ("<!-- exit 3 -->\n```sh\nexit 3\n```\n", True),
    ("<!-- exit 3 -->\n```sh\ntrue\n```\n", False),
    ("```sh\necho rank 7 of 9\n```\n\n<!-- output -->\n```text\nrank 0 of  3\n```\n", True),
    ("```sh\necho at 0x7fae\n```\n\n<!-- output -->\n```text\nat 0x12b\n```\n", True),
    ("```sh\necho rank 7\n```\n\n<!-- output -->\n```text\nrank 0 of 3\n```\n", False),
    ("```sh\necho one; echo two\n```\n\n<!-- output -->\n```text\none\n```\n", False),
    ("```sh\necho 1; echo 2\n```\n\n<!-- output -->\n```text\n1\n```\n", False),
    ("```sh\necho one; echo two\n```\n\n<!-- output -->\n```text\none\n…\n```\n", True),
    ("```sh\nexport A=1\n```\n\n```sh\ntest $A = 1\n```\n", True),
    ("<!-- not run: it would fail -->\n```sh\nfalse\n```\n", True),
)


def faults_of(text):
    """What the check says about a page."""
    page = book.BOOK / "a.md"
    page.write_text(text, encoding="utf-8")
    try:
        found = [*book.check_blocks(page, text)]
    except book.Wrong as wrong:
        found = [str(wrong)]
    found += [*book.check_links(page, text), *book.check_lists(page, text)]
    found += [*book.check_headings(page, text), *book.check_commands(page, text)]
    return found + list(book.check_names(page, text, {"gex_Event_Wait"}))


def passes(text):
    """Whether all commands of a page pass."""
    page = book.BOOK / "a.md"
    page.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as home:
        return not any(wrong for _, wrong in book.run_page(page, Path(home), dict(os.environ)))


def made_site(boost, anchor):
    """A site with a page of the Book of this boost in the search, and one anchor of a setting."""
    out = book.ROOT / "site"
    (out / "search").mkdir(parents=True, exist_ok=True)
    docs = [{"location": "book/a.html", "boost": boost}, {"location": "RUN.html"},
            {"location": "DECISIONS/0001.html", "boost": 0.2}]
    (out / "search" / "search_index.json").write_text(json.dumps({"docs": docs}))
    (out / "SETTINGS.html").write_text(f'<tr id="{anchor}">')
    return out


def site_failures():
    """Yields faults of a site that are not found, and others."""
    (book.DOCS / "SETTINGS.md").write_text("| `GASNET_A`<br>`TOMBOLO_A` | `NAN` |\n| `B` | 1 |\n")
    (book.ROOT / "src/base/messages").mkdir(parents=True)
    (book.ROOT / "src/base/messages/messages.def").write_text('TMB_MESSAGE(7, "a")\n')
    for boost, anchor, wanted in ((4, "GASNET_A", 2), (1, "GASNET_A", 3), (4, "NAN", 3)):
        found = list(book.site_faults(made_site(boost, anchor)))
        if len(found) != wanted:
            yield f"a site with boost {boost}, anchor {anchor}: {found}"


def failures():
    """Yields what does not behave as it should."""
    if faults_of(GOOD):
        yield f"a good page: {faults_of(GOOD)}"
    if '```c title="examples/a.c"' not in book.expand(GOOD):
        yield f"the title of a listing: {book.expand(GOOD)}"
    if book.relisted(HEAD + "return 1;\n\nint x;\n```\nB\n") != GOOD + "B\n":
        yield "a listing was not written again"
    for text, word in FAULTS.items():
        if not any(word in fault for fault in faults_of(text)):
            yield f"not found: {word}: {faults_of(text)}"
    record = book.DOCS / "DECISIONS" / "0001-x.md"
    record.parent.mkdir()
    for lines in (book.RECORD_LINES, book.RECORD_LINES + 1):
        record.write_text("A line.\n" * lines, encoding="utf-8")
        if len(list(book.check_records())) != (lines > book.RECORD_LINES):
            yield f"a record of {lines} lines: {list(book.check_records())}"
    for text, wanted in (("[x](DECISIONS/0001-x.md) [a](book/a.md)", 0), ("[a](book/a.md)", 1)):
        (book.DOCS / "README.md").write_text(text, encoding="utf-8")
        if len(list(book.check_reach())) != wanted:
            yield f"pages that nothing leads to: {list(book.check_reach())}"
    for page, name, wanted in ((book.BOOK / "a.md", "a", 0), (book.BOOK / "a.md", "b", 1),
                               (book.ROOT / "a.md", "a", 1)):
        if len([*book.check_ignored(page, f"tombolo cc --seq a.c -o {name}\n")]) != wanted:
            yield f"programs of {page.name} that git does not ignore: not {wanted}"
    for text, wanted in LISTS:
        if book.deep_lists(text) != wanted:
            yield f"a list: {book.deep_lists(text)!r}, expected {wanted!r}"
    yield from site_failures()
    for text, wanted in COMMANDS:
        if passes(text) != wanted:
            yield f"{'failed' if wanted else 'passed'}: {text}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        book.ROOT = Path(folder)
        book.DOCS = book.ROOT / "docs"
        book.BOOK = book.DOCS / "book"
        book.BOOK.mkdir(parents=True)
        (book.ROOT / "examples").mkdir()
        (book.ROOT / "examples" / "a.c").write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        (book.ROOT / "examples" / ".gitignore").write_text("a\n", encoding="utf-8")
        (book.ROOT / "examples" / "a.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        found = list(failures())
    cases = len(FAULTS) + len(LISTS) + len(COMMANDS) + 10
    print("\n".join([*found, f"book_test: {cases} cases, {len(found)} failed"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
