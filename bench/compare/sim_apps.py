#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# sim_apps.py: simulated applications beside real ones on emulated links.
#
# Runs pipeline, stencil and hydro of bench/apps on the hosts of a lab (sim.py), in each way that
# `tombolo sim` models, and the same with `tombolo sim`. Links are the lab's; costs of messages are
# those of `tombolo bench loggp`; what a host adds to a message and what a hand-over inside a host
# takes are measured by other programs (sim_check.c). No parameter is fitted to a row. Needs root;
# skipped (77) without. The machine must be idle: its processors serve all ranks.
#   bench/compare/sim_apps.py [--hosts 8] [--per-host 1,2,4,8] [--rounds 3] [--json FILE]
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import sim

FAST = ["delay=0us", "rate=100gbit", f"queue={4 << 20}"]  # of wire
WAYS = {"barrier": "sync-all", "pairwise": "queue", "flag": "flag", "signal": "signal"}
# {name: (options of the program, of the model)}; few points, so that messages decide.
PROBLEMS = {
    "pipeline": (["--rows", "24", "--columns", "256", "-i", "3"],
                 ["--rows", "24", "--columns", "256", "--times", "3"]),
    "stencil": (["--points", "256", "--radius", "1", "-i", "10"],
                ["--rows", "256", "--columns", "256", "--width", "1", "--times", "10",
                 "--overlap", "0"]),
    "hydro": (["--cells-x", "128", "--cells-y", "128", "-i", "10"],
              ["--rows", "128", "--columns", "128", "--times", "10"]),
}


class Work:
    """Processor seconds of a message between hosts and inside one, and to wake a rank, on links
    without delay and rate. Each time all processors: nothing else slows the ranks down, and they
    keep this machine's processors busy. The models add up all messages of an exchange."""

    def __init__(self, options, program):
        hosts = options.hosts
        self.options, self.program, counts = options, program, options.per_host
        message = self.seconds([1] * hosts, sim.SHORT) / (hosts * (hosts - 1))
        self.message = dict.fromkeys(counts, message)
        self.cost = dict.fromkeys(counts, sim.Cost(0, message))
        self.near = {n: self.seconds([n * hosts], sim.NEAR) / (n * hosts - 1)
                     for n in counts if n > 1}
        self.wake = {n: max(self.seconds([n * hosts], sim.RESTING) / (n * hosts - 1)
                            - self.near.get(n, 0), 0) for n in counts}

    def seconds(self, ranks, kind):
        """All processors' time for one collective. ranks: of each host."""
        with sim.Lab(max(len(ranks), 2), wire=FAST, sshd=True) as lab:
            took = sim.real(lab, self.program, self.options, ranks, (kind,)).get(kind, 0)
        return min(sum(ranks), sim.PROCESSORS) * took

    def __str__(self):
        return "; ".join(
            f"{n * self.options.hosts} ranks: {self.message[n] * 1e6:.1f} us for a message, "
            f"{self.near.get(n, 0) * 1e6:.1f} us for one on the host, {self.wake[n] * 1e6:.1f} us "
            "to wake a rank" for n in self.options.per_host)


def real(lab, options, name, way, ranks):
    """Median of the seconds of an iteration, or None."""
    found = []
    environment = {**os.environ, "HOME": str(lab.ssh.accounts["root"][1]),
                   "TOMBOLO_CONDUIT": "udp"}
    for _ in range(options.rounds):
        try:
            done = subprocess.run(
                lab.hosts[0].command([str(options.build / "bin/tombolo"), "run", "--hosts",
                                      lab.host_list(ranks), "--timeout", "60",
                                      str(options.build / "bench" / name), "--json", "--way", way,
                                      *PROBLEMS[name][0]]),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                stdin=subprocess.DEVNULL, timeout=90, check=False)
        except subprocess.TimeoutExpired:
            print(f"sim_apps: {name} {way}: not done after 90 s", file=sys.stderr)
            return None
        if done.returncode:
            print(f"sim_apps: {name} {way}: exit code {done.returncode}: {done.stderr[-400:]}",
                  file=sys.stderr)
            continue
        found += [json.loads(line)["seconds"] for line in done.stdout.splitlines()
                  if line.startswith("{")]
    return statistics.median(found) if found else None


def simulated(options, files, name, way, ranks):
    done = subprocess.run(
        [options.build / "bin/tombolo", "sim", name, "--machine", files["machine"], "--loggp",
         files["loggp"], "--far", "--set", f"node_latency_s={files['host_s']}", "--set",
         f"near_latency_s={files['near_s']}", "--ranks", str(ranks), "--way", WAYS[way],
         "--blocking", "1", *PROBLEMS[name][1], "--json", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"sim_apps: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["seconds"]


def compare(options, lab, files, work):
    records = []
    for per_host in options.per_host:
        files["machine"].write_text(sim.machine(options, per_host, work))
        ranks = per_host * options.hosts
        for name in PROBLEMS:
            for way in WAYS:
                took = real(lab, options, name, way, [per_host] * options.hosts)
                found = simulated(options, files, name, way, ranks)
                if not took or not found:
                    continue
                off = found / took - 1
                records.append({"ranks": ranks, "application": name, "way": way, "real_s": took,
                                "simulated_s": found, "deviation": off, "ok": abs(off) <= 0.2})
                print(f"{ranks:4} {name:9} {way:9} real {took * 1e3:9.3f} ms  simulated "
                      f"{found * 1e3:9.3f} ms  {100 * off:+6.1f} %", flush=True)
                sim.save(options, records)
    return records


def hand_over(options, program):
    """Seconds of a message between two ranks of one host of which the taker sleeps."""
    with sim.Lab(2, wire=FAST, sshd=True) as lab:
        return sim.real(lab, program, options, [2], (sim.RESTING,)).get(sim.RESTING, 1e-6)


def main():
    options = sim.read_options("Simulated applications beside real ones.")
    sim.confine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = sim.prepare(options, folder)
        files = {"machine": folder / "lab.json", "loggp": folder / "loggp.json",
                 "near_s": hand_over(options, program)}
        work = Work(options, program)
        print(f"sim_apps: processors take {work}", flush=True)
        wire = [f"delay={options.delay_us:.0f}us", f"rate={options.rate_mbit:.0f}mbit",
                f"queue={4 << 20}"]
        with sim.Lab(options.hosts, wire=wire, sshd=True) as lab:
            files["host_s"] = sim.host_seconds(options, lab, program)
            print(f"sim_apps: a host adds {files['host_s'] * 1e6:.0f} us to a message, a hand-over "
                  f"inside one takes {files['near_s'] * 1e6:.0f} us", flush=True)
            records = compare(options, lab, files, work)
    good = sum(r["ok"] for r in records)
    print(f"sim_apps: {good} of {len(records)} within 20 %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
