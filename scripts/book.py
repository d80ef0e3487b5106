#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Book: docs/book and the other pages of docs as one site.

Usage: book.py site [--out DIR] [--venv DIR]    builds the site with mkdocs (`make book`)
       book.py check                            checks links and listings, without mkdocs
       book.py listings                         writes the listings into the chapters again
       book.py run [--build DIR] [PAGE...]      runs the commands that the chapters print, or, as
                                                page `examples`, compiles each as its head says

A listing of a program in docs/book stands below `<!-- listing: PATH:NAME -->`. It is the part of
that file between the comments `book: NAME` and `book end`, or the whole file without `:NAME`. The
tests compile and run these files. A block `sh` is run as printed, in a copy of examples/, with an
installation in $HOME/tombolo, unless `<!-- not run: REASON -->` stands above it. It must end with
the exit code 0, or N below `<!-- exit N -->`. What it exports holds for the blocks after it. Each
line of a block `text` below `<!-- output -->` must be in what the block before it has printed;
numbers and blanks may differ. A line `…` stands where printed lines are left out.
mkdocs is installed in the folder --venv when it is not there; without a registry the site is
skipped: exit code 77, or 0 with --lenient.
"""

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from reference_read import command_of

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BOOK = DOCS / "book"
LISTING = re.compile(r"<!-- listing: ([^\s:]+)(?::(\S+))? -->")
MARK = re.compile(r"^\s*(?:/\*|//|!|#)\s*book(?:: (\S+)| end)\s*(?:\*/)?\s*$")
FENCE = re.compile(r"^( *)```(.*)$")
ITEM = re.compile(r"(?:[*+-]|\d+\.) +")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAME = r"\b(?:gex|gexx|gasnet|gasnett|GEX|GEXX|GASNET|TOMBOLO|bupc|BUPC|caf)_\w+"
EXAMPLES = BOOK / "examples.md"  # stands for the heads of all examples
CODE = ("c", "cpp", "c++", "fortran", "python", "upc")
FOLDERS = {"python": "bindings/python/examples"}  # of chapters whose commands run elsewhere
CUT = "…"  # a line of shown output, for those that are left out
LIMIT = 300  # seconds for one block of commands
RECORD_LINES = 40  # of a decision
RELEASE_LINES = 60  # of CHANGELOG.md


class Wrong(Exception):
    """A page that does not follow the rules; the text says where and what."""


# ---- listings


def part_of(path, name):
    """The lines of a file between its marks, or all without a name; marks are left out."""
    file = ROOT / path
    if not file.is_file():
        raise Wrong(f"{path}: there is no such file to list")
    out, inside, found = [], not name, not name
    for line in file.read_text(encoding="utf-8").splitlines():
        mark = MARK.match(line)
        if mark and name:
            inside = mark.group(1) == name
            found = found or inside
        elif not mark and inside:
            out.append(line)
    if not found:
        raise Wrong(f"{path}: has no part 'book: {name}'")
    indent = min((len(line) - len(line.lstrip()) for line in out if line.strip()), default=0)
    return [line[indent:] for line in out]


def blocks_of(text):
    """Yields (line number, language, lines, line above) of each fenced block of a page."""
    start, language, inside, above = 0, "", [], ""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and not start:
            start, language, inside = number, fence.group(2).strip(), []
            above = lines[number - 2].strip() if number > 1 else ""
        elif fence:
            yield start, language, inside, above
            start = 0
        elif start:
            inside.append(line)
    if start:
        raise Wrong(f"line {start}: the block has no end")


def expand(text):
    """A page whose listings have the path of their file as a title."""
    out = text.splitlines()
    for number, line in enumerate(out[:-1]):
        listing = LISTING.fullmatch(line.strip())
        if listing and FENCE.match(out[number + 1]):
            out[number + 1] += f' title="{listing.group(1)}"'
    return "\n".join(out) + "\n"


def relisted(text):
    """A page with its listings as their files have them now."""
    out, lines = [], iter(text.splitlines())
    for line in lines:
        out.append(line)
        listing = LISTING.fullmatch(line.strip())
        opening = listing and FENCE.match(next(lines, ""))
        if listing and not opening:
            raise Wrong(f"no block stands below '{line}'")
        if opening:
            end = opening.group(1) + "```"
            while next(lines, end) != end:
                pass
            out += [opening.group(0), *part_of(*listing.groups()), end]
    return "\n".join(out) + "\n"


def write_listings():
    """Writes the listings into the chapters again; returns the exit code."""
    for page in sorted(BOOK.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        now = relisted(text)
        if now != text:
            page.write_text(now, encoding="utf-8")
            print(f"book: written: {page.relative_to(ROOT)}")
    return 0


# ---- the page of the tools, from the manual pages


def list_lines(text):
    """Yields (line, depth, beyond): in how many items of lists a line lies, and its columns beyond
    where their text begins; None inside a fenced block, and in a blank line."""
    begins, fence = [], False
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        if not bare or fence:
            fence ^= bare.startswith("```")
            yield line, len(begins), None
            continue
        while begins and indent < begins[-1]:
            begins.pop()
        beyond = indent - (begins[-1] if begins else 0)
        yield line, len(begins), beyond
        fence = bare.startswith("```")
        item = ITEM.match(bare)
        if item and beyond < 4:
            begins.append(indent + len(item[0]))


def deep_lists(text):
    """The text for Python-Markdown: it wants each level of a list indented by four columns, where
    other readers of Markdown want it below the text of the item above. It wants an empty line, too,
    before an item that follows a further paragraph of the item before."""
    out, shift, before, loose = [], 0, "", False
    for line, depth, beyond in list_lines(text):
        item = beyond is not None and ITEM.match(line.lstrip(" "))
        if item and loose and before.strip():
            out.append("")
        loose = not item and (loose or (depth > 0 and not before.strip()))
        before = line
        if beyond is not None:
            shift = 4 * depth + beyond - (len(line) - len(line.lstrip(" ")))
        left = min(-shift, len(line) - len(line.lstrip(" ")))
        moved = " " * shift + line if shift > 0 else line[left:]
        out.append(moved if line.strip() else line)
    return "\n".join(out)


def check_lists(page, text):
    """Yields blocks of code that follow a list, and so are text of its last item."""
    before = ""
    for number, (line, depth, beyond) in enumerate(list_lines(text), 1):
        swallowed = depth and beyond in (1, 2, 3) and not ITEM.match(line.lstrip(" "))
        if swallowed and not before.strip():
            yield f"{page.relative_to(ROOT)}:{number}: text of the item above; fence it by ```"
        before = line


def plain(text):
    """Text of a manual page without the formatter's escapes."""
    return text.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\")


