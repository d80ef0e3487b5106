#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reference pages of the public headers, of C++, Python and Fortran: manual pages and Markdown.

Usage: reference.py [--root DIR] --man DIR    writes man3/*.3 and man7/*.7 below DIR, one page for a
                                              group of names, and for each name one that includes it
       reference.py [--root DIR] --web DIR    writes the same pages as DIR/*.md, with DIR/index.md
       reference.py [--root DIR] --check      says which names have no page, and which pages lack a
                                              section, a parameter or a word about a constant; then
                                              lets groff read every page; exit code 1 if any

What the headers must hold is in CONTRIBUTING.md; scripts/reference_read.py reads them. Needs clang.
"""

import argparse
import fnmatch
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import reference_forms as forms
import reference_languages as languages
import reference_read as reader
import reference_tables as tables
from reference_comments import plain, sort_sentences, split_comment

NEEDED = ("Completion", "Threads", "Errors", "Cost")
TITLES = {
    "Returns": "RETURN VALUE",
    "Completion": "COMPLETION",
    "Threads": "THREADS",
    "Errors": "ERRORS",
    "Cost": "COST",
}
EXAMPLES = (
    "examples/*.c",
    "examples/upc/*.upc",
    "examples/shmem/*.c",
    "examples/upc/from_c/*",
)
EXAMPLE_LINES = 22
LONGEST = 300  # lines of a synopsis
MANY = 60  # declarations under one comment, of which the synopsis shows the first half
NO_EXAMPLE = re.compile(r"#\s*define|clang-format|\A\s*/\*(?:(?!\*/).)*\Z|SPDX", re.S)

MARK = re.compile(r"^\s*(?:/\*|//)\s*book(?:: \S+| end)\s*(?:\*/)?\s*\n", re.M)


def paragraphs_of(path):
    """The paragraphs of a program, without the marks of the Book's listings."""
    return re.split(r"\n\s*\n", MARK.sub("", path.read_text()))


