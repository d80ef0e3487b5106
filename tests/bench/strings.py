#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Short operations of udp neither clear nor copy structures by string instructions, which take as
long to begin as the rest of the call: the compiler has the options of cmake/TmbFlags.cmake."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

SHORT = {"udp_put", "udp_put_signal", "udp_am_send", "udp_record_read", "udp_record_write",
         "take_records"}
STRING = re.compile(r"\brep (?:stos|movs)")


def main():
    build = Path(os.environ.get("TMB_BUILD", "build"))
    if "TMB_NO_STRINGS:INTERNAL=1" not in (build / "CMakeCache.txt").read_text():
        print(f"skipped: the compiler has no such options ({platform.machine()})")
        return 77
    plugin = build / "lib/tombolo/tombolo-net-udp.so"
    try:
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", plugin], check=True,
                              capture_output=True, text=True).stdout
    except FileNotFoundError:
        print("skipped: no objdump (package binutils)")
        return 77
    # gcc may add to a name that it has made a copy for its callers (.constprop.0)
    functions = dict(re.findall(r"^[0-9a-f]+ <(\w+)(?:\.(?!cold)[\w.]+)?>:\n(.*?)(?:\n\n|\Z)", code,
                                re.M | re.S))
    lacking = SHORT - set(functions)
    slow = [name for name in SHORT & set(functions) if STRING.search(functions[name])]
    for name in sorted(lacking):
        print(f"FAILED: {plugin} has no function {name}")
    for name in sorted(slow):
        print(f"FAILED: {name} has a string instruction")
    return 1 if lacking or slow else 0


if __name__ == "__main__":
    sys.exit(main())
