#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# sim_apps.py: simulated applications beside real ones on emulated links.
#
# Runs pipeline, stencil and hydro of study/apps on the hosts of a lab (sim.py), in each way that
# `tombolo sim` models, and the same with `tombolo sim`. Links are the lab's; what messages, packets
# and sleeps take is measured by another program (sim_points.c), with as many ranks. No parameter is
# fitted to a row. Needs root; skipped (77) without. The machine must be idle: its processors serve
# all ranks. With --replay it simulates again what a check has kept, with the parameters that were
# measured then: seconds, without root.
#   study/compare/sim_apps.py [--hosts 8] [--per-host 1,2,4,8] [--rounds 3] [--json FILE]
#   study/compare/sim_apps.py --replay study/data/simreal.json [--build build]
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import sim
from budget import compile_ours

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
# Of `tombolo bench loggp`, through the network: {parameter: figure}.
OVERHEADS = {"put_overhead_s": "put_overhead", "signal_overhead_s": "signal_overhead",
             "am_send_s": "message_overhead", "am_receive_s": "message_gap"}
FEW, MORE = 20, 120  # what begins and ends a job is in both counts, and not in their difference
LOOKS, RELAYS = 20, 50


class Work:
    """Processor time of messages, packets and sleeps with `per_host` ranks on each host, as the
    kernel counts it, on links with the delay and rate of the lab. sim_points.c defines the kinds,
    with few and with many packets and sleeps to a message. A sleep is measured without messages.
    Ranks wait as on oversubscribed hosts: the model has the time of spinning apart."""

    def __init__(self, lab, options, program, per_host):
        self.lab, self.options, self.program, self.per_host = lab, options, program, per_host
        ranks = per_host * options.hosts
        messages = {"bundle": 16 * ranks, "storm": (options.hosts - 1) * ranks, "single": ranks}
        _, seconds, sleeps = self.job([per_host] * options.hosts, "looking", LOOKS)
        self.cost = costs([self.use(kind, n) for kind, n in messages.items()],
                          seconds / max(sleeps, 1))
        self.hand_s, self.hand = 1e-6, 0  # seconds of a hand-over in a host, and processor seconds
        if per_host > 1:
            took, seconds, _ = self.job([ranks], "relay", RELAYS)
            self.hand_s, self.hand = took / ranks, seconds / ranks

    def job(self, ranks, kind, times):
        for _ in range(3):
            found = sim.job(self.lab, self.program, self.options, ranks,
                            (kind, max(ranks)), times, sim.WAITS["crowded"])
            if found:
                return found
        raise SystemExit(f"sim_apps: {kind}: three jobs have failed")

    def use(self, kind, messages):
        def one(times):
            before = sim.line_use(self.lab)
            used = self.job([self.per_host] * self.options.hosts, kind, times)[1:]
            return used, [b - a for a, b in zip(before, sim.line_use(self.lab))]
        few, more = one(FEW), one(MORE)
        line = [max(b - a, 0) / (MORE - FEW) for a, b in zip(few[1], more[1])]
        return sim.Use(messages, *more[0], *line)

    def parameters(self, byte, host_s):
        """Of the machine, {name: value}. host_s: what a host adds to a message between two
        ranks, of which the model has a part as work."""
        return {"shared_processors": sim.PROCESSORS,
                "wake_after_s": sim.wake_after(self.options, self.per_host),
                "ack_delay_s": sim.ACK_DELAY_S, **self.cost._asdict(), "host_s_per_byte": byte,
                "host_s_per_wake": self.hand,
                "near_latency_s": max(self.hand_s, 1e-6),
                "node_latency_s": max(host_s - self.cost.one_message() / 2, 0)}


def costs(uses, sleep_s):
    """Costs of messages and frames that explain what some kinds used, without their sleeps, of
    which each takes `sleep_s`; and of the program wire."""
    host = sim.explain([(u.messages, u.frames) for u in uses],
                       [max(u.seconds - u.sleeps * sleep_s, 1e-9) for u in uses])
    line = sim.explain([(u.frames, u.line_sleeps) for u in uses], [u.line_seconds for u in uses])
    return sim.Cost(0, *host, sleep_s, *line)


def overheads(path):
    """Costs of starting and taking a message, from what `tombolo bench loggp` has written."""
    medians = {f["name"]: f["median"] for f in json.loads(path.read_text())["figures"]
               if f["group"] == "loggp_far"}
    return {key: max(medians[name] * 1e-9, 0) for key, name in OVERHEADS.items()}


def machine(options, per_host, parameters):
    """A machine's description. parameters: those that are measured."""
    found = json.loads(sim.machine(options, per_host, None))
    found["parameters"].update({key: {"value": value, "source": "measured by sim_apps.py, or of "
                                      "the library's code"} for key, value in parameters.items()})
    return found


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


