#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the binary interface with that of tests/data/abi.txt, or writes that file.

Usage: abi_baseline.py [--lib build/lib/libtombolo.so] [--write]

The file has what programs and plug-ins are compiled against, on x86-64: functions and variables of
libtombolo.so, public types with their layout, values of public constants; and the types of each
interface for plug-ins with its version. Types are read from debug information by abidw (package
abigail-tools). What is added passes. What is removed or changed fails, for a program that is
compiled already would break: undo it, or accept it by --write and say so in CHANGELOG.md. The
types of an interface for plug-ins may change with its version only, and then --write is needed.
Exit code: 0 compatible, 1 not, 77 without abidw 2.2, whose names of types differ from those of
other versions, or for another processor.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tests/data/abi.txt"
HEAD = """# The binary interface on x86-64, by scripts/abi_baseline.py --write. An entry is a line;
# indented lines are of the one above: offset in bytes, name, type; or enumerator and value.
"""
SKIP = 77
UNKNOWN = "not known"  # the type of a function without declaration that the compiler has merged
X86_64 = 62  # e_machine of an ELF file
# Prefixes of names whose types are part of an interface: other types are named only.
PUBLIC, INTERNAL = ("gex", "gasnet"), ("gex", "gasnet", "tmb_")
CONSTANT = re.compile(r"\b(?:GEXX?|GASNETT?)_[A-Z0-9_]+\b")
# Values that differ from build to build, or are meant to change with each release.
NOT_CONSTANT = re.compile(
    r"VERSION|PLATFORM|COMPILER|_USE_|_HAVE_|DEBUG|UNOPTIMISED|GEXX_NO_IDENT|GEXX_TOOLS_PAGE|_PAR$"
)
# (name, header, macro of the version, types that one side gives the other)
PLUGINS = (
    ("conduit", "net/net.h", "TMB_NET_ABI", ("struct tmb_net_ops", "struct tmb_net_env")),
    ("mpi", "base/mpi_boot.h", "TMB_MPI_BOOT_ABI", ("struct tmb_mpi_boot",)),
    ("memory kind", "tombolo/mk_plugin.h", "GEXX_MK_PLUGIN_VERSION", ("struct gexx_mk_plugin",)),
)


class Skip(Exception):
    """The interface cannot be read here, and why."""


