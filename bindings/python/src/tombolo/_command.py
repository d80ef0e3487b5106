# SPDX-License-Identifier: BSD-3-Clause
"""Where the `tombolo` command is: beside the package of a wheel, in the tree, or installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PLACES = ("_bin/tombolo", "../../bin/tombolo", "../../../../bin/tombolo")


def find() -> str:
    """Path of the command; FileNotFoundError names what was tried."""
    given = os.environ.get("TOMBOLO")
    if given:
        return given
    package = Path(os.path.abspath(__file__)).parent
    for place in PLACES:
        path = package / place
        if os.access(path, os.X_OK):
            return str(path.resolve())
    found = shutil.which("tombolo")
    if found:
        return found
    raise FileNotFoundError(
        f"no tombolo command in {', '.join(PLACES)} below {package}, nor in PATH; install Tombolo, "
        "or name the command in the environment: TOMBOLO=/path/to/tombolo"
    )