def tool_of(page):
    """One manual page (docs/man/*.1, which scripts/man.py writes) as a section."""
    out, fixed, part, item = [], False, "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        macro, _, rest = line.partition(" ")
        text = plain(line) if fixed or part == "SYNOPSIS" else html.escape(plain(line), quote=False)
        if macro in ('.\\"', ".TH") or part == "SEE" and macro != ".SH":
            continue
        if part == "SYNOPSIS" and macro == ".SH":
            out += ["```", ""]
        if macro == ".SH":
            part = rest.split()[0]
            out += {"NAME": [], "SYNOPSIS": ["", "```text"], "SEE": []}.get(part, [""])
        elif macro in (".nf", ".fi"):
            fixed = macro == ".nf"
            out += ["", "```text"] if fixed else ["```", ""]
        elif macro in (".PP", ".TP"):
            out.append("")
        elif macro == ".B":
            out.append(f"`{plain(rest)}`")
            item = True
        else:
            out.append(":   " + text if item else "    " + text if part == "OPTIONS" else text)
            item = False
    name = page.stem.replace("tombolo-", "tombolo ")
    return "\n".join([f"## {name}", "", *out])


def settings_page(text):
    """docs/SETTINGS.md with two columns instead of five, so that it fits a page."""

    def row(line):
        cells = [cell.strip() for cell in line.strip("|").replace("\\|", "\0").split("|")]
        if not line.startswith("|") or len(cells) != 5:
            return line
        name, default, allowed, unit, meaning = cells
        if name in ("name", "---"):
            return f"| {name} | {meaning} |"
        facts = f"default {default}; {allowed}{', ' + unit if unit else ''}"
        return f"| {name} | {meaning}.<br><small>{facts}</small> |".replace("\0", "\\|")

    return "\n".join(map(row, text.split("\n")))