class Types:
    """The types of a corpus of abidw, spelled as text, with layouts of those that are reached."""

    KINDS = {"class-decl", "union-decl", "enum-decl", "typedef-decl", "type-decl",
             "pointer-type-def", "qualified-type-def", "array-type-def", "function-type"}

    def __init__(self, corpus, prefixes):
        self.corpus, self.prefixes = corpus, prefixes
        self.by_id = {}
        self.whole = {}  # name -> its definition, for what is only declared elsewhere
        self.entries = {}
        for element in corpus.iter():
            if element.tag in self.KINDS:
                self.by_id.setdefault(element.get("id"), element)
                if element.tag in ("class-decl", "union-decl") and not self.is_opaque(element):
                    self.whole.setdefault(element.get("name"), element)

    @staticmethod
    def is_opaque(element):
        return element.get("is-declaration-only") == "yes"

    def spell(self, number):
        """The text of a type. Its layout becomes an entry, if it is of the interface."""
        element = self.by_id[number]
        tag = element.tag
        if tag == "pointer-type-def":
            return self.spell(element.get("type-id")) + " *"
        if tag == "qualified-type-def":
            words = [word for word in ("const", "volatile", "restrict") if element.get(word)]
            return " ".join([self.spell(element.get("type-id")), *words])
        if tag == "array-type-def":
            sizes = "".join(f"[{s.get('length')}]" for s in element.iter("subrange"))
            return self.spell(element.get("type-id")) + sizes
        if tag == "function-type":
            return self.call(element)
        if element.get("is-anonymous") == "yes" and tag in ("class-decl", "union-decl"):
            word = "union" if tag == "union-decl" else "struct"
            inner = "; ".join(line.strip() for line in self.members(element))
            return f"{word} {{{inner}}}"
        return self.named(element)

    def call(self, element):
        """The text of a function's type."""
        words = [
            "..." if p.get("is-variadic") == "yes" else self.spell(p.get("type-id"))
            for p in element.findall("parameter")
        ]
        result = element.find("return")
        kind = "void" if result is None else self.spell(result.get("type-id"))
        return f"{kind} ({', '.join(words) or 'void'})"

    def named(self, element):
        """The name of a type; its entry is made when it is met first."""
        name, tag = element.get("name"), element.tag
        if tag in ("class-decl", "union-decl"):
            element = self.whole.get(name, element)
        if not name.startswith(self.prefixes) or name in self.entries:
            return name
        if tag == "typedef-decl":
            inner = self.by_id[element.get("type-id")]
            if inner.get("naming-typedef-id"):
                return self.named(inner)
            self.entries[name] = []
            self.entries[name] = [f"typedef {name} = {self.spell(element.get('type-id'))}"]
        elif tag == "enum-decl":
            values = [f"  {e.get('name')} {e.get('value')}" for e in element.iter("enumerator")]
            self.entries[name] = [f"enum {name}", *values]
        elif tag in ("class-decl", "union-decl"):
            word = "union" if tag == "union-decl" else "struct"
            self.entries[name] = []
            size = "opaque"
            if not self.is_opaque(element):
                size = f"{int(element.get('size-in-bits')) // 8} bytes"
            self.entries[name] = [f"{word} {name}: {size}", *self.members(element)]
        return name

    def members(self, element):
        """Lines of the members of a struct or union."""
        lines = []
        for member in element.findall("data-member"):
            var = member.find("var-decl")
            bits = int(member.get("layout-offset-in-bits") or 0)
            where = str(bits // 8) + (f".{bits % 8}" if bits % 8 else "")
            lines.append(f"  {where} {var.get('name')}: {self.spell(var.get('type-id'))}")
        return lines


def corpus_of(lib):
    """What abidw says of a library."""
    done = subprocess.run(
        ["abidw", "--no-show-locs", "--drop-undefined-syms", str(lib)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
    )
    if done.returncode:
        raise SystemExit(f"abi_baseline.py: abidw {lib}: {done.stderr.decode(errors='replace')}")
    return ElementTree.fromstring(done.stdout)


def variables(corpus):
    """The exported variables of a corpus: (name, number of the type)."""
    for element in corpus.iter("var-decl"):
        if element.get("elf-symbol-id"):
            yield element.get("name"), element.get("type-id")


class Probe:
    """Compiles one source that includes all public headers, with one line for each name."""

    def __init__(self, include, cc, work):
        headers = sorted(include.glob("*.h"), key=lambda p: (p.name != "gasnetex.h", p.name))
        self.head = "".join(f"#include <{p.name}>\n" for p in headers) + "#include <stdio.h>\n"
        self.base = work / "probe"
        self.options = [cc, "-std=gnu17", "-w", "-fmax-errors=0"]
        self.defines = ["-DGASNET_PAR=1", "-DGEXX_NO_IDENT=1", f"-I{include}"]

    def compile(self, names, line, tail, *options):
        """Compiles the lines of those names for which that is no error. Returns what it made."""
        source, plain, made = (self.base.with_suffix(end) for end in (".c", ".i", ".so"))
        for _ in range(20):
            lines = "".join(line.format(name) + "\n" for name in names)
            source.write_text(f"{self.head}#line 1\n{lines}{tail(names)}\n")
            subprocess.run([*self.options, *self.defines, "-E", str(source), "-o", str(plain)],
                           check=True)
            done = subprocess.run([*self.options, *options, str(plain), "-o", str(made),
                                   "-Wl,--unresolved-symbols=ignore-all"],
                                  stderr=subprocess.PIPE, text=True, check=False)
            wrong = {int(n) for n in re.findall(r"probe\.c:(\d+):\d+: error", done.stderr)}
            wrong = {n for n in wrong if n <= len(names)}
            if not wrong:
                break
            names = [name for number, name in enumerate(names, 1) if number not in wrong]
        if done.returncode:
            raise SystemExit(f"abi_baseline.py: the probe does not compile:\n{done.stderr[-2000:]}")
        return made


def definitions(lib):
    """The types of functions by what the library says: {name: text}. Some have none, because the
    compiler has made one function of two."""
    types = Types(corpus_of(lib), ())
    return {
        element.get("name"): types.call(element)
        for element in types.corpus.iter("function-decl")
        if element.get("elf-symbol-id")
    }


def exports(lib, probe):
    """Entries of the functions and variables of a library, and of the types they reach."""
    done = subprocess.run(["nm", "-D", "--defined-only", str(lib)], stdout=subprocess.PIPE,
                          text=True, check=True)
    rows = [line.split()[-2:] for line in done.stdout.splitlines()]
    # Pointers to them have their types, whatever the compiler has made of the functions.
    names = sorted(name.split("@")[0] for kind, name in rows if kind != "A")
    made = probe.compile(names, "__typeof__(&{0}) tmb_of_{0} = 0;", lambda _: "",
                         "-g", "-shared", "-fPIC")
    types = Types(corpus_of(made), PUBLIC)
    texts = definitions(lib)  # of functions that no header declares by this name
    texts |= {name.removeprefix("tmb_of_"): types.spell(number).removesuffix(" *")
              for name, number in variables(types.corpus)}
    entries = {}
    for kind, name in rows:
        if kind != "A":
            text = texts.get(name.split("@")[0], UNKNOWN)
            word = "function" if kind in "TWi" else "variable"
            line = f"{word} {name.replace('@@', '@')}: {text}"
            entries[key_of(line)] = [line]
    return entries | {key_of(lines[0]): lines for lines in types.entries.values()}


def constants(include, probe):
    """Entries of the public constants: the value of each name that is an integer constant."""
    text = "".join(p.read_text() for p in sorted(include.rglob("*")) if p.is_file())
    names = sorted(n for n in set(CONSTANT.findall(text)) if not NOT_CONSTANT.search(n))

    def main_of(names):
        prints = "".join(f'  printf("%s %lld\\n", "{n}", (long long)v_{n});\n' for n in names)
        return f"int main(void) {{\n{prints}}}"

    program = probe.compile(names, "enum {{ v_{0} = (long long)({0}) }};", main_of)
    said = subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {f"constant {line.split()[0]}": [f"constant {line}"] for line in said.splitlines()}


def plugin_entries(plugin, root, cc, work):
    """Entries of one interface for plug-ins: its version, and the types that are reached."""
    name, header, macro, kinds = plugin
    lib, head = work / "plugin.so", f'#define GASNET_PAR 1\n#include "{header}"\n'
    objects = "".join(f"{kind} tmb_{i} = {{0}};\n" for i, kind in enumerate(kinds))
    options = [cc, "-std=gnu17", "-w", f"-I{root / 'src'}", f"-I{root / 'include'}",
               "-D_GNU_SOURCE=1", "-DGEXX_NO_IDENT=1", "-x", "c", "-"]
    subprocess.run([*options, "-g", "-shared", "-fPIC", "-o", str(lib)], input=head + objects,
                   text=True, check=True)
    said = subprocess.run([*options, "-E", "-P"], input=f"{head}tmb_version_is {macro}\n",
                          stdout=subprocess.PIPE, text=True, check=True)
    types = Types(corpus_of(lib), INTERNAL)
    for _, number in variables(types.corpus):
        types.spell(number)
    begin, version = f"plug-in {name}: ", re.search(r"tmb_version_is (\d+)", said.stdout)[1]
    heads = [[f"{begin}{macro} {version}"]]
    heads += [[begin + lines[0], *lines[1:]] for lines in types.entries.values()]
    return {key_of(lines[0]): lines for lines in heads}


def current(lib, root, cc):
    """All entries of this tree: {key: lines}."""
    with open(lib, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") != X86_64:
        raise Skip("the library is not for x86-64")
    with tempfile.TemporaryDirectory(prefix="tombolo-abi-") as name:
        probe = Probe(root / "include", cc, Path(name))
        entries = exports(lib, probe) | constants(root / "include", probe)
        for plugin in PLUGINS:
            entries |= plugin_entries(plugin, root, cc, Path(name))
    return entries


def read(text):
    """The entries of the file."""
    entries = {}
    for line in text.splitlines():
        if line.startswith(" "):
            lines.append(line)
        elif line and not line.startswith("#"):
            lines = [line]
            entries[key_of(line)] = lines
    return entries


def key_of(line):
    """What names an entry: its first line without the value."""
    if line.startswith("plug-in "):
        name, _, rest = line.partition(": ")
        return name if re.match(r"[A-Z_]+ \d+$", rest) else f"{name}: {key_of(rest)}"
    return " ".join(re.split(r"[:@=]", line)[0].split()[:2])


def is_grown_enum(was, now):
    """Whether an enumeration has new values only."""
    return was[0].startswith("enum ") and set(was) < set(now)


def is_unknown(was, now):
    """Whether one of two types of a function is not known."""
    heads = [lines[0].split(": ") for lines in (was, now)]
    return heads[0][0] == heads[1][0] and UNKNOWN in (heads[0][-1], heads[1][-1])


def plugin_findings(old, new):
    """What is wrong with the interfaces for plug-ins."""
    findings = []
    for name, _, macro, _ in PLUGINS:
        head, begin = f"plug-in {name}", f"plug-in {name}: "
        was = {key: lines for key, lines in old.items() if key.startswith(begin)}
        now = {key: lines for key, lines in new.items() if key.startswith(begin)}
        keys = sorted(k for k in was.keys() | now.keys() if was.get(k) != now.get(k))
        if old.get(head) == new.get(head) and keys:
            findings += [changed(key, was.get(key, []), now.get(key, [])) for key in keys]
            findings.append(f"{head} has changed: raise {macro}, and record it by --write")
        elif old.get(head) != new.get(head):
            findings.append(f"{head}: {old.get(head)} is now {new.get(head)}: record it by --write")
    return findings


def changed(key, was, now):
    """The text of one change."""
    lines = [f"    - {line}" for line in was if line not in now]
    lines += [f"    + {line}" for line in now if line not in was]
    return "\n".join([f"{key} {'changed' if now and was else 'is new' if now else 'is missing'}",
                      *(lines or ["    (the order of its lines)"])])


def compare(old, new):
    """Compares two sets of entries. Returns the findings that fail, and the keys that are new."""
    findings, added = [], []
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key, []), new.get(key, [])
        if key.startswith("plug-in ") or was == now:
            continue
        if not was or (now and is_grown_enum(was, now)):
            added.append(key)
        elif not now or not is_unknown(was, now):
            findings.append(changed(key, was, now))
    return findings + plugin_findings(old, new), added


def report(old, new):
    """Prints what has changed. Returns the exit code."""
    findings, added = compare(old, new)
    for finding in findings:
        print(finding)
    if added:
        print(f"abi_baseline.py: added, which breaks nothing: {', '.join(added)}. "
              "`scripts/abi_baseline.py --write` guards these, too.")
    if not findings:
        print(f"abi_baseline.py: {len(new)} entries, compatible with {FILE.name}")
        return 0
    print("abi_baseline.py: NOT compatible: programs or plug-ins that are compiled already may "
          "break. Undo the change. Or accept it: run `scripts/abi_baseline.py --write`, commit "
          f"{FILE.relative_to(ROOT)}, and say in CHANGELOG.md what must be compiled again.")
    return 1


def main():
    """Compares or writes."""
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parse.add_argument("--lib", type=Path, default=ROOT / "build/lib/libtombolo.so")
    parse.add_argument("--cc", default="cc", help="compiler of the probes (default: cc)")
    parse.add_argument("--write", action="store_true", help=f"write {FILE.relative_to(ROOT)}")
    options = parse.parse_args()
    try:
        if not shutil.which("abidw"):
            raise Skip("there is no abidw (package abigail-tools)")
        said = subprocess.run(["abidw", "--version"], capture_output=True, text=True, check=False)
        if " 2.2" not in said.stdout + said.stderr:
            raise Skip(f"not abidw 2.2, but {said.stdout.strip()}")
        if not options.lib.exists():
            raise SystemExit(f"abi_baseline.py: there is no {options.lib}: run `make build` first")
        new = current(options.lib, ROOT, options.cc)
    except Skip as why:
        print(f"abi_baseline.py: skipped: {why}")
        return SKIP
    if not options.write:
        return report(read(FILE.read_text()), new)
    FILE.write_text(HEAD + "".join("\n".join(new[key]) + "\n" for key in sorted(new)))
    print(f"abi_baseline.py: {len(new)} entries written to {FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
