#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the recipes of packaging/: each can be read, and names the version of CMakeLists.txt.

What needs a program that is not here (rpmspec, nix-instantiate, PyYAML) is named and left out.
"""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
INSTRUCTIONS = (
    "FROM",
    "RUN",
    "COPY",
    "WORKDIR",
    "USER",
    "ENTRYPOINT",
    "CMD",
    "ENV",
    "ARG",
    "LABEL",
)


def run(*words):
    """What is wrong with a file by a program, or that the program is missing."""
    if not shutil.which(words[0]):
        print(f"check_packaging: no {words[0]}: {Path(words[-1]).name} is not parsed by it")
        return []
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return [done.stdout.strip()] if done.returncode else []


def check_containerfile(path):
    """Instructions and what they copy."""
    stages, text = set(), re.sub(r"^#.*\n", "", path.read_text(), flags=re.M)
    for line in re.sub(r"\\\n", " ", text).splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] not in INSTRUCTIONS:
            yield f"{path.name}: {words[0]} is no instruction"
        if words[0] == "FROM" and "AS" in words:
            stages.add(words[-1])
        if words[0] == "COPY" and words[1].startswith("--from=") and words[1][7:] not in stages:
            yield f"{path.name}: there is no stage {words[1][7:]}"
    if not stages:
        yield f"{path.name}: no stage builds"


def check_options(path):
    """The options for cmake that a recipe uses exist."""
    known = set(re.findall(r"option\((\w+)", (ROOT / "cmake/TmbOptions.cmake").read_text()))
    for option in sorted(set(re.findall(r"\bTMB_[A-Z]+", path.read_text())) - known):
        yield f"{path.name}: cmake has no option {option}"


def check_flake(path):
    """Brackets pair, outside of comments and strings."""
    text = re.sub(r"#[^\n]*|\"(?:[^\"\\]|\\.)*\"", "", path.read_text())
    stack = []
    for sign in re.findall(r"[\[\](){}]", text):
        if sign in "[({":
            stack.append(sign)
        elif not stack or stack.pop() != {"]": "[", ")": "(", "}": "{"}[sign]:
            yield f"{path.name}: `{sign}` closes nothing"
            return
    if stack:
        yield f"{path.name}: `{stack[-1]}` is not closed"


def check_yaml(path):
    """The recipe of conda as YAML."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("check_packaging: no PyYAML: recipe.yaml is not parsed by it")
        return
    recipe = yaml.safe_load(path.read_text())
    for part in ("package", "source", "build", "requirements", "tests", "about"):
        if part not in recipe:
            yield f"{path.name}: no {part}"


def main():
    """All checks."""
    number = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
    spec, spack, conda = (
        PACKAGING / p for p in ("tombolo.spec", "spack/package.py", "conda/recipe.yaml")
    )
    container, flake = PACKAGING / "Containerfile", ROOT / "flake.nix"
    said = [
        *run("rpmspec", "-P", str(spec)),
        *run("nix-instantiate", "--parse", str(flake)),
        *check_containerfile(container),
        *check_flake(flake),
        *check_yaml(conda),
    ]
    try:
        names = [n.name for n in ast.parse(spack.read_text()).body if isinstance(n, ast.ClassDef)]
        said += [] if names == ["Tombolo"] else [f"package.py: classes {names}, not Tombolo"]
    except SyntaxError as error:
        said.append(f"package.py: {error}")
    for path in (spec, spack, conda, flake):
        said += list(check_options(path))
        if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", path.read_text()):
            said.append(f"{path.name}: does not name version {number} of CMakeLists.txt")
    print("\n".join(said) if said else "check_packaging: recipes can be read")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