def tools_page():
    """The reference of all commands."""
    head = "# Tools\n\nThis page is made from the help of each command, as `--help` prints it.\n"
    pages = sorted((DOCS / "man").glob("*.1"))
    pages.sort(key=lambda page: not page.stem.startswith("tombolo"))
    return "\n\n".join([head, *map(tool_of, pages)]) + "\n"


# ---- checks without mkdocs


def check_blocks(page, text):
    """Yields what is wrong with the fenced blocks of a chapter."""
    for number, language, lines, above in blocks_of(text):
        where = f"{page.relative_to(ROOT)}:{number}"
        listing = LISTING.fullmatch(above)
        if language in CODE and not listing:
            yield f"{where}: a program is listed from a tested file: <!-- listing: PATH:NAME -->"
        elif language not in (*CODE, "sh", "text", "make", "cmake", "toml", "yaml"):
            yield f"{where}: '{language}' is no language of a block; sh and text are"
        try:
            if listing and part_of(*listing.groups()) != lines:
                yield f"{where}: differs from {listing.group(1)}: run scripts/book.py listings"
        except Wrong as wrong:
            yield f"{where}: {wrong}"
        if above.startswith("<!-- not run") and not re.fullmatch(r"<!-- not run: .{8,} -->", above):
            yield f"{where}: say why: <!-- not run: REASON -->"


def known_names():
    """All words of the public headers, the settings and the tools."""
    words = set()
    for folder in ("include", "upc", "coarray", "bindings/python/src", "src/base", "tools",
                   "cmake/install", "tests/data"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".h", ".hpp", ".def", ".in", ".txt", ".c", ".f90", ".cc"):
                words.update(re.findall(r"\w+", file.read_text(encoding="utf-8", errors="replace")))
    return words


def spelt_out(token):
    """All words that a token with braces stands for: NAME{A,B} is NAMEA and NAMEB."""
    first, brace, rest = token.partition("{")
    middle, closing, end = rest.partition("}")
    if not brace or not closing:
        return [token]
    return [first + part + tail for part in middle.split(",") for tail in spelt_out(end)]


def check_names(page, text, known):
    """Yields names of ours in a chapter that nothing declares; NAME{A,B} is NAMEA and NAMEB."""
    for code in re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^ *```.*?^ *```$", "", text)):
        code = " ".join(word for token in code.split() for word in spelt_out(token))
        for name in re.findall(NAME, code):
            family = name.endswith(("_", "N")) or f"{name}..." in code or f"{name}*" in code
            if name not in known and not (family and any(w.startswith(name[:-1]) for w in known)):
                yield f"{page.relative_to(ROOT)}: nothing declares {name}"


def check_links(page, text):
    """Yields links of a page that lead to no file; of a page of docs, to none of docs."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`", "", text)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:|#", target):
            continue
        path = target.partition("#")[0]
        file = (page.parent / path).resolve()
        if not file.is_file():
            yield f"{page.relative_to(ROOT)}: the link {target} leads nowhere"
        elif DOCS in page.parents and DOCS not in file.parents:
            yield f"{page.relative_to(ROOT)}: the link {target} leaves docs, so the book lacks " \
                  f"it: write `{file.relative_to(ROOT)}`"


def check_commands(page, text):
    """Yields scripts that a line of commands starts by their paths, and that cannot be started."""
    for path in re.findall(r"^ {4}(?:[A-Z_]+=\S+ )*(\w[\w/.-]*/[\w.-]+\.(?:sh|py))\b", text, re.M):
        if (ROOT / path).is_file() and not os.access(ROOT / path, os.X_OK):
            yield f"{page.relative_to(ROOT)}: {path} is not executable"


def check_ignored(page, text):
    """Yields programs that commands of a page make in the sources, and that git takes for new."""
    folder = ROOT / FOLDERS.get(page.stem, "examples") if page.parent == BOOK else ROOT
    for program in re.findall(r"(?m)^ *(?:tombolo )?\w*cc\b.* -o ([\w.]+)", text):
        asked = ["git", "-C", folder, "check-ignore", "--quiet", program]
        if subprocess.run(asked, stderr=subprocess.DEVNULL, check=False).returncode == 1:
            yield f"{page.relative_to(ROOT)}: no .gitignore names the program {program}"


def check_headings(page, text):
    """Yields headings that stand behind other words of their line, so that they are none."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`", "", text)
    for line in re.findall(r"^(?! {4}).*\S[ \t]+#{2,6} \S.*$", text, re.M):
        yield f"{page.relative_to(ROOT)}: begin a line with the heading of: {line}"


