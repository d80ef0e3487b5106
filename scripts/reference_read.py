# SPDX-License-Identifier: BSD-3-Clause
"""What the public headers say, as pages: the reading half of scripts/reference.py.

A page begins with a comment `Page NAME: title.` in a header, and has what is declared below it, up
to the next one. Lines `Word: text` of that comment are sections for the whole page. The comment
right above a declaration belongs to it, and to those that follow without an empty line. clang says
what is declared, with which types; the text of the header gives comments, macros and structures.
"""

import fnmatch
import json
import re
import subprocess
import tempfile
from pathlib import Path

import reference_forms as forms
from reference_comments import plain, split_comment, split_sections

PREFIXES = (
    r"(?:gex|gexx|gasnet|gasnett|GEX|GEXX|GASNET|GASNETT|PLATFORM|SIZEOF_GEX|SIZEOF_GASNET)_"
)
# Names of the library for itself that stand in public headers.
INTERNAL = re.compile(
    r"gexx_[a-z]|struct"
    r" gexx|GEXX_(?!SIG_|SEM_[BISM]|NOTIFY_|STATS_|PEER_|FAILURE_|ERR_|WAIT_|COLL_"
    r"|DIAG_)|GASNETI_|gasneti_|gasnetc_|_gasnet|PLATFORM_COMPILER_VERSION_[A-Z]+_C$"
)
# Names for programs in UPC; upcr_ is the runtime's.
UPC_NAME = re.compile(r"(?:upc|bupc|UPC|BUPC|pupc|tombolo_upc)_\w+$|MIN$|MAX$")
# Names of OpenSHMEM; those that end in _ are of its headers, those with _SHMEM older constants.
SHMEM_NAME = re.compile(
    r"(?:shmem|SHMEM)_\w*[^\W_]$|start_pes$|_my_pe$|_?num_pes$|sh\w*alloc$|shmemalign$|shfree$"
)
UPC_ALIASES = "tombolo_upc_names.h"
# How a program is compiled, as its head says.
COMMAND = re.compile(
    r"(?:tombolo (?:cc|c\+\+|fc|upcc)|oshcc) (?:.*&&\n \* +)?.*? -o \w+(?: -l\w+)*(?= &&|$)", re.M
)
HEAD_LINES = 14
LISTED = set()  # the names of tests/data/symbols.txt
NUMBERED = re.compile(r"((?:gex_AM_|gasnet_AM)\w+?)(?<!_v)(\d+)((?:_v2)?)$")
WIDTH = 79


class Family:
    """Headers that are read together: folder, what clang needs, which names are public."""

    def __init__(self, folder, flags, headers, is_public_):
        self.folder, self.flags, self.headers = folder, flags, headers
        self.is_public = is_public_

    def tops(self, root):
        """Names of the headers that a program includes."""
        return self.headers or [p.name for p in sorted((root / self.folder).glob("*.h"))]

    def paths(self, root):
        """All headers, and files that they include."""
        if self.headers:
            return [root / self.folder / name for name in self.headers]
        found = (root / self.folder).rglob("*")
        return sorted(p for p in found if p.suffix in (".h", ".def"))


class Entry:
    """One comment with what it explains. items: [(name, kind, synopsis, remark)]."""

    def __init__(self, comment, line):
        self.comment, self.line, self.items, self.parameters = comment, line, [], []

    @property
    def names(self):
        """The names that it explains."""
        return [item[0] for item in self.items]


class Page:
    """A page: name, title, header, text, sections {word: text}, parameters, entries."""

    def __init__(self, name, title, header):
        self.name, self.title, self.header, self.folder = name, title, header, "include"
        self.text, self.sections, self.parameters, self.entries = "", {}, {}, []
        self.numbered = set()

    def names(self):
        """All names that this page explains."""
        named = [n for n, _ in self.named() if "*" not in n]
        named = [n for n in named if n not in ("shared", "strict", "relaxed")]
        return list(dict.fromkeys([*(n for e in self.entries for n in e.names), *named]))

    def named(self):
        """[(name or pattern, text)] of the section Names."""
        rows = re.split(r";\s+(?=\w)", self.sections.get("Names", ""))
        rows = [row.partition(": ") for row in rows if ": " in row]
        return [(n.strip(), text.strip()) for ns, _, text in rows for n in ns.split(",")]

    def remark(self, name):
        """What the section Names says of a name."""
        return next((text for n, text in self.named() if fnmatch.fnmatchcase(name, n)), "")

    def has_calls(self):
        """Whether there is something that can be called."""
        return any(i[1] in ("function", "call") for e in self.entries for i in e.items)


