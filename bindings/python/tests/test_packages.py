# SPDX-License-Identifier: BSD-3-Clause
"""The package as users get it: files of a wheel, and `make install`; types and command."""

import os
import re
import subprocess
import sys

import pytest
from conftest import BUILD, FAR, HERE, environment

PROGRAM = "import tombolo; j = tombolo.init(); print(j.allreduce(j.rank + 1), tombolo.__file__)"


def run_there(site, n, **more):
    """Runs the program with the package in `site` only; returns the folder it came from."""
    env = {**environment(**more), "PYTHONPATH": str(site)}
    words = [sys.executable, "-m", "tombolo", "run", "-n", str(n), "--timeout", "60"]
    done = subprocess.run(
        [*words, "-c", PROGRAM], env=env, cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = sorted(done.stdout.splitlines())
    assert len(lines) == n and lines[0].startswith(f"{n * (n + 1) // 2} ")
    return lines[0].split()[1]


def needed(path):
    """Which libraries an object would load, as ldd says."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True)
    assert "not found" not in done.stdout, done.stdout
    return done.stdout


def test_build_needs_no_numpy(tmp_path):
    """pip builds in an environment of its own, without the packages of the user."""
    (tmp_path / "probe.py").write_text((HERE.parent / "probe.py").read_text())
    alone = [sys.executable, "-I", "-S", tmp_path / "probe.py"]
    done = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "no NumPy\n")
    done = subprocess.run([*alone, "build"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count(";") == 3


def finds_races(site):
    """The checker is in the wheel, and finds a race of two lines."""
    program = "import tombolo; j = tombolo.init(); a = j.zeros(2); j.barrier(); a.put(0, 0, 1.0)"
    words = [sys.executable, "-m", "tombolo", "run", "-n", "2", "--timeout", "60"]
    done = subprocess.run(
        [*words, "--check", "races", "-c", program], env={**environment(), "PYTHONPATH": str(site)},
        cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 66 and "missing: " in done.stderr, done.stdout + done.stderr


def lists_commands(site):
    """Commands that need headers, compilers or benchmarks are listed apart."""
    done = subprocess.run(
        [site / "tombolo/_bin/tombolo", "--help"], capture_output=True, text=True, check=True
    )
    here, there = done.stdout.split("\nNot in this installation; ")
    for name in ("run", "why", "info", "doctor"):
        assert f"\n  {name} " in here and f"\n  {name} " not in there, done.stdout
    for name in ("cc", "c++", "fc", "upcc", "bench"):
        assert f"\n  {name} " in there and f"\n  {name} " not in here, done.stdout


def test_wheel(tmp_path):
    """The files that pip packs: they find each other, and nothing of the build tree."""
    site = tmp_path / "site"
    done = subprocess.run(
        ["cmake", "--install", str(BUILD), "--prefix", str(site), "--component", "wheel"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in site.iterdir()] == ["tombolo"]
    for path in [*site.glob("tombolo/_core*.so"), site / "tombolo/_bin/tombolo"]:
        libraries = needed(path)
        assert str(BUILD) not in libraries and str(site) in libraries, libraries
    assert run_there(site, 2) == str(site / "tombolo/__init__.py")
    assert run_there(site, 2, **FAR).startswith(str(site))
    finds_races(site)
    lists_commands(site)


def test_install(tmp_path):
    done = subprocess.run(
        ["cmake", "--install", str(BUILD), "--prefix", str(tmp_path)],
        env={**os.environ, "TMB_INSTALL_PAGES": "no"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    sites = list(tmp_path.glob("lib*/python3*/site-packages"))
    assert len(sites) == 1, "TMB_PYTHON_DIR"
    libraries = needed(next(sites[0].glob("tombolo/_core*.so")))
    assert str(tmp_path) in libraries and str(BUILD) not in libraries
    assert run_there(sites[0], 2).startswith(str(tmp_path))


@pytest.fixture
def arguments():
    """The function that makes the command line of the tombolo command."""
    sys.path.insert(0, str(BUILD / "python"))
    try:
        from tombolo.__main__ import arguments as made
    finally:
        sys.path.pop(0)
    return made


def test_command_line(arguments):
    python = sys.executable
    for given, want in [
        (["run", "-n", "4", "p.py", "-n"], ["run", "-n", "4", "--", python, "p.py", "-n"]),
        (["run", "--label", "-n4", "-m", "x"], ["run", "--label", "-n4", "--", python, "-m", "x"]),
        (["run", "-n", "2", "--", "x.py"], ["run", "-n", "2", "--", python, "x.py"]),
        (["run", "-n", "2", "hostname"], ["run", "-n", "2", "--", "hostname"]),
        (["run", "--trace", "o", "p.py"], ["run", "--trace", "o", "--", python, "p.py"]),
        (["run", "-np", "4", "p.py"], ["run", "-np", "4", "--", python, "p.py"]),
        (["run", "-np4", "-vE", "A=n", "p"], ["run", "-np4", "-vE", "A=n", "--", "p"]),
        (["run", "-EA=n", "--timeo", "5", "p"], ["run", "-EA=n", "--timeo", "5", "--", "p"]),
        (["info", "x.py"], ["info", "x.py"]),
        (["run", "--help"], ["run", "--help", "--"]),
    ]:
        assert arguments(given) == want


def test_options_with_a_value(arguments):
    """Each option of `tombolo run`, by its help: a program follows what the option takes."""
    words = [sys.executable, "-m", "tombolo", "run", "--help"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    found = re.findall(r"^ +(?:(-\w), +)?(--[\w-]+)(=\S)?", done.stdout, re.M)
    assert len(found) > 20 and ("-n", "--ranks", "=N") in found, done.stdout
    for short, long, value in found:
        for option in filter(None, (short, long)):
            given = ["run", option, *(["1"] if value else []), "p.py"]
            assert arguments(given) == [*given[:-1], "--", sys.executable, "p.py"], option


def test_without_numpy():
    """A Python without NumPy gets a remedy, not only the name of a module."""
    program = "import sys; sys.modules['numpy'] = None; import tombolo"
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"tombolo needs NumPy, which {sys.executable} does not have: install" in done.stderr


def test_types():
    """The package says that it is typed, and the stub names what the extension has."""
    package = BUILD / "python/tombolo"
    assert (package / "py.typed").exists()
    stub = (package / "_core.pyi").read_text()
    done = subprocess.run(
        [sys.executable, "-c", "import tombolo._core as c, json; print(json.dumps({n: [m for m in "
         "dir(getattr(c, n)) if not m.startswith('__')] for n in dir(c) if n[0] != '_'}))"],
        env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = {name for name in re.findall(r'"(\w+)"', done.stdout)}
    missing = [n for n in names if not re.search(rf"\b(def|class) {n}\b|\b{n}:", stub)]
    assert not missing, missing