def simulated(options, file, name, way, ranks):
    """What the model says of an iteration, or None after a message."""
    done = subprocess.run(
        [options.build / "bin/tombolo", "sim", name, "--machine", file, "--ranks", str(ranks),
         "--way", WAYS[way], "--blocking", "1", *PROBLEMS[name][1], "--json", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"sim_apps: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def row(key, took, found):
    """A record, which is also printed. key: (ranks, application, way)."""
    ranks, name, way = key
    off = found["seconds"] / took - 1
    print(f"{ranks:4} {name:9} {way:9} real {took * 1e3:9.3f} ms  simulated "
          f"{found['seconds'] * 1e3:9.3f} ms  {100 * off:+6.1f} %  {found['sleeps']:.0f} sleeps",
          flush=True)
    return {"ranks": ranks, "application": name, "way": way, "real_s": took,
            "simulated_s": found["seconds"], "deviation": off, "ok": abs(off) <= 0.2}


def keep(options, records, machines):
    """Writes the rows so far, so that an interrupted check loses none."""
    if options.json:
        options.json.write_text(json.dumps({"records": records, "measured": machines}, indent=1)
                                + "\n")


def compare(options, lab, folder, machines):
    records, file = [], folder / "lab.json"
    for per_host in options.per_host:
        file.write_text(json.dumps(machines[str(per_host)]))
        ranks = per_host * options.hosts
        for name in PROBLEMS:
            for way in WAYS:
                took = real(lab, options, name, way, [per_host] * options.hosts)
                found = simulated(options, file, name, way, ranks)
                if took and found:
                    records.append(row((ranks, name, way), took, found))
                    keep(options, records, machines)
    return records


def replay(options, path):
    """The rows of a file once more, with its parameters and today's model."""
    kept = json.loads(path.read_text())
    rows = kept.get("applications") or kept.get("records", [])
    machines = kept.get("measured", {})
    machines = machines.get("applications", machines)
    hosts = {str(m["parameters"]["cores_per_node"]["value"]): m for m in machines.values()}
    if not rows or not hosts:
        raise SystemExit(f"sim_apps: {path}: no applications or no measured parameters; make "
                         "sim-check keeps both")
    records = []
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "lab.json"
        for r in rows:
            per_host = str(r["ranks"] // options.hosts)
            if per_host not in hosts:
                continue
            file.write_text(json.dumps(hosts[per_host]))
            key = (r["ranks"], r["application"], r["way"])
            found = simulated(options, file, key[1], key[2], key[0])
            if found:
                records.append(row(key, r["real_s"], found))
    keep(options, records, machines)
    return records


def prepare(options, folder):
    """Builds the programs. Returns sim_check and sim_points."""
    check = sim.prepare(options, folder)
    points = compile_ours(options.build, sim.HERE / "sim_points.c", folder / "sim_points")
    return check, points


def measure(options, lab, folder):
    """{ranks of a host: machine}."""
    check, points = prepare(options, folder)
    before = sim.line_use(lab)[0]
    used = sim.job(lab, check, options, [1] * options.hosts, sim.FLOOD, sim.MORE_TIMES)
    if not used:
        raise SystemExit("sim_apps: a broadcast of 1 MiB has failed")
    line = (sim.line_use(lab)[0] - before) / (sim.MORE_TIMES + 1)  # and one that is not counted
    byte = (used[1] + line) / (sim.FLOOD[1] * (options.hosts - 1))
    host_s = sim.host_seconds(options, lab, check)
    print(f"sim_apps: a host adds {host_s * 1e6:.0f} us to a message, a byte takes "
          f"{byte * 1e9:.1f} ns", flush=True)
    machines = {}
    for per_host in options.per_host:
        work = Work(lab, options, points, per_host)
        values = {**overheads(folder / "loggp.json"), **work.parameters(byte, host_s)}
        print(f"sim_apps: {per_host * options.hosts} ranks: " + ", ".join(
            f"{values[k] * 1e6:.4g} us {k}" for k in values if k.endswith(
                ("message", "frame", "sleep", "wake", "latency_s"))), flush=True)
        machines[str(per_host)] = machine(options, per_host, values)
    return machines


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--replay", type=Path)
    known, sys.argv[1:] = parser.parse_known_args()
    options = sim.read_options("Simulated applications beside real ones; --replay FILE: the rows "
                               "of a check once more.")
    if known.replay:
        records = replay(options, known.replay)
    else:
        sim.confine()
        with tempfile.TemporaryDirectory() as name, \
                sim.Lab(options.hosts, wire=sim.links(options), sshd=True) as lab:
            machines = measure(options, lab, Path(name))
            records = compare(options, lab, Path(name), machines)
    good = sum(r["ok"] for r in records)
    print(f"sim_apps: {good} of {len(records)} within 20 %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
