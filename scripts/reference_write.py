# SPDX-License-Identifier: BSD-3-Clause
"""Pages as manual pages and as Markdown: the writing half of scripts/reference.py.

A page is a list of blocks, (kind, ...): title, section, heading, text, code, list, values,
parameters, see. Names of the API in a text are bold in manual pages, and links in Markdown.
"""

import re

import reference_languages as languages
import reference_read as reader
import reference_tables as tables
from reference_comments import sentences

SOURCE = "Written by scripts/reference.py from the comments of the headers."
PAGE_NAME = re.compile(
    r"(?:gex|gexx|gasnet|gasnett|GEX|GEXX|GASNET|GASNETT|PLATFORM|upc|bupc|UPC|BUPC|pupc"
    r"|tombolo_upc|shmem|SHMEM)_\w+$|MYTHREAD$|THREADS$"
)

NAME_CHARACTERS = 8000  # the index of man reads no list of names above 8 KiB

CALLS_FIRST = ("function", "call", "variable", "type", "macro", "constant")


# ---- manual pages
def roff(text):
    """Text for the formatter, without markup."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    for sign, name in (("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(sign, name)
    return "\\&" + text if text[:1] == "." else text


def roff_text(text, known):
    """Paragraphs: one sentence a line, names of the API and words in `...` in bold."""
    out = []
    for paragraph in text.split("\n\n"):
        if out:
            out.append(".PP")
        for sentence in sentences(paragraph.replace("\n", " ")):
            words = [
                (
                    f"\\fB{roff(part)}\\fP"
                    if i % 2
                    else re.sub(
                        r"\b\w+\b",
                        lambda m: f"\\fB{m[0]}\\fP" if m[0] in known else m[0],
                        roff(part),
                    )
                )
                for i, part in enumerate(sentence.split("`"))
            ]
            line = "".join(words).strip()
            out.append("\\&" + line if line[:1] in (".", "'") else line)
    return out


def roff_code(lines):
    """Lines that keep their form."""
    return [".PP", ".nf", *(roff(line) for line in lines), ".fi"]


def roff_blocks(blocks, known, names):
    """The body of a page. names: what its NAME section lists."""
    out, after_section = [], True
    for kind, *rest in blocks:
        if kind == "title":
            listed = ", ".join(roff(n) for n in names)
            if len(listed) > NAME_CHARACTERS:
                listed = listed[: listed.rindex(", ", 0, NAME_CHARACTERS)]
            out += [".SH NAME", f"{listed} \\- {roff(rest[1])}"]
        elif kind == "section":
            out.append(f".SH {rest[0] if rest[0][-2:] == '.h' else rest[0].upper()}")
        elif kind == "heading":
            out.append(f".SS {roff(rest[0])}")
        elif kind == "text":
            out += ([] if after_section else [".PP"]) + roff_text(rest[0], known)
        elif kind == "code":
            out += roff_code(rest[0])[1 if after_section else 0 :]
        elif kind == "list":
            for term, text in rest[0]:
                out += [".TP", ".B " + roff(term), *roff_text(text, known)]
        elif kind == "parameters":
            for name, direction, text in rest[0]:
                mark = f" ({direction.replace(',', ', ')})" if direction else ""
                out += [
                    ".TP",
                    f'.IR {name} "{mark}"' if mark else f".I {name}",
                    *roff_text(text or "\\&", known),
                ]
        elif kind == "values":
            for name, value, text in rest[0]:
                value = f"{name} {value}".strip() if len(value) < 60 else name
                out += [
                    ".TP",
                    ".B " + roff(value),
                    *(roff_text(text, known) if text else ["\\&"]),
                ]
        elif kind == "see":
            out.append(", ".join(roff_see(n) for n in rest[0]) + ".")
        after_section = kind in ("section", "heading", "title")
    return out


def roff_see(name):
    """A reference to another page."""
    if "/" in name:
        return f"\\fI{roff(name)}\\fP"
    section = "7" if name.startswith("tombolo-") else "3"
    match = re.match(r"(.*)\((\d)\)$", name)
    name, section = (match[1], match[2]) if match else (name, section)
    return f"\\fB{roff(name)}\\fP({section})"


def write_page(folder, name, section, lines):
    """One page below a folder."""
    path = folder / f"man{section}" / f"{name}.{section}"
    path.parent.mkdir(parents=True, exist_ok=True)
    title = {"3": "Library functions", "7": "Concepts and tables"}[section]
    head = [
        '.\\" SPDX-License-Identifier: BSD-3-Clause',
        f'.\\" {SOURCE}',
        f'.TH {name} {section} "" Tombolo "{title}"',
        ".nh",
        ".ad l",
    ]
    path.write_text("\n".join([*head, *lines]) + "\n")


def write_man(folder, pages, book):
    """Pages of section 3, an alias for each name, and the tables of section 7."""
    known = {name for name in book.where if PAGE_NAME.match(name)}
    for page, blocks in pages:
        order = [
            i[0] for kind in CALLS_FIRST for e in page.entries for i in e.items if i[1] == kind
        ]
        names = [n for n in dict.fromkeys([*order, *page.names()]) if PAGE_NAME.match(n)]
        listed = list(dict.fromkeys([page.name, *page.forms.names(names)]))
        write_page(folder, page.name, "3", roff_blocks(blocks, known, listed))
        generic = [n for n in page.forms.generic if book.where[n] is page]
        aliases = {*names, *page.numbered, *generic}
        for alias in aliases - {page.name}:
            (folder / "man3" / f"{alias}.3").write_text(f".so man3/{page.name}.3\n")
    for guide in languages.guides(book.root):
        names = [n for n in guide.names() if n != guide.name and " " not in n]
        lines = roff_blocks(languages.blocks(book.root, guide), known, [guide.name, *names])
        write_page(folder, guide.name, "3", lines)
        for alias in names:
            (folder / "man3" / f"{alias}.3").write_text(f".so man3/{guide.name}.3\n")
    for name, blocks in tables.pages(book):
        write_page(folder, name, "7", roff_blocks(blocks, known, [name]))


# ---- Markdown
def mark(text, book, own=""):
    """Text for Markdown: names of the API link to their page."""

    def link(match):
        page = book.where.get(match[0])
        if page is None or not PAGE_NAME.match(match[0]):
            return match[0].replace("_", "\\_")
        return f"`{match[0]}`" if page.name == own else f"[`{match[0]}`]({page.name}.md)"

    out = []
    for i, part in enumerate(text.split("`")):
        if i % 2:
            page = book.where.get(part)
            out.append(
                f"[`{part}`]({page.name}.md)" if page and page.name != own else f"`{part}`"
            )
        else:
            part = part.replace("\\", "\\\\").replace("<", "&lt;").replace("*", "\\*")
            part = re.sub(r"\[(?=[^\]]*\])", r"\\[", part)
            out.append(re.sub(r"\b\w+\b", link, part))
    return "".join(out)


def mark_blocks(blocks, book, own):
    """A page in Markdown."""
    out = []
    for kind, *rest in blocks:
        if kind == "title":
            out += [f"# {rest[0]}", mark(rest[1][:1].upper() + rest[1][1:] + ".", book, own)]
        elif kind == "section":
            title = rest[0].capitalize() if rest[0].isupper() else rest[0]
            out.append(f"## {title if title[-2:] == '.h' else title[:1].upper() + title[1:]}")
        elif kind == "heading":
            out.append("### " + ", ".join(f"`{n}`" for n in rest[0].split(", ")))
        elif kind == "text":
            out.append(mark(rest[0], book, own))
        elif kind == "code":
            out.append("```c\n" + "\n".join(rest[0]) + "\n```")
        elif kind == "see":
            out.append(", ".join(mark_see(n, book) for n in rest[0]))
        else:
            out.append("\n".join(mark_rows(kind, rest[0], book, own)))
    return "\n\n".join(out) + "\n"


def mark_see(name, book):
    """A reference to another page of the reference, or to a document."""
    if name == "tombolo-api":
        return "[all pages](index.md)"
    if name in book.where or name in {p.name for p in book.pages}:
        page = book.where[name].name if name in book.where else name
        return f"[{name}]({page}.md)"
    if re.match(r"tombolo-(settings|build|messages)$", name):
        return f"[{name}]({name}.md)"
    guide = next((g for g in languages.guides(book.root) if g.name == name), None)
    return f"[{name}]({guide.web}.md)" if guide else f"`{name}`"


def mark_rows(kind, rows, book, own):
    """Rows of a table or a list."""

    def cell(text):
        return (
            mark(text, book, own).replace("|", "\\|").replace("\n\n", "<br>").replace("\n", " ")
        )

    if kind == "list":
        return [
            "| | |",
            "|---|---|",
            *(f"| `{t.replace('|', chr(92) + '|')}` | {cell(x)} |" for t, x in rows),
        ]
    if kind == "parameters":
        return [
            "| parameter | | meaning |",
            "|---|---|---|",
            *(f"| `{n}` | {d.replace(',', ', ')} | {cell(x)} |" for n, d, x in rows),
        ]
    return [
        "| name | value | meaning |",
        "|---|---|---|",
        *(
            f"| `{n}` | {'`' + v.replace('|', chr(92) + '|') + '`' if v else ''} | {cell(x)} |"
            for n, v, x in rows
        ),
    ]


def write_web(folder, pages, book):
    """The pages as Markdown, and an index of groups and of names."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, blocks in pages:
        (folder / f"{page.name}.md").write_text(mark_blocks(blocks, book, page.name))
    for guide in languages.guides(book.root):
        text = mark_blocks(languages.blocks(book.root, guide), book, guide.name)
        text = text.replace("```c\n", f"```{languages.FENCES[guide.language]}\n")
        (folder / f"{guide.web}.md").write_text(text)
    for name, blocks in tables.pages(book):
        if name != "tombolo-api":
            (folder / f"{name}.md").write_text(mark_blocks(blocks, book, name))
    out = [
        "# Reference",
        (
            "Every name of the public headers, in groups. The same pages are manual "
            "pages: `man gex_RMA_PutNB`. Settings: [tombolo-settings](tombolo-settings.md)."
        ),
    ]
    for include, group in tables.groups(book):
        out += [
            f"## {include}",
            "\n".join(f"* [{p.name}]({p.name}.md): {mark(p.title, book, p.name)}" for p in group),
        ]
    for language in languages.FENCES:
        rows = [g for g in languages.guides(book.root) if g.language == language]
        out += [
            f"## {language}",
            "\n".join(f"* [{g.name}]({g.web}.md): {mark(g.title, book, g.name)}" for g in rows),
        ]
    out.append("## Names")
    out.append(
        " ".join(f"[`{n}`]({book.where[n].name}.md)" for n in sorted(book.where, key=str.lower))
    )
    (folder / "index.md").write_text("\n\n".join(out) + "\n")