def is_public(name):
    """Whether a name belongs to the interface."""
    if name in LISTED:
        return True
    return bool(re.match(PREFIXES, name)) and not INTERNAL.match(name) and name[-2:] != "_H"


SHARED = "__attribute__((address_space(1)))"
FAMILIES = (
    Family("include", ("-std=c11", "-DGASNET_PAR=1", "-D_GNU_SOURCE"), (), is_public),
    Family(
        "upc/include",
        ("-std=gnu11", f"-Dshared={SHARED}"),
        (
            "upc.h",
            "bupc_extensions.h",
            "upc_types.h",
            "upc_collective.h",
            "bupc_collectivev.h",
            "upc_nb.h",
            "upc_atomic.h",
            "upc_castable.h",
            "upc_tick.h",
            "upc_io.h",
            "pupc.h",
            "bupc_extern.h",
            "tombolo_upc.h",
        ),
        lambda name: bool(UPC_NAME.match(name)) and name[-2:] != "_H",
    ),
    Family(
        "shmem/include",
        ("-std=c11", "-DSHMEM_NO_GENERIC_"),
        (
            "shmem.h",
            "shmem/rma.h",
            "shmem/atomic.h",
            "shmem/coll.h",
            "shmem/wait.h",
            "shmem/deprecated.h",
        ),
        lambda name: bool(SHMEM_NAME.match(name)) and name[-2:] != "_H",
    ),
)


# ---- what clang says
def clang_declarations(root, folder, family):
    """{(file, line): [(name, kind, type, [parameter names])]} of all headers of a family."""
    include = root / family.folder
    tops = family.tops(root)
    with tempfile.NamedTemporaryFile("w", suffix=".c", dir=folder) as source:
        source.write("".join(f"#include <{name}>\n" for name in tops))
        source.flush()
        done = subprocess.run(
            [
                "clang",
                *family.flags,
                *(["-DGASNET_SEQ=1", f"-I{root / 'include'}"] if family.headers else []),
                f"-I{include}",
                "-w",
                "-fsyntax-only",
                "-Xclang",
                "-ast-dump=json",
                source.name,
            ],
            stdout=subprocess.PIPE,
            check=True,
        )
    text = done.stdout.decode().replace(SHARED, "shared")
    return found_in(json.loads(text), str(include) + "/")


def found_in(tree, include):
    """The declarations of clang's tree that stand in a folder."""
    at, found = {"file": "", "line": 0}, {}

    def spot(place):
        """Follows the positions, of which clang writes only what has changed."""
        for part in ("spellingLoc", "expansionLoc"):
            if part in place:
                spot(place[part])
        if "offset" in place:
            at["file"], at["line"] = place.get("file", at["file"]), place.get("line", at["line"])
        return at["file"], at["line"]

    def walk(node, depth):
        here = None
        for key, value in node.items():
            if key == "loc":
                here = spot(value)
            elif key == "range":
                spot(value["begin"])
                spot(value["end"])
            elif key == "inner":
                for inner in value:
                    walk(inner, depth + 1)
            elif isinstance(value, dict) and key not in ("type",):
                walk(value, depth + 2)
        if node.get("kind") == "EnumConstantDecl" and here and here[0].startswith(include):
            found.setdefault(here, []).append((node["name"], "constant", "", [], []))
        if depth == 1 and here and here[0].startswith(include) and node.get("name"):
            kind = {"FunctionDecl": "function", "TypedefDecl": "type", "VarDecl": "variable"}.get(
                node["kind"]
            )
            if kind:
                names = [
                    n.get("name", "") for n in node.get("inner", []) if n["kind"] == "ParmVarDecl"
                ]
                found.setdefault(here, []).append(
                    (
                        node["name"],
                        kind,
                        node["type"]["qualType"],
                        names,
                        [
                            n["type"]["qualType"]
                            for n in node.get("inner", [])
                            if n["kind"] == "ParmVarDecl"
                        ],
                    )
                )

    walk(tree, 0)
    return found


