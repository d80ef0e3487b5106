#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# sim.py: simulated collectives beside real ones on emulated links.
#
# Runs sim_check.c on hosts of a lab (tests/net/lab.py: network namespaces behind the program wire,
# with its delay and rate) and the same collectives with `tombolo sim` on a machine of which the
# links are those of the lab, and the costs of messages are measured on this machine by `tombolo
# bench loggp`. Prints both and the deviation. Needs root; skipped (77) without. The processors of
# this machine serve all ranks: the links must be slow enough to be what decides.
#   bench/compare/sim.py [--hosts 8] [--per-host 1,2,4,8] [--delay-us 3000] [--rate-mbit 200]
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/net"))
from lab import Lab, confine  # noqa: E402

ROW = re.compile(r"^ROW (\S+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+)$", re.M)
TIMES = 8
MORE_TIMES = 40  # what begins and ends a job is in both counts, and not in their difference
KINDS = (("broadcast", 8), ("broadcast", 8192), ("broadcast", 65536), ("allreduce", 8),
         ("allreduce", 32768), ("exchange", 512), ("exchange", 16384))
FLOOD = ("broadcast", 1 << 20)
SHORT = ("exchange", 8)
NEAR = ("broadcast", 8)
RESTING = ("resting", 8)
WAKE_AFTER_S = 1e-5  # src/core/progress/wait.c: 1 us and four yields where ranks are crowded
# How ranks wait where a host has more of them than processors (the same file): given as settings to
# jobs with one rank on each host.
CROWDED = {"TOMBOLO_SPIN_NS": "1000", "TOMBOLO_YIELD_COUNT": "4"}
PROCESSORS = len(os.sched_getaffinity(0))
FIRST_WINDOW = 14600
FRAME_BYTES = 1514  # of which a datagram of the conduit carries:
PAYLOAD_BYTES = 1400


def machine(options, per_host, work):
    """The lab as a machine file's text. in work: None where each rank has a processor."""
    rate = options.rate_mbit * 1e6 / 8 * PAYLOAD_BYTES / FRAME_BYTES
    values = {
        "cores_per_node": (per_host, "ranks of a host"),
        "link_bytes_per_s": (rate, "--rate-mbit, less headers"),
        "link_latency_s": (options.delay_us * 1e-6 / 2, "--delay-us, over two links"),
        "near_latency_s": (1e-6, "estimate: a message between ranks of a host"),
        "near_bytes_per_s": (5e9, "estimate"), "copy_bytes_per_s": (2e9, "estimate"),
        "flops_per_core": (2e10, "estimate; 0.1 of it in simple loops, which take little here"),
        "fft_fraction": (1, "not used"),
        "memory_bytes_per_s": (1e10, "not used"), "put_overhead_s": (0, "measured"),
        "signal_overhead_s": (0, "measured"), "am_send_s": (0, "measured"),
        "am_receive_s": (0, "measured"), "message_send_s": (0, "not used"),
        "message_receive_s": (0, "not used"), "match_entry_s": (0, "not used"),
        "eager_bytes_max": (65536, "not used"), "rendezvous_s": (0, "not used"),
        "window_bytes": (FIRST_WINDOW, "src/net/udp/window/udp_cc.c: ten packets"),
        "window_bytes_max": (2 << 20, "src/net/udp/window/udp_cc.c"),
        **(shared(per_host, work) if work else {})}
    return json.dumps({"name": "lab", "title": "emulated links", "topology": "switch",
                       "parameters": {k: {"value": v, "source": s}
                                      for k, (v, s) in values.items()}})


def shared(per_host, work):
    """What processors that serve all hosts take for collectives."""
    return {
        "shared_processors": (PROCESSORS, "this machine's serve all hosts"),
        "host_s_per_byte": (work.byte[per_host], "measured: all hosts, 1 MiB"),
        "host_s_per_message": (work.message[per_host], "measured: all hosts, 8 bytes"),
        "host_s_per_near_message": (work.near.get(per_host, 0),
                                    "measured: all ranks on one host"),
        "host_s_per_wake": (work.wake.get(per_host, 0),
                            "measured: all ranks on one host asleep, less the message"),
        "wake_after_s": (WAKE_AFTER_S, "src/core/progress/wait.c")}


