#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every call between files of this tree is one that LAYERS allows.

Usage: check_calls.py --build DIR
#include lines say what a file may know; the symbol tables of the objects say what it uses. A file
may use what is defined in the folders that its row of LAYERS names, and what is declared in a
header that the row names as a file: such a header is a contract, whoever fulfils it. What inline
functions of other folders' headers use is the business of those. Inline functions of public
headers count as defined in include/.

Files that call each other in a circle are a finding, within each target of PARTS and PROGRAMS.
Exits 77 without objects.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from tidy_layers import allows, layer_of, read_layers

PARTS = (  # targets whose objects are linked together
    "tmb_objects",
    "tombolo_net_udp_parts",
    "tombolo_net_ofi_parts",
    "tombolo_net_mpi_openmpi",
    "tombolo_net_mpi_mpich",
    "tmb_tool_objects",
    "tmb_caf_objects",
    "tmb_prif_objects",
    "python_core",
    "tmb_upc_objects",
    "tombolo_check",
    "tombolo_replay",
    "upc1",
    "tmb_shmem_objects",
)
EXPANDED = re.compile(r"src/api/(?:\w+_)?symbols\.c$")  # inline functions as real symbols


PROGRAMS = ("bench__*", "study__*", "study_upc_*", "tmb_bench_*_PAR", "tmb_test_support_*")


def programs(build):
    """Targets of programs that measure, and of what tests share, as far as they are built."""
    return sorted(path.stem for name in PROGRAMS
                  for path in (build / "CMakeFiles").glob(f"{name}.dir"))


def read_objects(build, root, part):
    """{source path: (names defined, names used)} of the objects of a target."""
    files, paths = {}, []
    folder = Path("CMakeFiles") / f"{part}.dir"
    for path in sorted((build / folder).rglob("*.o")):
        source = str(path.relative_to(build / folder))[: -len(".o")]
        if (root / source).exists():  # else left over from another state of the tree
            files[source] = (set(), set())
            paths.append(source + ".o")
    if not paths:
        return files
    done = subprocess.run(["nm", "-A", "-P", *paths], cwd=build / folder, stdout=subprocess.PIPE,
                          check=True)
    for line in done.stdout.decode().splitlines():
        path, _, symbol = line.partition(": ")
        name, kind = symbol.split(" ")[:2]
        defined, used = files[path[: -len(".o")]]
        if kind == "U":
            used.add(name)
        elif kind.isupper():
            defined.add(name)
    return files


class Texts:
    """Which names a file mentions."""

    def __init__(self, root):
        self.root, self.names = root, {}

    def own(self, user, name):
        """Whether a file, or a header of its folder, mentions a name."""
        folder = (self.root / user).parent
        headers = [str(p.relative_to(self.root)) for p in folder.glob("*.h")]
        return any(self.mentions(path, name) for path in [user] + headers)

    def mentions(self, path, name):
        if path not in self.names:
            file = self.root / path
            self.names[path] = set(re.findall(r"\w+", file.read_text())) if file.exists() else set()
        return name in self.names[path]


def check(files, layers, texts):
    """The uses that LAYERS does not allow, as (user, name, definer)."""
    home = {}
    for source, (defined, _) in files.items():
        for name in defined:
            home[name] = "include" if EXPANDED.match(source) else source
    for user, (_, used) in sorted(files.items()):
        layer = layer_of(user, layers)
        for name in sorted(used & home.keys()):
            definer = home[name]
            allowed = layer[1] if layer else []
            if allows(user, definer, layers):
                continue
            if any(p.endswith(".h") and texts.mentions(p, name) for p in allowed):
                continue
            if not texts.own(user, name):
                continue
            yield user, name, definer


def file_circles(files):
    """Sets of files of which each reaches all others of its set by calls, sorted."""
    own = {file: names for file, (names, _) in files.items() if not EXPANDED.match(file)}
    home = {name: file for file, names in own.items() for name in names}
    calls = {f: {home[n] for n in used if n in home} - {f} for f, (_, used) in files.items()}
    reach = {}
    for start in files:
        seen, todo = set(), list(calls[start])
        while todo:
            file = todo.pop()
            if file not in seen:
                seen.add(file)
                todo.extend(calls[file])
        reach[start] = seen
    in_circles = [file for file in files if file in reach[file]]
    return sorted({tuple(sorted(f for f in reach[g] if g in reach[f])) for g in in_circles})


def check_seen(build, sources):
    """Conduits that are built, but of which no file has been read: PARTS names another target."""
    for name in ("udp", "ofi", "mpi"):
        built = any((build / "CMakeFiles").glob(f"tombolo_net_{name}*.dir/**/*.c.o"))
        if built and not any(file.startswith(f"src/net/{name}/") for file in sources):
            yield f"no object of the conduit {name} was read"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    args = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    layers, texts = read_layers(root), Texts(root)
    parts = [files for part in [*PARTS, *programs(args.build)]
             if (files := read_objects(args.build, root, part))]
    if not parts:
        print(f"check_calls: skipped, no objects in {args.build}")
        return 77
    found, circles, sources = [], set(), set()
    for files in parts:
        for user, name, definer in check(files, layers, texts):
            found.append(f"{user}: uses {name} of {definer}, which LAYERS does not allow")
        circles.update(file_circles(files))
        sources.update(files)
    found += [f"circle of files: {' '.join(circle)}" for circle in sorted(circles)]
    found += check_seen(args.build, sources)
    print("\n".join([*found, f"check_calls: {len(sources)} objects, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