# ---- what the text says
def wrap(prototype):
    """A prototype in lines of at most WIDTH characters."""
    if len(prototype) <= WIDTH:
        return prototype
    head, rest = (
        prototype.split("(", 1) if "(*" not in prototype.split("(")[0] else (prototype, "")
    )
    indent = min(len(head) + 1, 24)
    lines, line = [], head + "("
    for i, piece in enumerate(rest.split(", ")):
        piece += "" if i == rest.count(", ") else ","
        gap = "" if line.endswith("(") else " "
        if len(line) + len(gap) + len(piece) > WIDTH and not line.strip().endswith("("):
            lines.append(line)
            line, gap = " " * indent, ""
        line += gap + piece
    return "\n".join([*lines, line])


def declare(kind, type_, name):
    """A declaration of C from its type and its name."""
    if "(*)" in type_:
        return type_.replace("(*)", f"(*{name})", 1)
    array = re.search(r"\[\w*\]$", type_)
    if array:
        return f"{type_[:array.start()].rstrip()} {name}{array[0]}"
    return f"{type_}{'' if type_.endswith('*') else ' '}{name}"


def function_text(name, type_, names, types):
    """The prototype of a function as clang knows it."""
    depth, cut = 0, len(type_)
    for i in range(len(type_) - 1, -1, -1):  # the last group of brackets are the parameters
        depth += (type_[i] == ")") - (type_[i] == "(")
        if depth == 0 and type_[i] == "(":
            cut = i
            break
    result = type_[:cut].strip()
    parameters = [declare("", t, n) for t, n in zip(types, names)]
    if type_.endswith("...)") or "..." in type_[cut:]:
        parameters.append("...")
    return wrap(f"{declare('', result, name)}({', '.join(parameters) or 'void'});")


def source_text(lines, number, name):
    """The prototype as the header writes it, without linkage macros; None if a macro makes it."""
    start = number - 1
    while start > 0 and not re.search(
        r"[;}]\s*(/\*.*)?$|\*/$|^\s*$|^#|\{$|\\$", lines[start - 1]
    ):
        start -= 1
    text = " ".join(lines[start : number + 12])
    match = re.search(rf"^(.*?\b{name}\(.*?\))\s*(?:[;{{]|__attribute__)", text)
    if not match or "\\" in match[1] or "#" in match[1] or ";" in match[1]:
        return None
    text = re.sub(
        r"\b(GEXX_API|GEXX_INLINE(_ALWAYS)?|GEXX_TOOLS_INLINE|GEXX_WARN_UNUSED|GEXX_NORETURN"
        r"|extern)\b"
        r"|__attribute__\(\(.*?\)\)",
        "",
        match[1],
    )
    return re.sub(r"\s+", " ", text).strip() + ";"


