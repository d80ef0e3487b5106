# SPDX-License-Identifier: BSD-3-Clause
"""Pages that are tables: all groups of names (tombolo-api) and all settings (tombolo-settings).

Settings come from src/base/config.def. The blocks are those of scripts/reference_write.py.
"""

import functools
import re

import messages
import reference_languages as languages

ORDER = (
    "gasnetex.h",
    "gasnet_fwd.h",
    "gasnet_coll.h",
    "gasnet_ratomic.h",
    "gasnet_vis.h",
    "gasnet_mk.h",
    "gasnetex_ext.h",
    "gasnet.h",
    "gasnet_tools.h",
    "upc.h",
    "upc_types.h",
    "upc_collective.h",
    "upc_nb.h",
    "upc_atomic.h",
    "upc_castable.h",
    "upc_tick.h",
    "upc_io.h",
    "bupc_collectivev.h",
    "bupc_extern.h",
    "tombolo_upc.h",
    "pupc.h",
    "shmem.h",
)
ROW = re.compile(r"TMB_SETTING(_IGNORED|_WORDS|_PREFIX)?\((\w+), (.*?)\)\n(?=TMB_|/\*|\n|$)", re.S)
LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"(?:\s*\"(?:[^\"\\]|\\.)*\")*")
MESSAGE = re.compile(r"^TMB_MESSAGE(_PART|_CODE|_OLD)?\((\d+), (.*?)\)$", re.M | re.S)
ITEM = re.compile(r"\"(?:[^\"\\]|\\.)*\"(?:\s*\"(?:[^\"\\]|\\.)*\")*|[^,\s][^,]*")


def groups(book):
    """[(header, [pages])] in the order in which a reader meets them."""
    found = {}
    for page in book.pages:
        found.setdefault(page.include, []).append(page)
    return sorted(
        found.items(), key=lambda g: (ORDER.index(g[0]) if g[0] in ORDER else 99, g[0])
    )


def text_of(item):
    """The text of a literal, or None for NULL."""
    if item == "NULL":
        return None
    parts = re.findall(r"\"((?:[^\"\\]|\\.)*)\"", item)
    return "".join(parts).replace('\\"', '"') if parts else item.strip()


@functools.lru_cache
def settings(root):
    """[(group, names, default, allowed, help)] of config.def."""
    text = (root / "src/base/config.def").read_text()
    out, group = [], ""
    for part in re.split(r"(?m)^(?=TMB_SETTING_GROUP\()", text):
        head = re.match(r'TMB_SETTING_GROUP\("(.*)"\)\n', part)
        group = head[1] if head else group
        for suffix, _, rest in ROW.findall(part):
            items = [text_of(i.strip()) for i in ITEM.findall(rest)]
            if suffix == "_PREFIX":
                out.append((group, [items[0] + "*"], None, "", items[1]))
            elif suffix == "_IGNORED":
                out.append((group, [items[0]], items[2], "without effect", items[3]))
            elif suffix == "_WORDS":
                out.append((group, [items[0]], None, "without effect", items[2]))
            else:
                names = [n for n in items[:2] if n]
                allowed = {"BOOL": "1 or 0", "ENUM": (items[6] or "").replace("|", ", ")}.get(
                    items[2], items[2].lower()
                )
                if items[4] != items[5]:
                    allowed += f" from {items[4]} to {items[5]}"
                unit = items[6] if items[2] != "ENUM" and items[6] else ""
                out.append((group, names, items[3], f"{allowed} {unit}".strip(), items[7]))
    return out


def settings_page(book):
    """Blocks of tombolo-settings."""
    out = [
        ("title", "tombolo-settings", "environment variables that Tombolo reads"),
        ("section", "DESCRIPTION"),
        (
            "text",
            (
                "Settings are environment variables. The library reads them once, when a program"
                " starts. Where a setting has two names, the first one wins. An empty value"
                " counts as unset. A value that is not allowed ends the program with a message. A"
                " name that is not known is reported once, with the nearest one that is. `tombolo"
                " info --config` shows the values in effect and where they come from."
            ),
        ),
    ]
    last = None
    for group, names, default, allowed, said in settings(book.root):
        if group != last:
            out.append(("section", group))
            last = group
        facts = f"Default: {default if default is not None else 'unset'}." if allowed else ""
        facts += f" Allowed: {allowed}." if allowed else ""
        row = (", ".join(names), f"{said[:1].upper()}{said[1:]}. {facts}".strip())
        if out[-1][0] == "list":
            out[-1][1].append(row)
        else:
            out.append(("list", [row]))
    return [
        *out,
        ("section", "SEE ALSO"),
        ("see", ["tombolo-info(1)", "tombolo-run(1)", "tombolo-api"]),
    ]


