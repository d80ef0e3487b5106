#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""A host program (R, Octave, a plug-in system) loads a module that uses the library, uses it,
closes it and goes on: the libraries stay mapped, because threads, handlers and keys remain."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, check, run_cases  # noqa: E402

LIB = Path(os.environ.get("TMB_BUILD", "build"), "lib").resolve()
# Loads a library, calls its function of the given name, if there is one, closes it, looks for it.
HOST = """
import _ctypes, ctypes, sys
path, call = sys.argv[1:3]
handle = _ctypes.dlopen(path, 2)
if call != "-":
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    code = function(_ctypes.dlsym(handle, call))(None, None)
    sys.stdout.write(f"{call} gives {code}\\n")
_ctypes.dlclose(handle)
sys.stdout.write("stays\\n" if path in open("/proc/self/maps").read() else "is unmapped\\n")
"""


def host(library, call="-", run=()):
    """Runs the host. Returns its output, or None where this interpreter cannot load the library."""
    done = subprocess.run([*run, sys.executable, "-c", HOST, str(library.resolve()), call],
                          capture_output=True, text=True, timeout=30, check=False)
    if any(word in done.stderr for word in ("runtime does not come first", "static TLS", "__asan",
                                            "__tsan", "__ubsan", "undefined symbol")):
        return None
    check(done.returncode == 0, library, done)
    return done.stdout


def used_module():
    """Two ranks that have started a job, and let the library go."""
    out = host(LIB / "libtombolo.so", "gasnet_init", [TOMBOLO, "run", "-n", "2"])
    if out is None:
        return "the library is not for this interpreter (a tree of sanitizers)"
    check(out.count("gives 0") == 2 and out.count("stays") == 2, out)
    return None


def each_library():
    """Every library and plug-in of the build."""
    tried = 0
    for library in sorted([*LIB.glob("*.so"), *LIB.glob("tombolo/*.so")]):
        out = host(library)
        if out is None:
            continue
        tried += 1
        check("stays" in out, library, out)
    return None if tried else "no library is for this interpreter"


if __name__ == "__main__":
    run_cases([used_module, each_library])