class Header:
    """One header: its lines, comments and macros, with the page that each line belongs to."""

    def __init__(self, path, name, text):
        self.path, self.name, self.lines = path, name, text.split("\n")
        self.comments = {}  # last line: (first line, text)
        self.code = re.sub(
            r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S
        ).split("\n")
        for match in re.finditer(r"/\*.*?\*/", text, re.S):
            first = text.count("\n", 0, match.start()) + 1
            last = text.count("\n", 0, match.end()) + 1
            begins = text[: match.start()].rsplit("\n", 1)[-1].strip() == ""
            self.comments[last] = (first, match[0], begins)

    def comment_for(self, number):
        """(first line, text) of the comment that a declaration in this line shares, or None."""
        line = number
        while line > 1:
            line -= 1
            found = self.comments.get(line)
            if found and found[2]:
                if re.match(r"/\*\s*(Page \w|-{3}|tidy-allow|clang-format)", found[1]):
                    return None
                return found[0], found[1]
            if found and not found[2] and found[0] < line:
                line = found[0]
            if not self.lines[line - 1].strip():
                return None
        return None

    def remark(self, number):
        """The comment at the end of a line, which may go on in the next one."""
        for last in range(number, min(number + 4, len(self.lines)) + 1):
            found = self.comments.get(last)
            if found and found[0] == number and not found[2]:
                return plain(found[1])
        return ""

    def macros(self):
        """[(line, name, parameters or None, value)]."""
        out, number = [], 0
        while number < len(self.code):
            match = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?(.*)", self.code[number])
            first = number
            value = match[3] if match else ""
            while self.code[number].rstrip().endswith("\\"):
                number += 1
                value = value.rstrip("\\ ") + " " + self.code[number].strip()
            if match:
                out.append(
                    (first + 1, match[1], match[2], re.sub(r"\s+", " ", value).strip(" \\"))
                )
            number += 1
        return out

    def pages(self):
        """[(line, Page, or the name of one that goes on here)]."""
        out = []
        for last, (first, text, begins) in sorted(self.comments.items()):
            more = re.match(r"/\*\s*Page (\S+) continued\. \*/", text) if begins else None
            if more:
                out.append((last, more[1]))
            match = re.match(r"/\*\s*Page (\S+): ", text) if begins else None
            if not match:
                continue
            said, sections = split_sections("/* " + text[match.end() :])
            title, _, more = said.partition(". ") if ". " in said else (said.rstrip("."), "", "")
            title = title.split("\n\n")[0].rstrip(".")
            page = Page(match[1], title, self.name)
            page.text, found = split_comment(more.strip())
            for names, direction, described in found:
                page.parameters.update({n: (direction, described) for n in names})
            page.sections, page.line = sections, first
            out.append((last, page))
        return out


def type_text(header, number):
    """A typedef as the header writes it, comments included, from the line of its name upwards."""
    depth, first = 0, number
    while first > 1:
        code = header.code[first - 1]
        depth += code.count("}") - code.count("{")
        if re.match(r"\s*typedef\b", code) and depth <= 0:
            break
        first -= 1
    last = number
    while not header.code[last - 1].rstrip().endswith(";") and last < len(header.lines):
        last += 1
    return first, "\n".join(line.rstrip() for line in header.lines[first - 1 : last])


def main_header(header):
    """The header that a program includes to get this one."""
    if header == "bupc_extensions.h":
        return "upc.h"
    if header.startswith("shmem/"):
        return "shmem.h"
    where, name = header.split("/"), header.rsplit("/", 1)[-1]
    if len(where) == 1:
        return header
    for folder, top in (("ext", "gasnetex_ext.h"), ("tools", "gasnet_tools.h")):
        if folder in where:
            return top
    return {
        "inline_ratomic.h": "gasnet_ratomic.h",
        "ratomic_types.def": "gasnet_ratomic.h",
        "vis_legacy.h": "gasnet_vis.h",
        "coll_legacy.h": "gasnet_coll.h",
        "inline_g1.h": "gasnet.h",
        "am_numbered_g1.h": "gasnet.h",
        "am_cxx_g1.h": "gasnet.h",
    }.get(name, "gasnetex.h")


def add(pages, header, number, item, strays):
    """Enters an item (name, kind, synopsis, remark) in its page and under its comment."""
    page = None
    for last, candidate in pages:
        if last < number:
            page = candidate
    if page is None:
        strays.append((header.path, number, item[0]))
        return
    found = header.comment_for(number)
    line, text = found or (0, "")
    entry = next((e for e in page.entries if line and e.line == line), None)
    if entry is None:
        entry = Entry(plain(text) if text else "", line or number)
        page.entries.append(entry)
    if item[0] not in {n for e in page.entries for n in e.names}:
        entry.items.append(item[:4])
        entry.parameters += [p for p in item[4] if p and p not in entry.parameters]


def items_of(header, declared, family):
    """[(line, name, kind, type, parameter names, parameter types)] of a header."""
    items = []
    for (file, number), found in declared.items():
        if file == str(header.path):
            for name, kind, type_, names, types in found:
                if family.is_public(name):
                    items.append((number, name, kind, type_, names, types))
    seen = {i[1] for i in items}
    for number, name, arguments, value in header.macros():
        if family.is_public(name) and name not in seen and not NUMBERED.match(name):
            seen.add(name)
            kind, names = "call" if arguments else "macro", re.findall(
                r"\w+|\.\.\.", arguments or ""
            )
            items.append((number, name, kind, arguments or value, names, []))
    return sorted(items, key=lambda i: i[0])


