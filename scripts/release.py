#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a release: notes, source tarball, bill of materials, checksums and tag.

Usage: release.py [--dry-run] [--out DIR] [--build]

The version is that of CMakeLists.txt. Written to DIR (default: build/release):
  tombolo-VERSION.tar.gz       the sources of this commit; they build without a network
  tombolo-VERSION-notes.md     the part of CHANGELOG.md about this version
  tombolo-VERSION.spdx.json    what is in it and what it needs (SPDX 2.3)
  SHA256SUMS                   checksums of the three
--build also unpacks the tarball, builds, installs and uninstalls it, without network where that can
be had. Without --dry-run, the heading "Unreleased (VERSION)" of CHANGELOG.md becomes "VERSION
(date)" in a commit of its own, and this gets the annotated tag vVERSION; nothing is pushed.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDS = (  # (package, licence, relation, what for)
    ("glibc", "LGPL-2.1-or-later", "DEPENDS_ON", "C library, threads"),
    ("jansson", "MIT", "OPTIONAL_DEPENDENCY_OF", "results of tombolo bench"),
    (
        "libsodium",
        "ISC",
        "OPTIONAL_DEPENDENCY_OF",
        "encryption of conduit udp, loaded at run time",
    ),
    ("libpng", "libpng-2.0", "OPTIONAL_DEPENDENCY_OF", "snapshots of the benchmark hydro"),
    ("fftw", "GPL-2.0-or-later", "OPTIONAL_DEPENDENCY_OF", "benchmark ft"),
    ("openblas", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF", "benchmarks matmul and cholesky"),
    ("numpy", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF", "Python binding"),
    ("libfabric", "BSD-2-Clause", "OPTIONAL_DEPENDENCY_OF", "conduit ofi, loaded at run time"),
    ("openmpi", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF", "conduit mpi"),
    ("mpich", "mpich2", "OPTIONAL_DEPENDENCY_OF", "conduit mpi"),
    ("libpmix", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF", "start by mpirun, loaded at run time"),
    ("simgrid", "LGPL-2.1-only", "OPTIONAL_DEPENDENCY_OF", "tombolo sim"),
    ("cmake", "BSD-3-Clause", "BUILD_TOOL_OF", "build, 3.25 or later"),
)


def git(*words):
    """What git prints; the script ends where git fails."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"release.py: git {' '.join(words)} failed")
    return done.stdout.strip()


def version():
    """The version of CMakeLists.txt."""
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(tombolo VERSION (\d+\.\d+\.\d+)", text)[1]


def date_changes(number, today):
    """Gives the part of CHANGELOG.md about a version its date, in a commit. Once is enough."""
    path = ROOT / "CHANGELOG.md"
    text = path.read_text()
    dated = text.replace(f"## Unreleased ({number})", f"## {number} ({today})", 1)
    if dated == text:
        return
    path.write_text(dated)
    git("commit", "-q", "-m", f"Release {number}", "--", "CHANGELOG.md")


def notes(number):
    """The part of CHANGELOG.md about a version, under its own heading or as Unreleased."""
    text = (ROOT / "CHANGELOG.md").read_text()
    match = re.search(
        rf"^## (?:{re.escape(number)} \(|Unreleased \({re.escape(number)}\))[^\n]*\n"
        r"(.*?)(?=^## |\Z)",
        text,
        re.M | re.S,
    )
    if not match or not match[1].strip():
        raise SystemExit(f"release.py: CHANGELOG.md has no part about {number}")
    return f"# Tombolo {number}\n\n{match[1].strip()}\n"


def tarball(number, path):
    """The sources of this commit; the same commit gives the same bytes."""
    tar = subprocess.run(
        ["git", "-C", str(ROOT), "-c", "tar.umask=0022", "archive"]
        + [f"--prefix=tombolo-{number}/", "HEAD"],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    with path.open("wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(tar)


def materials(number, tar):
    """The bill of materials, SPDX 2.3."""
    commit = git("rev-parse", "HEAD")
    when = datetime.fromtimestamp(int(git("log", "-1", "--format=%ct")), timezone.utc)
    packages = [
        {
            "SPDXID": "SPDXRef-tombolo",
            "name": "tombolo",
            "versionInfo": number,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "BSD-3-Clause",
            "licenseDeclared": "BSD-3-Clause",
            "copyrightText": "NOASSERTION",
            "packageFileName": tar.name,
            "sourceInfo": f"git {commit}",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest(tar)}],
        }
    ]
    relations = [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-tombolo",
        }
    ]
    for name, licence, relation, use in NEEDS:
        packages.append(
            {
                "SPDXID": f"SPDXRef-{name}",
                "name": name,
                "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False,
                "licenseConcluded": "NOASSERTION",
                "licenseDeclared": licence,
                "copyrightText": "NOASSERTION",
                "comment": use,
            }
        )
        ends = ("SPDXRef-tombolo", f"SPDXRef-{name}")
        first, second = ends if relation == "DEPENDS_ON" else ends[::-1]
        relations.append(
            {"spdxElementId": first, "relationshipType": relation, "relatedSpdxElement": second}
        )
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"tombolo-{number}",
        "documentNamespace": f"urn:tombolo:{number}:{commit}",
        "creationInfo": {
            "created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: scripts/release.py"],
        },
        "packages": packages,
        "relationships": relations,
    }


def digest(path):
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(number, tar):
    """Builds library and command from the tarball, without a network where that can be had."""
    alone = (
        ["unshare", "-rn"]
        if shutil.which("unshare")
        and subprocess.run(
            ["unshare", "-rn", "true"], stderr=subprocess.DEVNULL, check=False
        ).returncode
        == 0
        else []
    )
    with tempfile.TemporaryDirectory(prefix="tombolo-release-") as name:
        shutil.unpack_archive(tar, name)
        source, prefix = Path(name) / f"tombolo-{number}", Path(name) / "prefix"
        where = {**os.environ, "DESTDIR": str(prefix)}
        commit = git("rev-parse", "--short=7", "HEAD")
        for step in (
            ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTMB_TESTS=OFF"],
            ["cmake", "--build", "build", "--target", "programs"],
            ["build/bin/tombolo", "run", "-n", "2", "build/examples/hello"],
            ["cmake", "--install", "build", "--prefix", "/usr"],
            ["sh", "-c", f"{prefix}/usr/bin/tombolo version | grep -F '({commit}'"],
            ["cmake", "-DPREFIX=/usr", "-P", "cmake/install/uninstall.cmake"],
        ):
            done = subprocess.run(
                [*alone, *map(str, step)],
                cwd=source,
                env=where,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                print(done.stdout[-3000:])
                raise SystemExit(f"release.py: {' '.join(map(str, step))} failed in the tarball")
        left = [p for p in prefix.rglob("*") if not p.is_dir() or p.is_symlink()]
        if left:
            raise SystemExit(f"release.py: uninstalling leaves {left[:5]}")
    print(
        "the tarball builds, installs and uninstalls"
        + (" without a network" if alone else " (with a network: no unshare)")
    )


def main():
    """Makes it."""
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parse.add_argument(
        "--dry-run", action="store_true", help="set no tag; changes may be uncommitted"
    )
    parse.add_argument("--out", type=Path, default=ROOT / "build/release")
    parse.add_argument("--build", action="store_true",
                       help="build, install and uninstall the tarball")
    options = parse.parse_args()
    if not (ROOT / ".git").exists():
        print("release.py: skipped: this is no clone of the repository")
        return 77
    number = version()
    changed = git("status", "--porcelain", "--untracked-files=no")
    if not options.dry_run:
        if changed:
            raise SystemExit("release.py: there are changes that are not committed: commit them")
        if git("tag", "--list", f"v{number}"):
            raise SystemExit(
                f"release.py: tag v{number} is there: raise VERSION in CMakeLists.txt"
            )
        date_changes(number, datetime.now(timezone.utc).strftime("%Y-%m-%d"))
    options.out.mkdir(parents=True, exist_ok=True)
    tar = options.out / f"tombolo-{number}.tar.gz"
    text, bill = (options.out / f"tombolo-{number}{end}" for end in ("-notes.md", ".spdx.json"))
    text.write_text(notes(number))
    tarball(number, tar)
    bill.write_text(json.dumps(materials(number, tar), indent=1) + "\n")
    sums = "".join(f"{digest(p)}  {p.name}\n" for p in (tar, text, bill))
    (options.out / "SHA256SUMS").write_text(sums)
    print(sums, end="")
    if options.build:
        build(number, tar)
    if options.dry_run:
        print(
            f"dry run: no tag v{number}" + ("; changes are not in the tarball" if changed else "")
        )
        return 0
    # Verbatim: headings of the notes begin with the sign of git's comments.
    git("tag", "-a", f"v{number}", "--cleanup=verbatim", "-F", str(text))
    print(f"tagged v{number}; push it with: git push origin v{number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