# ---- examples: lines of programs that `book.py run` compiles as shown
class Sources:
    """Programs of the tree, in paragraphs."""

    def __init__(self, root):
        self.root, self.paragraphs = root, []
        for pattern in EXAMPLES:
            for path in sorted(root.glob(pattern)):
                for block in paragraphs_of(path):
                    if not NO_EXAMPLE.search(block):
                        words = frozenset(re.findall(r"\w+", block))
                        self.paragraphs.append((str(path.relative_to(root)), block, words))

    def chosen(self, where):
        """(file, lines) of `FILE WORDS`: the paragraph of FILE that has WORDS."""
        file, _, words = where.partition(" ")
        for block in paragraphs_of(self.root / file):
            if words in block:
                return file, self.cut(block, [words])
        raise SystemExit(f"reference.py: {file} has no line with `{words}`")

    def cut(self, block, words):
        """At most EXAMPLE_LINES of a paragraph, around its first line with one of the words."""
        lines = block.strip("\n").split("\n")
        at = next((i for i, line in enumerate(lines) if any(w in line for w in words)), 0)
        first = 0 if len(lines) <= EXAMPLE_LINES else max(0, at - EXAMPLE_LINES // 2)
        lines = lines[first : first + EXAMPLE_LINES]
        indent = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
        return [line[indent:] for line in lines]

    def best(self, names, behind=""):
        """(file, lines) of the paragraph that shows most of the names in few lines, or None."""
        form = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b" + behind)
        parts = [frozenset(re.findall(r"\w+", name)) for name in names]
        best, score = None, 0
        for order, (file, block, words) in enumerate(self.paragraphs):
            if not any(part <= words for part in parts):
                continue
            shown = len(set(form.findall(block)))
            lines = block.count("\n") + 1
            worth = (
                shown * 10
                - abs(lines - 8)
                - (20 if lines > EXAMPLE_LINES else 0)
                + 40
                - order / 1e6
            )
            if shown and worth > score:
                best, score = (file, self.cut(block, names)), worth
        return best


# ---- a page as blocks: (kind, ...)
def of_names(entry):
    """The names of an entry as a heading."""
    return ", ".join(n + "()" if k in ("function", "call") else n for n, k, _, _ in entry.items)


def synopsis(page):
    """What a program writes to use the page's names."""
    out = [f"#include <{page.include}>", ""]
    out += re.findall(r"`(.*?)`", page.sections.get("Synopsis", "")) + [""]
    for found in page.forms.synopses(page.entries, reader.wrap):
        if len(found) > MANY:
            found = [*found[: MANY // 2], "/* and so on, for each name of the section NAME */"]
        out += [line for text in found for line in text.split("\n")]
        if any("\n" in text for text in found) or len(found) > 1:
            out.append("")
    return [*out[:-1], out[-1]] if out[-1] else out[:-1]


def clean(text):
    """A text as sentences: a capital at the start, a full stop at the end."""
    text = text.strip().rstrip(";, ")
    first = re.match(r"[\w`]+", text)
    if first and not re.search(r"[_\d`(]", first[0]) and first[0] != "errno":
        text = text[:1].upper() + text[1:]
    return text if not text or text[-1] in ".:!" else text + "."


def blocks_of(page, word, many):
    """Blocks of one section: of the page, then of single entries."""
    out = [("text", clean(page.sections[word]))] if word in page.sections else []
    single = [(of_names(e), clean(e.said[word])) for e in page.entries if word in e.said]
    if len(single) == 1 and not out and not many:
        return [("text", single[0][1])]
    return [*out, ("list", single)] if single else out


def constants(page):
    """Blocks about macros that are values."""
    out = []
    for entry in page.entries:
        rows = [
            (name, value[len("#define ") + len(name) :].strip(), remark)
            for name, kind, value, remark in entry.items
            if kind == "macro"
        ]
        if rows:
            if not any(i[1] != "macro" for i in entry.items) and entry.said.get(""):
                out.append(("text", entry.said[""]))
            out.append(("values", rows))
    declared = {name for entry in page.entries for name in entry.names}
    rows = [(n, "", t) for n, t in page.named() if n not in declared and "*" not in n]
    return [*out, ("values", rows)] if rows else out


def parameters(page, common):
    """[(name, direction, text)] of all parameters, in the order of their first use."""
    out, known = [], {}
    for entry in page.entries:
        for names, direction, text in entry.own:
            for name in names:
                if text:
                    known.setdefault(name, []).append((entry, direction, text))
    wanted = [p for e in page.entries for p in e.parameters if p != "..."]
    for name in dict.fromkeys(wanted):
        own = known.get(name, [])
        if own:
            texts = {}  # each once, with the functions that it is said of
            for entry, _, said in own:
                said = "Must be 0." if said.strip() == "0" else clean(said)
                texts.setdefault(said, []).append(of_names(entry))
            several = len(texts) > 1
            text = " ".join((f"{', '.join(n)}: " if several else "") + t for t, n in texts.items())
            out.append((name, own[0][1], clean(text)))
        elif name in page.parameters:
            out.append((name, page.parameters[name][0], clean(page.parameters[name][1])))
        elif name in common:
            out.append((name, common[name][0], clean(common[name][1])))
        else:
            out.append((name, "", ""))
    return out


def other_forms(example, page):
    """What is said of names that a page does not list."""
    if page.folder == "upc/include":
        return (
            f"These names also begin with upc_, as {example}, in a program that defines "
            "BUPC_USE_UPC_NAMESPACE before it includes <upc.h>."
        )
    return (
        f"Each of these names also has forms with a number behind it, from 0 to 16, as {example}: "
        "they take just so many arguments of the message, which the compiler checks."
    )


def blocks(page, book):
    """The page as blocks."""
    many = len([e for e in page.entries if any(i[1] != "macro" for i in e.items)]) > 1
    out = [
        ("title", page.name, page.title),
        ("section", "SYNOPSIS"),
        ("code", synopsis(page)),
        ("section", "DESCRIPTION"),
    ]
    if page.text:
        out.append(("text", page.text))
    for entry in page.entries:
        if all(i[1] == "macro" for i in entry.items) or not entry.said.get(""):
            continue
        if many:
            out.append(("heading", of_names(entry)))
        out.append(("text", clean(entry.said[""])))
    if out[-1] == ("section", "DESCRIPTION"):
        out.append(("text", page.title[:1].upper() + page.title[1:] + "."))
    remarks = {}  # text: the names of which it is said
    for name, kind, _, remark in (item for e in page.entries for item in e.items):
        if remark and kind in ("type", "call"):
            remarks.setdefault(remark, []).append(name)
    functions = [i[0] for e in page.entries for i in e.items if i[1] == "function"]
    for form, text in page.named():
        if "*" in form and fnmatch.filter(functions, form):
            remarks.setdefault(text, []).append(form)
    if remarks:
        out.append(("list", [(", ".join(n), clean(r)) for r, n in remarks.items()]))
    out += page.forms.blocks()
    if page.numbered:
        out.append(("text", other_forms(sorted(page.numbered)[0], page)))
    for word, found in (("CONSTANTS", constants(page)),):
        out += [("section", word), *found] if found else []
    rows = parameters(page, book.common)
    if rows:
        out += [("section", "PARAMETERS"), ("parameters", rows)]
    for word, title in TITLES.items():
        found = blocks_of(page, word, many)
        out += [("section", title), *found] if found else []
    if page.example:
        out += reader.example_blocks(book.root, page.example)
    return [*out, ("section", "SEE ALSO"), ("see", page.see)]


class Book:
    """All pages of the tree, with what several of them need."""

    def __init__(self, root):
        self.root = root
        self.pages, self.where, self.strays = reader.read(root)
        head = (root / "include/gasnetex.h").read_text()
        found = re.search(r"/\* Common parameters.*?\*/", head, re.S)
        self.common = {}
        for names, direction, text in (
            split_comment(plain(found[0]))[1] if found else []
        ):
            self.common.update({n: (direction, text) for n in names})
        self.sources = Sources(root)
        for path in ("am/am_numbered.h", "legacy/am_numbered_g1.h"):
            for name in re.findall(
                r"#define (\w+)\(", (root / "include/tombolo" / path).read_text()
            ):
                match = reader.NUMBERED.match(name)
                page = self.where.get(match[1] + match[3]) if match else None
                if page:
                    page.numbered.add(name)
                    self.where[name] = page
        for page in self.pages:
            self.where |= {name: page for name in page.forms.generic if name not in self.where}
        for alias, name in reader.upc_aliases(root).items():
            self.where[name].numbered.add(alias)
            self.where[alias] = self.where[name]
        for page in self.pages:
            self.complete(page)

    def complete(self, page):
        """Splits the comments of a page, and finds its example and its neighbours."""
        for entry in page.entries:
            rest, entry.own = split_comment(entry.comment)
            entry.said = sort_sentences(rest)
        callable_ = [i[0] for e in page.entries for i in e.items if i[1] in ("function", "call")]
        chosen = page.sections.get("Example")
        page.example = (
            self.sources.chosen(chosen)
            if chosen
            else self.sources.best(callable_ or page.names(), r"\(" if callable_ else "")
        )
        text = " ".join([page.text, *page.sections.values(), *(e.comment for e in page.entries)])
        near = dict.fromkeys(
            self.where[w].name for w in re.findall(r"\w+_\w+", text) if w in self.where
        )
        see = [
            w.strip() for w in page.sections.get("See", "").rstrip(".").split(",") if w.strip()
        ]
        named = [self.where[w].name if w in self.where else w for w in see]
        page.see = [n for n in dict.fromkeys([*named, *near]) if n != page.name]
        page.see = [*page.see[:14], "tombolo-api"]


# ---- what is missing
def missing(book):
    """Lines about what the headers do not say."""
    for file, line, name in (s for s in book.strays if s[2] not in book.where):
        yield (
            f"{file}:{line}: {name} stands above any page: write `Page NAME: ...`"
            " above it"
        )
    for name in sorted(reader.LISTED - set(book.where) - {s[2] for s in book.strays}):
        if name.endswith(".h") or name in tables.elsewhere(book.root):
            continue
        yield (
            f"tests/data/symbols.txt: {name} is on no page: declare it below a page, or name it "
            "after `Names: ` of one"
        )
    for page in book.pages:
        where = f"{page.folder}/{page.header}:{page.line}: page {page.name}"
        for word in NEEDED if page.has_calls() else ():
            if word not in page.sections and not any(word in e.said for e in page.entries):
                yield f"{where} has no section `{word}: `"
        lines = len(synopsis(page))
        if lines > LONGEST:
            yield f"{where}: a synopsis of {lines} lines, at most {LONGEST}"
        for name in (i[0] for e in page.entries for i in e.items if i[2].endswith(", ...)")):
            yield f"{where}: no prototype of {name}: {forms.CXX_FORMS[0]} has those of messages"
        fault = reader.example_fault(book.root, page.example)
        if fault and (page.example or page.has_calls()):
            yield f"{where} {fault}"
        for name, _, text in parameters(page, book.common):
            if not text:
                yield f"{where}: parameter {name} is not explained: write `[in] {name}: ...`"
            sentences = re.split(r"(?<=\.) ", text)
            if any(one == next_one for one, next_one in zip(sentences, sentences[1:])):
                yield f"{where}: parameter {name} is explained twice: {text}"
        for entry in page.entries:
            for name, kind, _, remark in entry.items:
                if not remark and not entry.comment:
                    yield (
                        f"{page.folder}/{page.header}:{entry.line}: no word about {name}, page"
                        f" {page.name}"
                    )


def groff_complaints(folder):
    """What groff says about the pages of a folder."""
    if not shutil.which("groff"):
        return []
    files = [
        str(p) for p in sorted(Path(folder).rglob("*.[37]")) if not p.read_bytes()[:3] == b".so"
    ]
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8", "-t", *files],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stderr.splitlines()


def main():
    """Writes or checks."""
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parse.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parse.add_argument("--man", type=Path)
    parse.add_argument("--web", type=Path)
    parse.add_argument("--check", action="store_true")
    options = parse.parse_args()
    if not shutil.which("clang"):
        print("reference.py: clang is missing: install it (scripts/install_deps.sh)")
        return 77 if options.check else 1
    import reference_write as writer  # pylint: disable=import-outside-toplevel

    book = Book(options.root)
    pages = [(page, blocks(page, book)) for page in book.pages]
    if options.man:
        writer.write_man(options.man, pages, book)
    if options.web:
        writer.write_web(options.web, pages, book)
    if not options.check:
        return 0
    found = [*missing(book), *languages.missing(options.root)]
    with tempfile.TemporaryDirectory() as folder:
        writer.write_man(Path(folder), pages, book)
        found += groff_complaints(folder)
    print(
        "\n".join(found)
        if found
        else f"reference.py: {len(book.where)} names on {len(book.pages)} pages, and"
        f" {len(languages.guides(options.root))} of C++, Python and Fortran"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
