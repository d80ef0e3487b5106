# SPDX-License-Identifier: BSD-3-Clause
"""Rules of tidy.py on folders: edges that LAYERS allows, circles, rooms.
"""

import functools
import os
import re

GENERATED = {"build_info.h"}
ROOM_TREES = ("src/", "tools/", "coarray/", "prif/", "shmem/", "upc/", "include/tombolo/")
ROOM_ENDINGS = (".c", ".h", ".cc", ".def")
ROOM_FILES = 20


def read_layers(root):
    """The rules of LAYERS as a list of (folder pattern, allowed prefixes)."""
    layers = []
    for number, line in enumerate((root / "LAYERS").read_text(encoding="utf-8").split("\n"), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, arrow, allowed = line.partition("->")
        if not arrow:
            raise SystemExit(f"LAYERS:{number}: expected `FOLDER -> ALLOWED...`")
        layers.append((folder.strip(), allowed.split()))
    return layers


@functools.lru_cache(maxsize=None)
def _prefix_length(path, pattern):
    """Components of `pattern` when `path` lies under it (`*` is one component), else 0."""
    parts, wanted = path.split("/"), pattern.split("/")
    if len(parts) < len(wanted) or (wanted[-1] == "*" and len(parts) == len(wanted)):
        return 0
    return len(wanted) if all(w in ("*", p) for p, w in zip(parts, wanted)) else 0


@functools.lru_cache(maxsize=None)
def _rule_of(path, folders):
    """Index of the longest rule that matches, and how many components of `path` it covers."""
    lengths = [_prefix_length(path, folder) for folder in folders]
    best = max(range(len(folders)), key=lambda i: (lengths[i], "*" not in folders[i]))
    return best, lengths[best]


def layer_of(path, layers):
    """(the folder of `path`, allowed prefixes) by the longest matching rule, or None."""
    best, length = _rule_of(path, tuple(folder for folder, _ in layers))
    return ("/".join(path.split("/")[:length]), layers[best][1]) if length else None


def allows(path, target, layers):
    """Whether the file `path` may use the file `target`; None: LAYERS has no rule for `path`."""
    layer = layer_of(path, layers)
    if layer is None:
        return None
    own, allowed = layer
    if layer_of(target, layers) is not None and layer_of(target, layers)[0] == own:
        return True
    for prefix in allowed:
        if prefix.endswith("/."):
            if os.path.dirname(target) == prefix[:-2]:
                return True
        elif target == prefix or target.startswith(prefix + "/"):
            return True
    return False


def find_circle(layers):
    """Folders of LAYERS of which each may use the next one and the last one the first, or None."""
    folders = [folder for folder, _ in layers if not folder.endswith((".h", ".c"))]
    uses = {
        folder: [
            other
            for other in folders
            if other != folder and allows(folder + "/x.c", other + "/x.c", layers)
        ]
        for folder in folders
        if "*" not in folder
    }
    done = set()

    def visit(folder, path):
        if folder in path:
            return path[path.index(folder) :]
        if folder in done:
            return None
        for other in uses.get(folder, []):
            circle = visit(other, path + [folder])
            if circle:
                return circle
        done.add(folder)
        return None

    return next((circle for circle in (visit(folder, []) for folder in uses) if circle), None)


def resolve_include(root, path, name, quoted):
    """The file of this tree that an #include names, or None."""
    places = [os.path.dirname(path)] if quoted else []
    places += ["include", "src", "tools", "tests/lib", "tests", "bench", "study", "upc/include"]
    places += ["", "coarray", "prif", "upc/runtime", "upc/compiler", "shmem/include"]
    places.append("bindings/python/src/ext")
    if path.startswith("tests/plugin/"):
        places.append("plugins/cuda")
    for place in places:
        candidate = os.path.normpath(os.path.join(place, name))
        if (root / candidate).is_file():
            return candidate
    return None


def check_includes(file, root, layers):
    """Every edge between two files of the tree is one that LAYERS allows."""
    for number, line in enumerate(file.lines, 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
        if not match:
            continue
        quoted, name = match.group(1) == '"', match.group(2)
        if name.endswith((".c", ".cc")):
            yield number, "include-c", f"{name}: no source file includes another"
        target = resolve_include(root, file.path, name, quoted)
        if target is None:
            if quoted and name not in GENERATED:
                yield number, "layers", f"{name} is not in this tree (system headers take <>)"
            continue
        allowed = allows(file.path, target, layers)
        if allowed is None:
            yield number, "layers", f"LAYERS has no rule for {file.path}"
        elif not allowed:
            folder = layer_of(file.path, layers)[0]
            yield number, "layers", f"{folder} may not include {target}"


def check_circles(layers):
    """Folders that LAYERS lets use each other in a circle."""
    circle = find_circle(layers)
    if circle:
        yield f"LAYERS: circle: {' -> '.join([*circle, circle[0]])}"


def check_rooms(files, root):
    """A folder with sources has a README.md and holds at most ROOM_FILES of them, less tests."""
    rooms = {}
    for file in files:
        if file.path.startswith(ROOM_TREES) and file.path.endswith(ROOM_ENDINGS):
            tests = os.path.splitext(file.path)[0].endswith("_test")
            rooms.setdefault(os.path.dirname(file.path), []).append(not tests)
    for folder, sources in sorted(rooms.items()):
        if sum(sources) > ROOM_FILES:
            yield f"{folder}: room: {sum(sources)} sources, at most {ROOM_FILES}"
        if not (root / folder / "README.md").exists():
            yield f"{folder}: room: no README.md that says what comes in and what goes out"