def check_reach():
    """Yields pages of docs to which no path of links leads from docs/README.md."""
    reached, ahead = set(), [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached and page.suffix == ".md" and page.is_file():
            reached.add(page)
            ahead += [(page.parent / target.partition("#")[0]).resolve()
                      for target in LINK.findall(page.read_text(encoding="utf-8"))]
    for page in sorted(set(DOCS.glob("**/*.md")) - reached):
        yield f"{page.relative_to(ROOT)}: no link leads there from docs/README.md"


def check_records():
    """Yields decisions that are no short records any more."""
    for record in sorted(DOCS.glob("DECISIONS/[0-9]*.md")):
        count = len(record.read_text(encoding="utf-8").splitlines())
        if count > RECORD_LINES:
            yield f"{record.relative_to(ROOT)}: {count} lines, at most {RECORD_LINES}: move the " \
                  "measurements to study/journal"


def check_changelog():
    """Yields releases of CHANGELOG.md that are no summaries: each has what it adds and changes."""
    for part in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        count = len(part.splitlines())
        if count > RELEASE_LINES:
            yield f"CHANGELOG.md: {count} lines of {part.splitlines()[0]}, at most " \
                  f"{RELEASE_LINES}: name what users of the last release see"


def check_settings():
    """Yields settings of docs/SETTINGS.md of which no page says when to set them."""
    listed = (DOCS / "SETTINGS.md").read_text(encoding="utf-8").partition("## Accepted")[0]
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("**/*.md")
                    if page.name != "SETTINGS.md" and page.parent.name != "DECISIONS")
    named = set(re.findall(r"\w+", pages))
    for row in re.findall(r"^\| (`.*?`) \|", listed, re.M):
        names = re.findall(r"`(\w+)`", row)
        if not named & set(names):
            yield f"docs/SETTINGS.md: no other page says when to set {' or '.join(names)}"


def check():
    """The quick check; returns the exit code."""
    faults, chapters, known = [], sorted(BOOK.glob("*.md")), known_names()
    study = sorted((ROOT / "study").glob("**/*.md"))
    pages = (*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("DECISIONS/*.md")), *study, *chapters)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        faults += [*check_links(page, text), *check_lists(page, text), *check_headings(page, text),
                   *check_commands(page, text)]
        if page in chapters:
            faults += [*check_names(page, text, known), *check_ignored(page, text)]
            try:
                faults += check_blocks(page, text)
            except Wrong as wrong:
                faults.append(f"{page.relative_to(ROOT)}: {wrong}")
    for page in sorted(ROOT.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        faults += [*check_headings(page, text), *check_ignored(page, text)]
    faults += [*check_reach(), *check_records(), *check_settings(), *check_changelog()]
    print("\n".join(faults + [f"book: {len(chapters)} chapters, {len(faults)} faults"]))
    return 1 if faults or not chapters else 0


# ---- commands


def install(build, home):
    """An installation of the build tree in HOME/tombolo, as the chapters have it."""
    done = subprocess.run(["cmake", "--install", build, "--prefix", str(home / "tombolo")],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"cmake --install failed: {done.stderr[-400:]}")


def squeezed(line):
    """A line in which numbers and blanks are alike."""
    return re.sub(r"0x[0-9a-f]+|[0-9]+(?:\.[0-9]+)?", "0", " ".join(line.split()))


def python_of(build, home):
    """The folder of a `python3` that has NumPy, best the one that the build tree has found; None
    without one."""
    cache = (Path(build) / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(?:Python3?|TMB_PYTHON)_EXECUTABLE:\w+=(.+)$", cache, re.M)
    for python in (*found, "/usr/bin/python3", sys.executable):
        done = subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False)
        if done.returncode == 0:
            (home / "bin").mkdir()
            (home / "bin" / "python3").symlink_to(python)
            return home / "bin"
    return None


def run_block(lines, folder, environment):
    """Runs one block of commands in a folder; returns its exit code and what it has printed."""
    kept = folder / ".exports"
    script = [f"test ! -f {kept} || source {kept}", *lines, f"export -p >{kept}"]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(script)], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout


