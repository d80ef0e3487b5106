# SPDX-License-Identifier: BSD-3-Clause
"""Says what cmake needs to know of the Python that runs it: headers;suffix;free-threaded;version.

Fails, and says why on its output, when the binding cannot be built for this Python, or cannot run
with it, unless the argument `build` asks for the first alone: pip builds where NumPy is not.
"""

import importlib.util
import os
import sys
import sysconfig


def main():
    if sys.version_info < (3, 11):
        return f"Python {sys.version.split()[0]} is older than 3.11"
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        return f"no Python.h in {include}"
    if sys.argv[1:] != ["build"] and importlib.util.find_spec("numpy") is None:
        return "no NumPy"
    free_threaded = int(bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
    suffix = sysconfig.get_config_var("EXT_SUFFIX") if free_threaded else ".abi3.so"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    print(include, suffix, free_threaded, version, sep=";")
    return None


reason = main()
if reason:
    print(reason)
    sys.exit(1)