def synopsis_of(header, number, name, kind, type_, names, types):
    """(line that a comment stands above, text of the synopsis) of an item."""
    if kind == "function":
        text = source_text(header.lines, number, name)
        return number, wrap(text) if text else function_text(name, type_, names, types)
    if kind == "type":
        place, text = type_text(header, number)
        return place, text if name in text else f"typedef {declare('', type_, name)};"
    if kind == "constant":
        return type_text(header, number)[0], ""
    if kind == "variable":
        return number, f"extern {declare('', type_, name)};"
    return number, f"{name}{type_}" if kind == "call" else f"#define {name} {type_}".rstrip()


def read_family(root, family, everything, strays):
    """Adds what the headers of a family say to `everything`, and names above any page to strays."""
    with tempfile.TemporaryDirectory() as folder:
        declared = clang_declarations(root, folder, family)
    for path in family.paths(root):
        header = Header(path, str(path.relative_to(root / family.folder)), path.read_text())
        pages = []
        for last, page in header.pages():
            page = everything.get(page if isinstance(page, str) else page.name, page)
            page.folder = family.folder
            pages.append((last, page))
            everything.setdefault(page.name, page)
        for number, name, *rest in items_of(header, declared, family):
            kind, _, names, _ = rest
            place, text = synopsis_of(header, number, name, *rest)
            item = (name, kind, text, header.remark(number), names)
            add(pages, header, place, item, strays)


def with_types(entry, prototypes):
    """Gives the macros of an entry the prototypes that are known, and their parameters."""
    texts = [prototypes.get(name, "") for name in entry.names]
    if any(texts):
        pairs = zip(texts, entry.items)
        entry.items = [(n, k, wrap(text) if text else v, r) for text, (n, k, v, r) in pairs]
        named = [p for text in texts for p in re.findall(r"(\w+)(?=, )", text)]
        entry.parameters = list(dict.fromkeys([*entry.parameters, *named]))


def upc_aliases(root):
    """{name with upc_: name with bupc_} of BUPC_USE_UPC_NAMESPACE."""
    text = (root / "upc/include" / UPC_ALIASES).read_text()
    return dict(re.findall(r"#define (upc_\w+)\s+(bupc_\w+)", text))


def read(root):
    """([pages], {name: page}, strays): strays are public names above any page, with their lines."""
    root = Path(root)
    listed = (
        line.split("\t") for line in (root / "tests/data/symbols.txt").read_text().split("\n")
    )
    LISTED.update(row[0] for row in listed if len(row) > 1 and row[1] not in ("env", "field"))
    begun, strays = {}, []
    for family in FAMILIES:
        read_family(root, family, begun, strays)
    everything = list(begun.values())
    for page in everything:
        page.entries = [e for e in page.entries if e.items]
        page.forms = forms.Forms(root, page)
        for entry in page.entries:
            entry.items = [(n, k, v, r or page.remark(n)) for n, k, v, r in entry.items]
            with_types(entry, forms.messages(root))
        page.entries.sort(key=lambda e: e.line)
        page.include = main_header(page.header)
    return everything, {n: p for p in everything for n in p.names()}, strays


def command_of(path):
    """The command that compiles an example, or None."""
    head = "\n".join(path.read_text().split("\n")[:HEAD_LINES])
    found = COMMAND.search(head)
    return re.sub(r"\n \* +", " ", found[0]) if found else None


def example_blocks(root, example):
    """The section of an example, (file, lines): where it is from, and how that is compiled."""
    file, lines = example
    command = command_of(root / file)
    how = f", compiled by `{command}`" if command else ""
    return [("section", "EXAMPLE"), ("text", f"From {file}{how}:"), ("code", lines)]


def example_fault(root, example):
    """What is wrong with the example of a page, or None."""
    if not example:
        return "has no example: no program of examples uses its names"
    if not example[0].endswith(".py") and not command_of(root / example[0]):
        return f"shows {example[0]}, whose head has no command that compiles it"
    return None
