#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""A message of a rank leaves in one write, so that those of several ranks do not mix.

From glibc 2.37 on, formatted texts of more than 128 bytes go to stderr in pieces. Each program ends
with such a message; its stderr is a socket that keeps the bounds of writes.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, check, run_cases  # noqa: E402

LONG = "x" * 140
NAME = "a" + "b" * 62


def last_message(name, compiler, source):
    """Compiles the program and runs it: its message."""
    with tempfile.TemporaryDirectory() as folder:
        path, program = os.path.join(folder, name), os.path.join(folder, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([TOMBOLO, compiler, path, "-o", program], check=True, timeout=120)
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with here, there:
            subprocess.run([program], stderr=there, check=False, timeout=60)
            there.close()
            pieces = []
            while piece := here.recv(8192):
                pieces.append(piece.decode())
    check(len(pieces) == 1 and len(pieces[0]) > 128, "one long piece:", pieces)
    return pieces[0]


def need(tool):
    if not shutil.which(tool):
        raise unittest.SkipTest(f"no {tool}")


def coarray_stop():
    need("gfortran")
    text = last_message("stop.f90", "fc", """integer :: i[*]
i = 1
error stop repeat('x', 140)
end
""")
    check(text == f"ERROR STOP {LONG}\n", text)


def coarray_error():
    need("gfortran")
    text = last_message("error.f90", "fc", f"""integer :: {NAME}[*]
{NAME}[7] = 1
end
""")
    check(text.startswith("Error on image 1: ") and text.endswith("\n"), text)


def upc_error():
    text = last_message("error.upc", "upcc", """#include <upc.h>
int main(void) {
  upc_lock_t *lock = upc_all_lock_alloc();
  upc_lock(lock);
  upc_lock(lock);
}
""")
    check(text.startswith("UPC: thread 0 of 1: ") and text.endswith("\n"), text)


def cxx_abort():
    text = last_message("abort.cc", "c++", f"""#include <tombolo.hpp>
int main(int argc, char **argv) {{
  return tombolo::run(argc, argv, [](tombolo::job &j) {{ j.abort("{LONG}"); }});
}}
""")
    check(text == f"tombolo: rank 0: {LONG}\n", text)


if __name__ == "__main__":
    run_cases([coarray_stop, coarray_error, upc_error, cxx_abort])