def output_fault(shown, printed):
    """What is wrong with a block that shows what commands have printed, or None."""
    wanted = Counter(squeezed(line) for line in shown if line.strip() not in ("", CUT))
    have = Counter(squeezed(line) for line in printed.splitlines() if line.strip())
    if missing := "\n".join(wanted - have):
        return f"not printed: {missing}\nbut:\n{printed[-2000:]}"
    cut = [] if any(line.strip() == CUT for line in shown) else [*have - wanted]
    return f"printed, too: '{cut[0]}'; show it, or write a line {CUT}" if cut else None


def run_page(page, home, environment):
    """Runs the blocks of a chapter one after the other; yields (line, what is wrong or None)."""
    printed = ""
    folder = home / page.stem
    shutil.copytree(ROOT / FOLDERS.get(page.stem, "examples"), folder)
    for number, language, lines, above in blocks_of(page.read_text(encoding="utf-8")):
        if language == "sh" and not above.startswith("<!-- not run"):
            code, printed = run_block(lines, folder, environment)
            wanted = int((re.findall(r"<!-- exit (\d+) -->", above) or ["0"])[0])
            yield number, f"exit code {code}:\n{printed[-2000:]}" if code != wanted else None
        elif above == "<!-- output -->":
            yield number, output_fault(lines, printed)


def compile_examples(home, environment):
    """Compiles each example by the command of its head; yields (file, what is wrong or None)."""
    folder = home / "compiled"
    shutil.copytree(ROOT / "examples", folder)
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        command = command_of(file) if file.suffix not in (".md", ".o") else None
        if command and not (command.startswith("tombolo fc") and lacking("fortran", home, None)):
            code, printed = run_block([command], file.parent, environment)
            yield f"examples/{file.relative_to(folder)}", f"{command}\n{printed}" if code else None


def lacking(name, home, python):
    """Why the commands of a chapter cannot be run here, or None."""
    libraries = home / "tombolo" / "lib"
    if name == "python" and not (python and list(libraries.glob("python3*"))):
        return "no Python with NumPy, or the package was not built"
    if name == "fortran" and not list(libraries.glob("libcaf_tombolo*")):
        return "no gfortran, so the library of coarrays was not built"
    return None


def run(build, names):
    """Runs the commands of the chapters; returns the exit code."""
    pages = [BOOK / f"{name}.md" for name in names] or [*sorted(BOOK.glob("*.md")), EXAMPLES]
    count = failed = 0
    with tempfile.TemporaryDirectory(prefix="tombolo-book-") as place:
        home = Path(place)
        install(build, home)
        python = python_of(build, home)
        environment = {
            **os.environ, "HOME": place, "PKG_CONFIG_PATH": f"{place}/tombolo/lib/pkgconfig",
            "PATH": f"{place}/tombolo/bin:{python or '/usr/bin'}:{os.environ['PATH']}",
        }
        for page in pages:
            if why := lacking(page.stem, home, python):
                print(f"book: {page.relative_to(ROOT)}: skipped: {why}")
                continue
            found = compile_examples if page == EXAMPLES else partial(run_page, page)
            for place, wrong in found(home, environment):
                count += 1
                if wrong:
                    failed += 1
                    print(f"{page.relative_to(ROOT)}:{place}: {wrong}")
    print(f"book: {count} blocks of {len(pages)} chapters, {failed} failed")
    return 1 if failed or not count else 0


