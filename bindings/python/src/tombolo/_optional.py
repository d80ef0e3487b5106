# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only some functions need: looked for when such a function is called."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def package(name: str, what: str) -> Any:
    """The package, or ModuleNotFoundError that names it and what needs it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # the package is there, and lacks one that it needs itself
        raise ModuleNotFoundError(
            f"{what} needs the package {name}, which {sys.executable} does not have: "
            f"pip install {name}",
            name=name,
        ) from error
