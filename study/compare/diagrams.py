#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# diagrams.py: a pipeline on four ranks as execution diagrams, from traces.
#
# Runs examples/diagram.c with one block an iteration and with eight (its work is a sleep, so that
# four ranks need no four processors), and reads from each trace what a rank did between the begin
# of the first work and the end of the last one: computes, waits, sends. With --view the drawings
# that `tombolo view --diagram` makes of the same traces go to a folder (docs/OBSERVE.md).
# JSON: records {title, blocks, lanes: {rank: [[begin, end, kind]]}, arrows: [[begin, rank, end,
# rank]], shares: {kind: part of the time of all ranks}, seconds}; times in ms.
#   study/compare/diagrams.py [--build build] [--json FILE] [--view docs/pictures]
import argparse
import json
import sys
import tempfile
from pathlib import Path

from budget import Budget, add_options, compile_ours
from compare import ROOT

RANKS = 4
BLOCKS = {1: "one block an iteration", 8: "eight blocks, pipelined"}
VIEWS = {1: "pipeline-one", 8: "pipeline-diagram"}
KINDS = {"region": "computes", "wait": "waits", "signal": "sends"}


def compile_program(folder, build):
    source = ROOT / "examples" / "diagram.c"
    return compile_ours(build, source, folder / "diagram", "-DGASNET_SEQ=1")


def arrows_of(events, begin, end):
    """[[begin, rank, end, rank]] of signals, from the put to the wait that it ends."""
    ends = {}
    for e in events:
        if e.get("cat") == "flow" and e["ph"] in "sf" and begin <= e["ts"] <= end:
            ends.setdefault(e["id"], {})[e["ph"]] = (e["ts"] - begin, e["pid"])
    return sorted([*(round(v / 1e3, 4) if i == 0 else f"rank {v}" for i, v in enumerate(e["s"])),
                   *(round(v / 1e3, 4) if i == 0 else f"rank {v}" for i, v in enumerate(e["f"]))]
                  for e in ends.values() if len(e) == 2 and e["s"][1] != e["f"][1])


def record_of(blocks, events):
    """The record of one trace. Raises ValueError if no rank works in it."""
    work = [e for e in events if e.get("cat") == "region" and e["name"] == "rows"]
    begin = min(e["ts"] for e in work)
    end = max(e["ts"] + e["dur"] for e in work)
    lanes, sums = {f"rank {r}": [] for r in range(RANKS)}, dict.fromkeys(KINDS.values(), 0.0)
    for e in sorted((e for e in events if e["ph"] == "X" and e["cat"] in KINDS),
                    key=lambda e: e["ts"]):
        first, last = max(e["ts"], begin) - begin, min(e["ts"] + e["dur"], end) - begin
        # The wait in the last barrier is no part of the pipeline.
        if e["ts"] > end or last < first or "barrier" in e["name"]:
            continue
        kind = KINDS[e["cat"]]
        lanes[f"rank {e['pid']}"].append([round(first / 1e3, 4), round(last / 1e3, 4), kind])
        sums[kind] += last - first
    whole = RANKS * (end - begin)
    return {"title": BLOCKS[blocks], "blocks": blocks, "lanes": lanes,
            "arrows": arrows_of(events, begin, end), "seconds": (end - begin) / 1e6,
            "shares": {kind: part / whole for kind, part in sums.items()}}, begin


def main():
    parser = argparse.ArgumentParser(description="Execution diagrams of a pipeline, from traces.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--rounds", type=int, default=1, help="ignored: a trace is of one run")
    parser.add_argument("--view", type=Path, metavar="FOLDER",
                        help="also draw the traces into this folder by `tombolo view --diagram`")
    add_options(parser, 20)
    options = parser.parse_args()
    tool, budget, records = options.build.resolve() / "bin" / "tombolo", Budget(options), []
    budget.share = 0.5
    with tempfile.TemporaryDirectory() as name:
        program = compile_program(Path(name), options.build.resolve())
        for blocks in BLOCKS:
            trace = Path(name) / f"{blocks}.json"
            _, code = budget.run(f"{blocks} blocks", [tool, "run", "-n", RANKS, "--trace", trace,
                                                      program, blocks])
            if code != 0:
                continue
            record, begin = record_of(blocks, json.loads(trace.read_text())["traceEvents"])
            records.append(record)
            budget.save({"rounds": 1, "records": records})
            said = ", ".join(f"{kind} {100 * part:.0f} %" for kind, part in
                             record["shares"].items())
            print(f"{record['title']}: {1e3 * record['seconds']:.1f} ms, {said}")
            if options.view:
                budget.run(f"view of {blocks} blocks", [
                    tool, "view", "--diagram", options.view / f"{VIEWS[blocks]}.svg", "--from",
                    f"{max(0, begin - 50):.0f}us", trace])
    return 0 if records else 1


if __name__ == "__main__":
    sys.exit(main())
