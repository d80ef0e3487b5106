#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# sim_real.py: both checks of the simulator against real runs, and their figure: `make sim-check`.
#
# Runs sim.py (collectives) and sim_apps.py (applications) one after the other, keeps their JSON as
# study/data/simreal.json with date, machine and load, and draws study/figures again. Needs
# root, SimGrid and an idle machine, because the costs of messages are measured in the same run. A
# check that fails or is skipped is named; the results of the other are kept.
#   study/compare/sim_real.py [--build build] [--per-host 1,2,4,8] [--rounds 2,3] [--keep FILE]
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import HERE, ROOT

sys.path.insert(0, str(HERE.parent))
import kept as store  # noqa: E402
import study  # noqa: E402

CHECKS = {"collectives": "sim.py", "applications": "sim_apps.py"}


def check(script, options, rounds):
    """What one check writes: its records and what it measured; {} after a message."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "records.json"
        command = [sys.executable, HERE / script, "--build", options.build, "--per-host",
                   options.per_host, "--rounds", rounds, "--json", raw]
        code = subprocess.run([str(word) for word in command], check=False).returncode
        if raw.exists():
            return json.loads(raw.read_text())
    print(f"sim_real: {script}: no records, exit code {code}", file=sys.stderr)
    return {}


def main():
    parser = argparse.ArgumentParser(description="The simulator beside real runs.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--per-host", default="1,2,4,8", help="ranks of each host, by commas")
    parser.add_argument("--rounds", default="2,3", help="runs of collectives and of applications")
    parser.add_argument("--keep", type=Path, default=ROOT / "study/data/simreal.json",
                        help="file that keeps the records")
    options = parser.parse_args()
    options.build = options.build.resolve()
    rounds = options.rounds.split(",")
    if len(rounds) != 2 or not all(n.isdigit() and int(n) for n in rounds):
        parser.error(f"--rounds {options.rounds}: expected two numbers, as 2,3")
    facts, load, mode = dict(study.machine()), os.getloadavg()[0], study.mode_of(options.build)
    found = {name: check(script, options, n)
             for (name, script), n in zip(CHECKS.items(), rounds)}
    if not any(found.values()):
        return 77
    data = {**{name: of.get("records", []) for name, of in found.items()},
            "measured": {name: of.get("measured") for name, of in found.items()},
            "rounds": options.rounds, "study": {
        "date": facts["date"], "revision": facts["revision"], "mode": mode, "load": f"{load:.1f}",
        "machine": f"{facts['processor']}, {facts['processors']} processors, kernel "
                   f"{facts['kernel']}", "command": " ".join(sys.argv)}}
    store.keep(options.keep, data, whole=True)
    print(f"sim_real: {options.keep}")
    if options.keep.parent == ROOT / "study/data":
        return subprocess.run([sys.executable, HERE.parent / "figures.py"], check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
