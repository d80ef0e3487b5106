# SPDX-License-Identifier: BSD-3-Clause
"""The build backend of the package (PEP 517): builds with cmake, and packs the wheel.

`pip install bindings/python` and `make python` call it. It needs cmake, a compiler and what
scripts/install_deps.sh installs, and nothing from a package index. With TMB_BUILD in the
environment, that build tree is used and kept; without it one is made in a temporary folder. The
wheel holds the library, its plug-ins and the tombolo command, so it needs no installed Tombolo.
As a program: backend.py FOLDER writes the wheel into a folder and prints its path.
"""

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAME = "tombolo"
SUMMARY = "PGAS communication: ranks that share NumPy arrays"


def version():
    """The version of the project, as CMakeLists.txt has it."""
    for line in (ROOT / "CMakeLists.txt").read_text().splitlines():
        if line.startswith("project(tombolo VERSION"):
            return line.split()[2]
    raise RuntimeError(f"no version in {ROOT}/CMakeLists.txt")


def run(*words):
    """Runs a command of the build; its output is shown only when it fails."""
    done = subprocess.run(
        [str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        raise RuntimeError(f"{' '.join(str(w) for w in words)} failed")


def install(build, prefix):
    """Builds, and installs the files of the wheel below prefix/wheel."""
    given = os.environ.get("TMB_BUILD")
    build = Path(given) if given else build
    if not (build / "CMakeCache.txt").exists():
        run(
            "cmake", "-S", ROOT, "-B", build, "-DTMB_TESTS=OFF",
            "-DTMB_BENCH=OFF", "-DTMB_EXAMPLES=OFF", "-DTMB_UPC=OFF", "-DTMB_FORTRAN=OFF",
            f"-DTMB_PYTHON_EXECUTABLE={sys.executable}",
        )  # fmt: skip
    run("cmake", "--build", build, "--target", "wheel_files", "-j", os.cpu_count() or 1)
    run("cmake", "--install", build, "--prefix", prefix, "--component", "wheel")
    if not (prefix / "wheel/tombolo").is_dir():
        raise RuntimeError("cmake has left the binding out: install python3-dev and python3-numpy")


def files_of(folder):
    """(name in the wheel, path) of each file; of a library only the name that programs load."""
    targets = {p.resolve() for p in folder.rglob("*") if p.is_symlink()}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (path.is_symlink() or path.resolve() not in targets):
            yield path.relative_to(folder).as_posix(), path


def tag(folder):
    """The wheel's tag: which Pythons can load the extension, and the platform."""
    platform = f"linux_{os.uname().machine}"
    if list(folder.glob("tombolo/_core.abi3.so")):
        return f"cp311-abi3-{platform}"
    name = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{name}-{name}{sys.abiflags}-{platform}"


def metadata(wheel_tag):
    """The files of the dist-info folder, less RECORD."""
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n"
        f"Summary: {SUMMARY}\nLicense: BSD-3-Clause\nRequires-Python: >=3.11\n"
        "Requires-Dist: numpy\n\n" + (HERE / "README.md").read_text(),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: tombolo\nRoot-Is-Purelib: false\n"
        f"Tag: {wheel_tag}\n",
        "entry_points.txt": "[console_scripts]\ntombolo = tombolo.__main__:main\n",
        "top_level.txt": "tombolo\n",
    }


def pack(folder, wheel_directory):
    """Writes the wheel of an installed folder; returns its file name."""
    wheel_tag = tag(folder)
    name = f"{NAME}-{version()}-{wheel_tag}.whl"
    info = f"{NAME}-{version()}.dist-info"
    record = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as out:

        def add(path, data, mode):
            entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")

        for path, source in files_of(folder):
            add(path, source.read_bytes(), 0o755 if os.access(source, os.X_OK) else 0o644)
        for path, text in metadata(wheel_tag).items():
            add(f"{info}/{path}", text.encode(), 0o644)
        record.append(f"{info}/RECORD,,")
        out.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return name


# ---- what PEP 517 asks for
def get_requires_for_build_wheel(config_settings=None):
    """Nothing from a package index."""
    del config_settings
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel; returns its file name."""
    del config_settings, metadata_directory
    with tempfile.TemporaryDirectory() as scratch:
        install(Path(scratch) / "build", Path(scratch) / "prefix")
        return pack(Path(scratch) / "prefix/wheel", wheel_directory)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