def job(lab, program, options, ranks, kind, times=TIMES, settings=None):
    """(seconds, processor seconds of all ranks) of one collective, or None after a message.
    ranks: of each host. settings: variables of the library."""
    hosts = lab.host_list(ranks)
    environment = {**os.environ, "HOME": str(lab.ssh.accounts["root"][1]),
                   "TOMBOLO_CONDUIT": "udp", **(settings or {})}
    done = subprocess.run(
        lab.hosts[0].command([str(options.build / "bin/tombolo"), "run", "--hosts", hosts,
                              "--timeout", "40", str(program), *map(str, kind), str(times)]),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        stdin=subprocess.DEVNULL, timeout=60, check=False)
    if done.returncode:
        print(f"sim: {hosts}: exit code {done.returncode}: {done.stderr[-800:]}", file=sys.stderr)
    found = ROW.search(done.stdout)
    return (float(found[3]), float(found[4])) if found else None


def real(lab, program, options, ranks, kinds=KINDS):
    """{(collective, bytes): seconds}, the median of some jobs. ranks: of each host."""
    rows = {}
    for kind in [k for _ in range(options.rounds) for k in kinds]:
        found = job(lab, program, options, ranks, kind)
        if found:
            rows.setdefault(kind, []).append(found[0])
    return {key: statistics.median(values) for key, values in rows.items()}


