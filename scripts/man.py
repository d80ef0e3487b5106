#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages, docs/man/*.1, from the help that the commands print.

Usage: man.py TOMBOLO            says which pages are not what the help says; exit code 1 if any
       man.py TOMBOLO --write    writes them

A page has no other source: who changes an option runs it with --write.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "man"
COMMANDS = ("run", "ps", "why", "top", "view", "info", "doctor", "explain", "bench",
            "tune", "sim", "cc", "c++", "fc", "upcc", "upcrun")
NETWORK_SCRIPTS = ("gasnetrun_udp", "amudprun")
OPTION = re.compile(r"^ {2,6}(-\S.*?)(?: {2,}(\S.*))?$")
SEE = {"run": "docs/RUN.md", "ps": "docs/HANGS.md", "why": "docs/HANGS.md",
       "top": "docs/HANGS.md",
       "view": "docs/OBSERVE.md", "info": "docs/SETTINGS.md", "doctor": "docs/RUN.md",
       "explain": "tombolo-messages(7)",
       "bench": "docs/BENCHMARKS.md",
       "tune": "docs/COLLECTIVES.md",
       "sim": "docs/SIMULATION.md", "cc": "docs/book/from-gasnet.md", "c++": "docs/CPP.md",
       "fc": "docs/FORTRAN.md", "upcc": "docs/UPC.md",
       "upcrun": "docs/UPC.md"}


def quote(text):
    """A line of text for the formatter."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def help_of(command):
    """What a command prints when it is asked for help, whatever its exit code."""
    environment = {k: v for k, v in os.environ.items() if k != "ARGP_HELP_FMT"}
    done = subprocess.run([*command, "--help"], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.splitlines()


def prose(lines):
    """Lines of text as paragraphs; indented ones keep their form."""
    out, fixed = [], False
    for line in lines:
        indented = line.startswith(" ")
        if indented != fixed and (indented or line):
            out.append(".nf" if indented else ".fi")
            fixed = indented
        out.append(quote(line) if line else ".PP" if not fixed else "")
    while out and out[-1] == ".PP":
        out.pop()
    return [*out, ".fi"] if fixed else out


def options(lines):
    """[(option, [text])], [other lines]: of the help of a command."""
    found, rest = [], []
    for line in lines:
        match = OPTION.match(line)
        if match:
            found.append((match[1], [match[2]] if match[2] else []))
        elif found and line.startswith(" " * 20):
            found[-1][1].append(line.strip())
        else:
            rest.append(line)
    return found, rest


def section(name, lines):
    """A section, or nothing if it would be empty."""
    return [f".SH {name}", *lines] if any(lines) else []


def page(name, summary, text, see):
    """The lines of a page. in text: of the help, the first begins with Usage."""
    usage = []
    while text and (not usage or text[0].startswith("    ")):
        usage.append(text.pop(0))
    lists = name not in NETWORK_SCRIPTS  # the scripts explain theirs in sentences
    at = next((i for i, line in enumerate(text) if lists and OPTION.match(line)), len(text))
    found, rest = options(text[at:])
    while rest and not rest[0]:
        rest.pop(0)
    synopsis = " ".join(line.strip() for line in usage).split(":", 1)[-1].strip()
    listed = []
    for option, words in found:
        listed += [".TP", ".B " + quote(option), *map(quote, words)]
    return [
        ".\\\" SPDX-License-Identifier: BSD-3-Clause",
        ".\\\" Written by scripts/man.py from the command's help.",
        f".TH {name.upper()} 1 \"\" Tombolo \"User commands\"",
        *section("NAME", [f"{name} \\- {quote(summary)}"]),
        *section("SYNOPSIS", [quote(synopsis)]),
        *section("DESCRIPTION", prose(text[:at])),
        *section("OPTIONS", listed),
        *section("NOTES", prose(rest)),
        *section("SEE ALSO", [quote(see)]),
    ]


def script_of(name, folder):
    """A launcher with the options of others, as the installation writes it."""
    text = (ROOT / "cmake/install/gasnetrun_net.in").read_text()
    path = Path(folder) / name
    for mark, value in (("NAME", name), ("CONDUIT", "udp"), ("NET", "UDP"), ("SPAWNER", "hosts")):
        text = text.replace(f"@{mark}@", value)
    path.write_text(text)
    return ["sh", str(path)]


def all_pages(tombolo):
    """{file name: text}"""
    top = help_of([tombolo])
    summary = dict(re.findall(r"^  ([\w+]+) +(\S.*)$", "\n".join(top), re.M))
    others = ", ".join(f"tombolo-{c}(1)" for c in COMMANDS if c in summary)
    pages = {"tombolo": page("tombolo", "ranks of parallel programs: start, explain, measure", top,
                             others)}
    for c in COMMANDS:
        text = help_of([tombolo, c]) if c in summary else []
        if text and text[0].startswith("Usage"):  # not so where its program was not built
            pages[f"tombolo-{c}"] = page(f"tombolo-{c}", summary[c], text,
                                         f"tombolo(1), {SEE[c]}")
    with tempfile.TemporaryDirectory() as folder:
        for name in NETWORK_SCRIPTS:
            text = help_of(script_of(name, folder))
            if not text or not text[0].startswith("usage: "):
                raise SystemExit(f"man: {name} --help prints no usage: {' '.join(text)[:200]}")
            pages[name] = page(name, "start a program with the options of other launchers", text,
                               "tombolo-run(1), docs/RUN.md")
    return {f"{name}.1": "\n".join(lines) + "\n" for name, lines in pages.items()}


def missing(name, text, tombolo):
    """Options of the help that a page does not have."""
    plain = text.replace("\\-", "-")
    command = name[:-2].split("-", 1)
    if command[0] != "tombolo":
        return []
    words = re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", "\n".join(help_of([tombolo, *command[1:]])))
    return sorted({w for w in words if w not in plain})


def main():
    """Compares or writes."""
    tombolo, write = sys.argv[1], "--write" in sys.argv[2:]
    failed = False
    for name, text in all_pages(tombolo).items():
        path = PAGES / name
        lost = missing(name, text, tombolo)
        if lost:
            print(f"{name}: without {', '.join(lost)}")
            failed = True
        if name == "tombolo.1" and not write and len(text) < len(path.read_text()):
            continue  # a build without some of the commands
        if write:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"docs/man/{name} is not what the help says: scripts/man.py {tombolo} --write")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