# ---- the site


def find_mkdocs(venv):
    """The mkdocs of the folder, installed there if need be; None without a registry."""
    mkdocs = venv / "bin" / "mkdocs"
    if mkdocs.is_file() and (venv / "ready").is_file():
        return mkdocs
    print(f"book: installing mkdocs-material in {venv}")
    for command in ([sys.executable, "-m", "venv", str(venv)],
                    [str(venv / "bin" / "pip"), "install", "-q", "mkdocs-material>=9.5,<10"]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"book: {error}")
            return None
        if done.returncode:
            print((done.stderr or done.stdout).strip()[-400:])
            return None
    (venv / "ready").touch()
    return mkdocs


def site_faults(out):
    """What the built site lacks: anchors of messages and settings, the order of the search."""
    messages = (ROOT / "src/base/messages/messages.def").read_text(encoding="utf-8")
    numbers = re.findall(r"^TMB_MESSAGE(?:_CODE)?\((\d+),", messages, re.M)
    table = (DOCS / "SETTINGS.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ((?:`\w+`(?:<br>)?)+) \|", table, re.M)
    settings = re.findall(r"\w+(?=`)", " ".join(cells))
    pages = {"SETTINGS.html": settings}
    if (out / "reference").is_dir():  # made where clang is
        pages["reference/tombolo-messages.html"] = [f"TMB-{int(n):04}" for n in numbers]
    for page, names in pages.items():
        text = (out / page).read_text(encoding="utf-8")
        there = set(re.findall(r'id="([\w-]+)"', text))
        yield from (f"{page} has no anchor {name}" for name in names if name not in there)
        if not names:
            yield f"{page}: no names are looked for"
    index = json.loads((out / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    boosts = {place: {doc.get("boost", 1) for doc in index if doc["location"].startswith(place)}
              for place in ("book/", "RUN", "DECISIONS/")}
    if not all(boosts.values()) or not (min(boosts["book/"]) > max(boosts["RUN"])
                                        and min(boosts["RUN"]) > max(boosts["DECISIONS/"])):
        yield f"the search does not list chapters before references before decisions: {boosts}"


def site(out, venv):
    """Builds the site; returns the exit code."""
    mkdocs = find_mkdocs(venv)
    if not mkdocs:
        print("book: skipped: mkdocs-material cannot be installed from a registry here. "
              "Install python3-venv, or give --venv a folder that has it.")
        return 77
    out.parent.mkdir(parents=True, exist_ok=True)
    config = out.parent / f"{out.name}-mkdocs.yml"
    config.write_text(
        f"INHERIT: {BOOK / 'mkdocs.yml'}\ndocs_dir: {DOCS}\nsite_dir: {out}\n"
        f"hooks: [{BOOK / 'hooks.py'}]\n", encoding="utf-8")
    done = subprocess.run(
        [str(mkdocs), "build", "--strict", "-f", str(config)], text=True, check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print("".join(line for line in done.stdout.splitlines(True) if not line.startswith("INFO")))
        return 1
    faults = list(site_faults(out))
    for fault in faults:
        print(f"book: {fault}")
    print(f"book: {out}/index.html")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("site", "check", "listings", "run"))
    parser.add_argument("names", nargs="*", help="chapters to run")
    parser.add_argument("--build", default=str(ROOT / "build"), help="build tree")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "book")
    parser.add_argument("--venv", type=Path, default=ROOT / "build" / "book-venv")
    parser.add_argument("--lenient", action="store_true",
                        help="do not fail where the site is skipped")
    options = parser.parse_intermixed_args()
    try:
        if options.what == "check":
            return check()
        if options.what == "listings":
            return write_listings()
        if options.what == "run":
            return run(str(Path(options.build).resolve()), options.names)
        code = site(options.out.resolve(), options.venv.resolve())
        return 0 if code == 77 and options.lenient else code
    except Wrong as wrong:
        print(f"book: {wrong}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
