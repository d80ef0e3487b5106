#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run on emulated hosts that hangs leaves nothing there, and the lab still ends.

The launcher's parent is nsenter, which is ended first; the launcher then belongs to the script,
whose hosts would wait for ever until it is buried. study/compare/net.py."""

import sys
from argparse import Namespace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "study/compare"))
import net  # noqa: E402
from budget import Budget  # noqa: E402


def main():
    net.confine()
    budget = Budget(Namespace(budget=None, timeout=0.5, json=None))
    with net.Lab(2, sshd=True) as lab:
        hangs = "setsid sleep 300 & sleep 300; sleep 300"
        assert net.one_run("hangs", ["sh", "-c", hangs], lab, budget) == ""
        assert budget.unfinished == {"hangs": "not done after 0 s"}, budget.unfinished
        assert not lab.leftovers(0.1), lab.leftovers(0.1)
        assert net.one_run("fine", ["echo", "fine"], lab, budget) == "fine\n"
    print("sweep: nothing is left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
