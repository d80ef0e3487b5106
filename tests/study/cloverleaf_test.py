#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""study/compare/cloverleaf.py: builds in a copy, reads the last step, judges the kinetic energy.

The application is not here: a Makefile that writes a small program stands in its place."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "study" / "compare" / "cloverleaf.py"
MAKEFILE = """clover_leaf:
\tprintf '%s\\n' '#!/bin/sh' 'test -s clover.in || exit 3' 'cat {out} >clover.out' >clover_leaf
\tchmod +x clover_leaf
"""
LINE = " step: {0:6d} 0.1000E+03 0.2800E+02 0.2800E+00 0.2074E+00 0.2655E+02 {1} 0.2774E+02\n"


def judged(folder, *steps):
    """(exit code, output) where the application writes these (step, kinetic energy)."""
    (folder / "out").write_text(" Time 0.0\n" + "".join(LINE.format(*one) for one in steps))
    (folder / "Makefile").write_text(MAKEFILE.format(out=folder / "out"))
    command = [sys.executable, SCRIPT, folder, "--runtime", "coarray", "--ranks", "1", "--rounds",
               "1", "--build", os.environ["TMB_BUILD"]]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.returncode, done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code, text = judged(folder, (87, "0.1193E+01"))
        assert code == 2 and "no clover_bm_short.in" in text, (code, text)
        (folder / "clover_bm_short.in").write_text("*clover\n*endclover\n")
        code, text = judged(folder, (0, "0.0000E+00"), (87, "0.11931690E+01"))
        assert code == 0 and "VERIFIED" in text, (code, text)
        code, text = judged(folder, (87, "0.1194E+01"))
        assert code == 1 and "FAILED" in text, (code, text)
        code, text = judged(folder, (80, "0.11931690E+01"))
        assert code == 1, (code, text)
        code, text = judged(folder)
        assert code == 2 and "no summary" in text, (code, text)
        assert not (folder / "clover_leaf").exists(), "built in the user's folder"
    print("cloverleaf: builds, runs and judges")
    return 0


if __name__ == "__main__":
    sys.exit(main())
