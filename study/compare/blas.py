# SPDX-License-Identifier: BSD-3-Clause
"""Which kernel of OpenBLAS the sides of a comparison take: all the same one.

OpenBLAS chooses by the processor, unless the variable OPENBLAS_CORETYPE names a kernel. That
decides the rate of dgemm: on an AMD EPYC with AVX-512 it is 60 GFlop/s with Haswell's kernel, which
has AVX2, and 100 with the one that OpenBLAS 0.3.21 chooses."""
import os
import subprocess
import sys

CHOOSES = "OPENBLAS_CORETYPE"
ASK = """
import ctypes
library = ctypes.CDLL("libopenblas.so.0")
library.openblas_get_corename.restype = ctypes.c_char_p
print(library.openblas_get_corename().decode())
"""


def kernel(environment=os.environ):
    """The kernel that OpenBLAS takes in an environment; None without such a library."""
    done = subprocess.run([sys.executable, "-c", ASK], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False, env=environment)
    return done.stdout.strip() or None


def say_kernel():
    """Prints and returns the kernel, and what OpenBLAS would choose where the variable decides."""
    taken = kernel()
    own = kernel({k: v for k, v in os.environ.items() if k != CHOOSES})
    if taken:
        print(f"OpenBLAS: kernel {taken}" + (f", by {CHOOSES}; without it {own}"
                                             if taken != own else ""), flush=True)
    return taken