def simulated(options, files, key, ranks):
    """Seconds of one collective, or None with a message."""
    done = subprocess.run(
        [options.build / "bin/tombolo", "sim", "collective", "--machine", files["machine"],
         "--loggp", files["loggp"], "--far", "--set",
         f"node_latency_s={files['host_s']}", "--ranks", str(ranks), "--kind", key[0],
         "--bytes", str(key[1]), "--times", str(TIMES), "--warm", "1", "--json", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"sim: {done.stderr.strip()}", file=sys.stderr)
        return None
    result = json.loads(done.stdout)
    return result["seconds"], result["algorithm"]


def links(options):
    """Settings of the program wire."""
    return [f"delay={options.delay_us:.0f}us", f"rate={options.rate_mbit:.0f}mbit",
            f"queue={4 << 20}"]


def processor_s(pid):
    """Processor seconds of a process with one thread, so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) * 1e-9


class Work:
    """Processor seconds of what collectives are made of, as the kernel counts them: those of all
    ranks, and of the program wire, on links with the delay and rate of the lab. A link's rate
    matters: it hands frames over one at a time, and each wakes who takes it. Measured by
    collectives, bytes or numbers of hosts that are not compared."""

    def __init__(self, options, program):
        self.options, self.program = options, program
        hosts, self.byte, self.message = options.hosts, {}, {}
        for settings, crowd in ((None, [n for n in options.per_host if n <= PROCESSORS]),
                                (CROWDED, [n for n in options.per_host if n > PROCESSORS])):
            if not crowd:
                continue
            # All links at once, so that the processors are busy: a rank that runs seldom takes
            # several frames in one turn.
            byte = self.far([1] * hosts, FLOOD, settings) / FLOOD[1] / (hosts - 1)
            # In an exchange of few bytes each host sends each other one a message.
            message = self.far([1] * hosts, SHORT, settings) / (hosts * (hosts - 1))
            self.byte.update({n: byte for n in crowd})
            self.message.update({n: message for n in crowd})
        with Lab(2, wire=links(options), sshd=True) as lab:
            # In a broadcast on one host each rank has to run once. As many ranks as there will be.
            self.near = {n: self.median(lab, [n * hosts], NEAR) / (n * hosts - 1)
                         for n in options.per_host if n > 1}
            # The same to ranks that sleep: each is also woken.
            self.wake = {n: max(self.median(lab, [n * hosts], RESTING) / (n * hosts - 1)
                                - self.near.get(n, 0), 0) for n in options.per_host}

    def median(self, lab, ranks, kind):
        """Processor seconds of all ranks for one collective."""
        found = [job(lab, self.program, self.options, ranks, kind, MORE_TIMES)
                 for _ in range(self.options.rounds)]
        return statistics.median(f[1] for f in found if f)

    def far(self, ranks, kind, settings):
        """Processor seconds of all ranks and of wire for one collective. ranks: of each host."""
        def one(times):
            before = processor_s(lab.wire.process.pid)
            spent = job(lab, self.program, self.options, ranks, kind, times, settings)[1]
            return spent * times, processor_s(lab.wire.process.pid) - before

        found = []
        with Lab(len(ranks), wire=links(self.options), sshd=True) as lab:
            for _ in range(self.options.rounds):
                few, more = one(TIMES), one(MORE_TIMES)
                found.append(more[0] / MORE_TIMES
                             + max(more[1] - few[1], 0) / (MORE_TIMES - TIMES))
        return statistics.median(found)

    def __str__(self):
        return "; ".join(
            f"{n * self.options.hosts} ranks: {self.byte[n] * 1e9:.2f} ns for a byte, "
            f"{self.message[n] * 1e6:.1f} us for a message, {self.near.get(n, 0) * 1e6:.1f} us for "
            f"one on the host, {self.wake[n] * 1e6:.1f} us to wake a rank"
            for n in self.options.per_host)


def host_seconds(options, lab, program):
    """What a host adds to a message: from two ranks, of which one message each way is done."""
    found = [job(lab, program, options, [1, 1], ("allreduce", 8), MORE_TIMES)
             for _ in range(options.rounds)]
    two = statistics.median(f[0] for f in found if f)
    return max(two - options.delay_us * 1e-6, 0) / 2


def rest_of_host(host_s, work):
    """What is left of it where the work of a message, and to wake who takes it, are charged."""
    return max(host_s - (min(work.message.values()) + min(work.wake.values())) / 2, 0)


def save(options, records):
    """Keeps what there is so far: a check that is ended has lost no row."""
    if options.json:
        options.json.write_text(json.dumps({"records": records}, indent=1) + "\n")


def compare(options, folder, lab, program, work):
    """All numbers of ranks. Returns the records."""
    records = []
    files = {"machine": folder / "lab.json", "loggp": folder / "loggp.json",
             "host_s": rest_of_host(host_seconds(options, lab, program), work)}
    print(f"sim: a host adds {files['host_s'] * 1e6:.0f} us to a message and its work", flush=True)
    for per_host in options.per_host:
        files["machine"].write_text(machine(options, per_host, work))
        ranks = per_host * options.hosts
        for key, seconds in real(lab, program, options, [per_host] * options.hosts).items():
            found = simulated(options, files, key, ranks)
            if not found:
                continue
            off = found[0] / seconds - 1
            records.append({"ranks": ranks, "collective": key[0], "bytes": key[1],
                            "algorithm": found[1], "real_s": seconds, "simulated_s": found[0],
                            "deviation": off, "ok": abs(off) <= 0.2})
            print(f"{ranks:4} {key[0]:10} {key[1]:7} {found[1]:10} real {seconds * 1e3:9.3f} ms  "
                  f"simulated {found[0] * 1e3:9.3f} ms  {100 * off:+6.1f} %", flush=True)
            save(options, records)
    return records


def prepare(options, folder):
    """Builds sim_check, measures messages into folder/loggp.json. Returns the program."""
    program = folder / "sim_check"
    subprocess.run(["cc", "-O2", str(HERE / "sim_check.c"), "-o", str(program),
                    f"-I{ROOT}/include", f"-L{options.build}/lib",
                    f"-Wl,-rpath,{options.build}/lib", "-ltombolo"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)  # far ranks of this machine
    subprocess.run([str(options.build / "bin/tombolo"), "bench", "loggp", "--quick", "--json",
                    str(folder / "loggp.json")], check=True, stdout=subprocess.DEVNULL)
    return program


def read_options(what):
    """The options of a comparison; `what` says of what."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--per-host", default="1,2,4,8", help="ranks of each host, by commas")
    parser.add_argument("--delay-us", type=float, default=3000, help="of a frame, one way")
    parser.add_argument("--rate-mbit", type=float, default=200, help="of each host's link")
    parser.add_argument("--rounds", type=int, default=3, help="real runs; their median counts")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.per_host = [int(n) for n in options.per_host.split(",")]
    os.environ.setdefault("TMB_BUILD", str(options.build))
    return options


def main():
    options = read_options("Simulated collectives beside real ones.")
    confine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = prepare(options, folder)
        work = Work(options, program)
        print(f"sim: processors take {work}", flush=True)
        with Lab(options.hosts, wire=links(options), sshd=True) as lab:
            records = compare(options, folder, lab, program, work)
    good = sum(r["ok"] for r in records)
    print(f"sim: {good} of {len(records)} within 20 %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