def advice(root):
    """{number: (cause, what to do, example)} of single messages."""
    text = (root / "src/base/messages/advice.def").read_text()
    out = {}
    for row in re.split(r"(?m)^(?=TMB_ADVICE\()", text)[1:]:
        number, *words = re.match(r"TMB_ADVICE\((\d+)", row)[1], *LITERAL.findall(row)
        out[int(number)] = tuple(text_of(word) for word in words[:3])
    return out


def message_text(kind, form):
    """A format as a person reads it: "..." for each conversion, and around a part of a message."""
    form = re.sub(r"\bPRI\w+", "", form)
    form = re.sub(r"%[-+ 0-9.*]*(?:hh|ll|[hlzt])?[a-zA-Z]?", "...", text_of(form))
    if kind == "_PART":
        form = f"...{'' if form[:1] == ':' else ' '}{form} ..."
    return form.replace("......", "...")


def messages_page(book):
    """Blocks of tombolo-messages, from src/base/messages/messages.def and advice.def."""
    text = messages.read_table()
    single = advice(book.root)
    out = [
        ("title", "tombolo-messages", "numbered messages of Tombolo, and what to do"),
        ("section", "DESCRIPTION"),
        (
            "text",
            (
                "A message that ends a program, refuses something or warns has a number at its"
                " end, as [TMB-0107]. `tombolo explain TMB-0107` says the same as this page."
                " Three dots stand for a value or for further text."
            ),
        ),
    ]
    for part in re.split(r"(?m)^(?=TMB_MESSAGES\()", text)[1:]:
        head, _, rest = part.partition(")\nTMB_")
        _, title, cause, remedy, example = [text_of(i) for i in LITERAL.findall(head)][:5]
        out += [("section", title), ("text", f"Cause: {cause}")]
        out += [("text", f"What to do: {remedy}"), ("text", "Example:"), ("code", [example])]
        said = {}
        for kind, number, form in MESSAGE.findall("TMB_" + rest):
            said.setdefault(int(number), []).append(message_text(kind, form))
        rows = []
        for number, texts in said.items():
            if number in single:
                cause, remedy, example = single[number]
                texts += [f"Cause: {cause}", f"What to do: {remedy}", f"Example: `{example}`"]
            rows.append((f"TMB-{number:04}", "\n\n".join(texts)))
        out.append(("list", rows))
    return [*out, ("section", "SEE ALSO"), ("see", ["tombolo-explain(1)", "tombolo-settings"])]


def api_page(book):
    """Blocks of tombolo-api."""
    out = [
        ("title", "tombolo-api", "the pages of the Tombolo library, by header"),
        ("section", "DESCRIPTION"),
        (
            "text",
            (
                "Tombolo is a communication library for programs whose processes share a global"
                " address space. Each page below explains a group of names; the manual also finds"
                " a page by each of its names. Programs are compiled and linked with the words"
                " that `pkg-config gasnet-smp-par --cflags --libs` prints."
            ),
        ),
    ]
    for include, group in groups(book):
        out += [
            ("section", include),
            ("list", [(f"{p.name}(3)", p.title[:1].upper() + p.title[1:] + ".") for p in group]),
        ]
    for language in languages.FENCES:
        rows = [g for g in languages.guides(book.root) if g.language == language]
        out.append(("section", language))
        out.append(
            ("list", [(f"{g.name}(3)", g.title[:1].upper() + g.title[1:] + ".") for g in rows])
        )
    return [
        *out,
        ("section", "SEE ALSO"),
        ("see", ["tombolo(1)", "tombolo-run(1)", "tombolo-settings"]),
    ]


def pages(book):
    """[(name, blocks)] of the pages of section 7."""
    return [
        ("tombolo-api", api_page(book)),
        ("tombolo-settings", settings_page(book)),
        ("tombolo-messages", messages_page(book)),
    ]


@functools.lru_cache
def elsewhere(root):
    """Names that are no matter of the headers: variables of make fragments."""
    rows = (
        line.split("\t") for line in (root / "tests/data/symbols.txt").read_text().split("\n")
    )
    return {row[0] for row in rows if len(row) > 1 and row[1] == "make-var"}
