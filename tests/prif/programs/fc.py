#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""`tombolo fc`: which compiler it takes, what it adds, and what it says without one.

Compilers are small scripts that print a version. The last case runs flang-22, where it is.
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ["TOMBOLO"]
FLANG = "flang version {0} (made up)\nTarget: none"
PROGRAM = """
integer :: total
total = this_image()
call co_sum(total)
if (total == num_images()*(num_images() + 1)/2) print '(a)', 'sum ok'
if (this_image() == 2) stop 3
end
"""
USE = """
use iso_c_binding
use prif
integer(c_int) :: sum, images
call prif_this_image_no_coarray(this_image=sum)
call prif_num_images(images)
call prif_co_sum(sum)
if (sum == images*(images + 1)/2) print '(a)', 'sum ok'
end
"""
failures = 0


def fc(*arguments, **variables):
    """Exit code and output of tombolo fc; the variables replace those that choose a compiler."""
    env = {k: v for k, v in os.environ.items() if k not in ("FC", "TOMBOLO_FC")} | variables
    done = subprocess.run([TOMBOLO, "fc", *map(str, arguments)], env=env, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expect(what, result, code, *words, absent=()):
    global failures
    good = result[0] == code and all(w in result[1] for w in words)
    if not good or any(w in result[1] for w in absent):
        print(f"FAILED {what}: exit {result[0]}, wanted {code} and {words}:\n{result[1]}")
        failures += 1


def compiler(folder, name, version):
    """A compiler that prints its version."""
    path = folder / name
    text = FLANG.format(version) if "gnu" not in name else "GNU Fortran 13"
    path.write_text(f'#!/bin/sh\ncase $1 in --version) echo "{text}" ;;\n'
                    f'-dumpversion) echo {version} ;; *) echo "ran $*" ;; esac\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def choices(folder):
    new, old = compiler(folder, "flang-22", "22.1.8"), compiler(folder, "flang-19", "19.1.7")
    far = compiler(folder, "flang-new", "99.0.0")
    other = compiler(folder, "my-compiler", "22.1.8")
    expect("option", fc(f"--compiler={new}", "-c", "x.f90"), 0, "ran -fcoarray -c x.f90",
           absent=("-fcoarray=lib", "-l"))
    expect("TOMBOLO_FC", fc("-c", "x.f90", TOMBOLO_FC=str(new)), 0, "ran -fcoarray -c x.f90")
    expect("FC", fc("-c", "x.f90", FC=str(new)), 0, "ran -fcoarray -c x.f90")
    expect("FC of another name", fc("--show", "-c", "x.f90", FC="ifx -O2"), 0,
           "gfortran -fcoarray=lib")
    expect("TOMBOLO_FC before FC", fc("--show", "-c", "x.f90", TOMBOLO_FC="gfortran", FC=str(new)),
           0, "gfortran -fcoarray=lib")
    expect("its version tells", fc("--show", "-c", "x.f90", TOMBOLO_FC=str(other)), 0,
           "my-compiler -fcoarray -c")
    expect("too old", fc(f"--compiler={old}", "x.f90"), 1, "is flang 19", "flang 22 or newer")
    expect("missing", fc("--compiler=flang-77", "x.f90"), 127, "'flang-77' not found")
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    expect("no module", fc(f"--compiler={far}", "x.f90", **cache), 1,
           "cannot compile the module prif", "docs/PRIF.md", "ran -O2")
    expect("only compiled", fc(f"--compiler={far}", "-c", "x.f90", **cache), 0,
           "ran -fcoarray -c")
    left = [path for path in (folder / "cache").rglob("*") if not path.is_dir()]
    expect("what a failure leaves", (0 if not left else left, ""), 0)
    eleven = compiler(folder, "gfortran-gnu", "11.4.0")
    expect("gfortran 11", fc("--prif", f"--compiler={eleven}", "x.f90", **cache), 1,
           "is gfortran 11", "gfortran 12 or newer")
    expect("prif", fc("--prif", "--show", "-c", "x.f90"), 0, "gfortran -fcoarray=none -c x.f90")
    expect("help", fc("--help"), 0, "flang", "--prif")


def installed_before(folder, command):
    """An installation, read only, that is older than a compiler: the module is made at its first
    use, once, also by two commands at the same time. PRIF of the compiler, and its modules."""
    root, library = folder / "older", Path(TOMBOLO).resolve().parent.parent / "lib"
    later, cache = root / "lib/tombolo/fortran/prif", folder / "of the user"
    (root / "bin").mkdir(parents=True)
    later.parent.mkdir(parents=True)
    shutil.copy(TOMBOLO, root / "bin/tombolo")
    later.symlink_to(library / "tombolo/fortran/prif")
    for path in library.glob("lib*.so*"):
        (root / "lib" / path.name).symlink_to(path)
    (folder / "sum.f90").write_text(PROGRAM)
    env = os.environ | {"XDG_CACHE_HOME": str(cache)}
    compile_it = [root / "bin/tombolo", "fc", "--prif", f"--compiler={command}",
                  folder / ("sum.f90" if "flang" in command else "use.f90"), "-o"]
    (folder / "use.f90").write_text(USE)
    started = [subprocess.Popen([*compile_it, folder / name], env=env, stderr=subprocess.PIPE)
               for name in ("one", "two")]
    for process in started:
        said = process.communicate()[1]
        expect("first use", (process.returncode, said.decode()), 0)
    made = list((cache / "tombolo/fortran").iterdir())
    expect("one folder", (len(made), str(made)), 1)
    before = (made[0] / "prif.o").stat().st_mtime_ns
    subprocess.run([*compile_it, folder / "two"], env=env, check=False, capture_output=True)
    expect("made once", ((made[0] / "prif.o").stat().st_mtime_ns, ""), before)
    done = subprocess.run([TOMBOLO, "run", "-n", "3", folder / "two"], capture_output=True,
                          text=True, check=False)
    expect("run", (done.stdout.count("sum ok"), done.stdout + done.stderr), 3)
    (folder / "file").write_text("")
    env["XDG_CACHE_HOME"] = str(folder / "file")
    done = subprocess.run([*compile_it, folder / "two"], env=env, check=False,
                          capture_output=True, text=True)
    expect("no cache", (done.returncode, done.stderr), 1, "Not a directory", "XDG_CACHE_HOME")
    shutil.rmtree(root)
    shutil.rmtree(cache)


def installed_before_gfortran(folder, command):
    """The module tombolo_caf for a gfortran that came after the installation. Where the cache
    cannot be written, programs without the module are compiled all the same."""
    root, library = folder / "older", Path(TOMBOLO).resolve().parent.parent / "lib"
    (root / "bin").mkdir(parents=True)
    (root / "lib/tombolo/fortran").mkdir(parents=True)
    shutil.copy(TOMBOLO, root / "bin/tombolo")
    module = "tombolo/fortran/tombolo_caf.f90"
    (root / "lib" / module).symlink_to(library / module)
    (folder / "file").write_text("")
    (folder / "use.f90").write_text("use tombolo_caf\nend\n")
    (folder / "sum.f90").write_text(PROGRAM)
    for what, source, cache, code in (("use tombolo_caf", "use", "of the user", 0),
                                      ("no cache, no use", "sum", "file", 0),
                                      ("no cache", "use", "file", 1)):
        done = subprocess.run([root / "bin/tombolo", "fc", f"--compiler={command}", "-c",
                               f"{source}.f90"], env=os.environ | {"XDG_CACHE_HOME": str(
                                   folder / cache)}, cwd=folder, capture_output=True, text=True,
                              check=False)
        expect(what, (done.returncode, done.stderr), code, *(["tombolo_caf.mod"] * code))
        if not code and done.stderr:
            expect(f"{what}: nothing is said", (1, done.stderr), 0)


def flang(folder):
    """A program of flang -fcoarray: compiled, and run by three images, the second of which stops
    with a code, which flang's own library would keep from the others."""
    if not shutil.which("flang-22"):
        print("no flang-22: its case is left out")
        return
    (folder / "sum.f90").write_text(PROGRAM)
    expect("compile", fc("--compiler=flang-22", folder / "sum.f90", "-o", folder / "sum"), 0)
    done = subprocess.run([TOMBOLO, "run", "-n", "3", folder / "sum"], capture_output=True,
                          text=True, check=False)
    expect("run", (done.stdout.count("sum ok"), done.stdout + done.stderr), 3)
    expect("run's exit code", (done.returncode, done.stdout + done.stderr), 3)


with tempfile.TemporaryDirectory() as place:
    choices(Path(place))
    later = [name for name in ("flang-22", "flang-23", "gfortran-12") if shutil.which(name)]
    if later:
        installed_before(Path(place), later[0])
    if shutil.which("gfortran-12"):
        installed_before_gfortran(Path(place), "gfortran-12")
    flang(Path(place))
sys.exit(1 if failures else 0)
