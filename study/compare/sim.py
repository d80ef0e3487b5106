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
#   study/compare/sim.py [--hosts 8] [--per-host 1,2,4,8] [--delay-us 3000] [--rate-mbit 200]
#   study/compare/sim.py --replay study/data/simreal.json
# The second simulates again what a file has measured, without lab and root, in a minute.
import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from budget import compile_ours

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
SHORT = ("exchange", 8)  # many messages at once: few sleeps
ALONE = ("allreduce", 512)  # one message at a time: all sleep between
NEAR = ("broadcast", 8)
RESTING = ("resting", 8)
FIGURES = ("put_overhead", "signal_overhead", "message_overhead", "message_gap", "signal_latency")
# src/core/progress/wait.c: a rank spins for 100 us. Where the ranks of all hosts of this machine
# outnumber its processors it spins for 1 us and yields four times.
WAKE_AFTER_S, CROWDED_WAKE_AFTER_S = 1e-4, 1e-5
ACK_DELAY_S = 200e-6  # src/net/udp/state/udp_peer.h
# How ranks wait in the measured jobs with one rank on each host: as the library chooses where ranks
# outnumber processors; and without spinning. The model has spinning of its own, on free processors,
# so the measured cost of a sleep must not contain any.
WAITS = {"crowded": {}, "free": {"TOMBOLO_WAIT": "block"}}
PROCESSORS = len(os.sched_getaffinity(0))
FIRST_WINDOW = 14600
FRAME_BYTES = 1514  # of which a datagram of the conduit carries:
PAYLOAD_BYTES = 1400


def spins(options, per_host):
    """Whether ranks spin for long: they have a processor each. Without `one_kernel`
    ranks know those of their own host only."""
    return per_host * (options.hosts if options.one_kernel else 1) <= PROCESSORS


def wake_after(options, per_host):
    """Seconds after which a rank that waits sleeps."""
    return WAKE_AFTER_S if spins(options, per_host) else CROWDED_WAKE_AFTER_S


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
        **(shared(options, per_host, work) if work else {})}
    return json.dumps({"name": "lab", "title": "emulated links", "topology": "switch",
                       "parameters": {k: {"value": v, "source": s}
                                      for k, (v, s) in values.items()}})


def shared(options, per_host, work):
    """Processor time of collectives on processors that serve all hosts."""
    source = "measured: long and short messages at once, and alone: their frames and sleeps"
    return {
        "shared_processors": (getattr(work, "processors", PROCESSORS),
                              "this machine's serve all hosts"),
        "host_s_per_near_message": (work.near.get(per_host, 0),
                                    "measured: all ranks on one host"),
        "host_s_per_wake": (work.wake.get(per_host, 0),
                            "measured: all ranks on one host asleep, less the message"),
        "wake_after_s": (wake_after(options, per_host), "src/core/progress/wait.c"),
        "spin_holds": (int(spins(options, per_host)),
                       "counted: who wakes waits until a rank that spins has done so; crowded ones "
                       "yield at once"),
        "ack_delay_s": (ACK_DELAY_S, "src/net/udp/state/udp_peer.h"),
        **{name: (value, source) for name, value in work.cost[per_host]._asdict().items()}}


class Cost(NamedTuple):
    """Processor seconds; names are those of a machine."""
    host_s_per_byte: float
    host_s_per_message: float
    host_s_per_frame: float = 0
    host_s_per_sleep: float = 0
    line_s_per_frame: float = 0
    line_s_per_sleep: float = 0
    host_s_per_halt: float = 0
    line_s_per_halt: float = 0

    def one_message(self):
        """The part that delays a message for which all ranks wait, which are woken one by one."""
        return sum(self[1:]) + self.line_s_per_sleep + self.line_s_per_halt


class Use(NamedTuple):
    """Processor time of one collective: of its ranks, and of the program wire."""
    messages: float
    seconds: float
    sleeps: float
    line_seconds: float
    line_sleeps: float
    frames: float


def explain(counts, seconds):
    """Costs, none below 0, of which the sums over `counts` are nearest to `seconds`: least squares
    of what is missing as a part of each."""
    rows = [[n / s for n in row] for row, s in zip(counts, seconds)]
    found = [0.0] * len(rows[0])
    for _ in range(20000):
        for k in range(len(found)):
            rest = [1 - sum(a * b for i, (a, b) in enumerate(zip(row, found)) if i != k)
                    for row in rows]
            norm = sum(row[k] ** 2 for row in rows)
            found[k] = max(sum(row[k] * r for row, r in zip(rows, rest)) / norm, 0) if norm else 0
    return found


def costs(uses, busy=()):
    """Costs of messages, frames and sleeps that explain what some collectives used. What bytes
    take is in the frames. busy: uses beside programs that keep the processors from standing still;
    without, all of a sleep's cost is in one number."""
    both = [(u, bool(busy)) for u in uses] + [(u, False) for u in busy]
    host = explain([(u.messages, u.frames, u.sleeps, u.sleeps * halts) for u, halts in both],
                   [u.seconds for u, _ in both])
    line = explain([(u.frames, u.line_sleeps, u.line_sleeps * halts) for u, halts in both],
                   [u.line_seconds for u, _ in both])
    return Cost(0, *host[:3], *line[:2], host[3], line[2])


def job(lab, program, options, ranks, kind, times=TIMES, settings=None):
    """(seconds, processor seconds and sleeps of all ranks) of one collective, or None after a
    message. ranks: of each host. settings: variables of the library."""
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
    return tuple(float(found[i]) for i in (3, 4, 5)) if found else None


def real(lab, program, options, ranks, kinds=KINDS):
    """{(collective, bytes): seconds}, the median of some jobs. ranks: of each host."""
    rows = {}
    for kind in [k for _ in range(options.rounds) for k in kinds]:
        found = job(lab, program, options, ranks, kind)
        if found:
            rows.setdefault(kind, []).append(found[0])
    return {key: statistics.median(values) for key, values in rows.items()}


def simulated(options, files, key, ranks):
    """Result of `tombolo sim` for one collective, or None with a message."""
    done = subprocess.run(
        [options.build / "bin/tombolo", "sim", "collective", "--machine", files["machine"],
         "--loggp", files["loggp"], "--far", "--set",
         f"node_latency_s={files['host_s']}", "--ranks", str(ranks), "--kind", key[0],
         "--bytes", str(key[1]), "--times", str(TIMES), "--warm", "1", "--json", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"sim: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def links(options):
    """Settings of the program wire."""
    return [f"delay={options.delay_us:.0f}us", f"rate={options.rate_mbit:.0f}mbit",
            f"queue={4 << 20}"]


def line_use(lab):
    """(processor seconds, sleeps, frames) of the program wire, which has one thread, so far."""
    folder = Path(f"/proc/{lab.wire.process.pid}")
    text = (folder / "status").read_text()
    sleeps = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.M)
    return (int((folder / "schedstat").read_text().split()[0]) * 1e-9, int(sleeps[1]),
            lab.wire.counts()["frames"])


def measure_uses(options, program):
    """Two of {how ranks wait: {collective: what it used}}: on processors that stand still where
    nobody has work, and on some that never do. Each host has one rank. In a broadcast each other
    one gets a message, in an exchange each sends one to each, all-reduces take log2 rounds of all.
    None of these is compared."""
    hosts = options.hosts
    messages = {FLOOD: hosts - 1, SHORT: hosts * (hosts - 1),
                ALONE: hosts * (hosts - 1).bit_length()}
    waits = sorted({"free" if n <= PROCESSORS else "crowded" for n in options.per_host})

    def uses():
        return {wait: {f"{kind[0]} {kind[1]}":
                       Use(count, *far(options, program, kind, WAITS[wait]))._asdict()
                       for kind, count in messages.items()} for wait in waits}

    idle = uses()
    with busy_processors():
        return idle, uses()


@contextlib.contextmanager
def busy_processors():
    """Programs of the lowest priority keep all processors from idling. To wake an idle processor
    takes longer, and processors that many ranks share are never idle."""
    spinners = []
    try:
        for k in sorted(os.sched_getaffinity(0)):
            spinners.append(subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                             start_new_session=True))
            os.sched_setaffinity(spinners[-1].pid, {k})
            os.sched_setscheduler(spinners[-1].pid, os.SCHED_IDLE, os.sched_param(0))
            with contextlib.suppress(OSError):
                Path(f"/proc/{spinners[-1].pid}/autogroup").write_text("19")
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def far(options, program, kind, settings):
    """Use of one collective but for `messages`, the median of some, with a rank on each host."""
    def one(lab, times):
        before = line_use(lab)
        used = job(lab, program, options, [1] * options.hosts, kind, times, settings)[1:]
        return used, [b - a for a, b in zip(before, line_use(lab))]

    found = []
    with Lab(options.hosts, wire=links(options), sshd=True) as lab:
        for _ in range(options.rounds):
            few, more = one(lab, TIMES), one(lab, MORE_TIMES)
            # Both include start and end of the job.
            line = [max(b - a, 0) / (MORE_TIMES - TIMES) for a, b in zip(few[1], more[1])]
            found.append((*more[0], *line))
    return map(statistics.median, zip(*found))


def medians(path):
    """The parameters that the simulator reads from the JSON of `tombolo bench loggp`."""
    figures = json.loads(path.read_text())["figures"]
    return {"figures": [{name: f[name] for name in ("group", "name", "median")} for f in figures
                        if f["name"] in FIGURES]}


def measure(options, program, loggp):
    """The machine's parameters of the model, as JSON, which a file keeps for a replay."""
    def median(lab, ranks, kind):
        """Processor seconds of all ranks for a message of a broadcast on one host."""
        found = [job(lab, program, options, [ranks], kind, MORE_TIMES)
                 for _ in range(options.rounds)]
        return statistics.median(f[1] for f in found if f) / (ranks - 1)

    idle, busy = measure_uses(options, program)
    measured = {"hosts": options.hosts, "delay_us": options.delay_us,
                "rate_mbit": options.rate_mbit, "processors": PROCESSORS, "loggp": loggp,
                "one_kernel": True, "uses": idle, "busy_uses": busy}
    with Lab(2, wire=links(options), sshd=True) as lab:
        # In a broadcast on one host each rank has to run once. Ranks: as in the comparison.
        measured["near_s"] = {n: median(lab, n * options.hosts, NEAR)
                              for n in options.per_host if n > 1}
        # A broadcast to ranks that sleep: each is also woken.
        measured["resting_s"] = {n: median(lab, n * options.hosts, RESTING)
                                 for n in options.per_host}
        measured["host_s"] = host_seconds(options, lab, program)
    return measured


class Work:
    """Processor seconds of what collectives are made of, as the kernel counts them: those of all
    ranks, and of the program wire, on links with the delay and rate of the lab. A link's rate
    matters: it hands frames over one at a time, and each wakes who takes it. Collectives with few
    and many frames and sleeps for a message tell their costs apart. in measured: of measure()."""

    def __init__(self, measured):
        def listed(name, wait):
            return [Use(**use) for use in measured.get(name, {}).get(wait, {}).values()]

        uses = {wait: costs(listed("uses", wait), listed("busy_uses", wait))
                for wait in measured["uses"]}
        self.processors = measured["processors"]
        self.near = {int(n): s for n, s in measured["near_s"].items()}
        resting = {int(n): s for n, s in measured["resting_s"].items()}
        self.cost = {n: uses["free" if n <= self.processors else "crowded"] for n in resting}
        self.wake = {n: max(s - self.near.get(n, 0), 0) for n, s in resting.items()}
        self.hosts = measured["hosts"]

    def __str__(self):
        return "; ".join(
            f"{n * self.hosts} ranks: "
            + ", ".join(f"{v * 1e6:.4g} us {k}" for k, v in self.cost[n]._asdict().items())
            + f", {self.near.get(n, 0) * 1e6:.1f} us for a message on the host, "
            f"{self.wake[n] * 1e6:.1f} us to wake a rank there" for n in sorted(self.cost))


def host_seconds(options, lab, program):
    """Time that a host adds to a message, from a message each way between two ranks."""
    found = [job(lab, program, options, [1, 1], ("allreduce", 8), MORE_TIMES)
             for _ in range(max(options.rounds, 3))]
    two = statistics.median(f[0] for f in found if f)
    return max(two - options.delay_us * 1e-6, 0) / 2


def rest_of_host(host_s, work):
    """The rest of that time without the work of a message and without waking the receiver."""
    return max(host_s - min(c.one_message() for c in work.cost.values()) / 2, 0)


def save(options, records, measured=None):
    """Writes the rows so far, so that an interrupted check loses none."""
    if options.json:
        options.json.write_text(
            json.dumps({"records": records, "measured": measured}, indent=1) + "\n")


def write_files(folder, measured, work):
    """Arguments of the simulator, without the machine."""
    files = {"machine": folder / "lab.json", "loggp": folder / "loggp.json",
             "host_s": rest_of_host(measured["host_s"], work)}
    files["loggp"].write_text(json.dumps(measured["loggp"]))
    print(f"sim: a host adds {files['host_s'] * 1e6:.0f} us to a message and its work", flush=True)
    return files


def record(ranks, key, seconds, found):
    """One row, also printed."""
    off = found["seconds"] / seconds - 1
    print(f"{ranks:4} {key[0]:10} {key[1]:7} {found['algorithm']:10} real {seconds * 1e3:9.3f} ms  "
          f"simulated {found['seconds'] * 1e3:9.3f} ms  {100 * off:+6.1f} %", flush=True)
    counts = {name: found[name] / (TIMES + 1) for name in
              ("packets", "answers", "sleeps", "line_sleeps", "work_s", "line_work_s")}
    return {"ranks": ranks, "collective": key[0], "bytes": key[1], "algorithm": found["algorithm"],
            "real_s": seconds, "simulated_s": found["seconds"], "deviation": off,
            "ok": abs(off) <= 0.2, "simulated": counts}


def compare(options, folder, lab, program, measured):
    """All numbers of ranks. Returns the records."""
    records, work = [], Work(measured)
    print(f"sim: processors take {work}", flush=True)
    files = write_files(folder, measured, work)
    for per_host in options.per_host:
        files["machine"].write_text(machine(options, per_host, work))
        ranks = per_host * options.hosts
        for key, seconds in real(lab, program, options, [per_host] * options.hosts).items():
            found = simulated(options, files, key, ranks)
            if not found:
                continue
            records.append(record(ranks, key, seconds, found))
            save(options, records, measured)
    return records


def replay(options, folder):
    """Simulates the rows of a file again. Returns the records."""
    data = json.loads(options.replay.read_text())
    measured = data["measured"] if "records" in data else data.get("measured", {})["collectives"]
    rows = data["records"] if "records" in data else data["collectives"]
    options.hosts, options.delay_us, options.rate_mbit = (
        measured[name] for name in ("hosts", "delay_us", "rate_mbit"))
    options.one_kernel = measured.get("one_kernel", False)
    work = Work(measured)
    print(f"sim: processors take {work}", flush=True)
    files = write_files(folder, measured, work)

    def one(row):
        mine = {**files, "machine": folder / f"lab{row['ranks']}.json"}
        return simulated(options, mine, (row["collective"], row["bytes"]), row["ranks"])

    for ranks in {row["ranks"] for row in rows}:
        text = machine(options, ranks // options.hosts, work)
        (folder / f"lab{ranks}.json").write_text(text)
    records = []
    with ThreadPoolExecutor(PROCESSORS) as pool:
        for row, found in zip(rows, pool.map(one, rows)):
            if found:
                key = (row["collective"], row["bytes"])
                records.append(record(row["ranks"], key, row["real_s"], found))
    save(options, records, measured)
    return records


def prepare(options, folder):
    """Builds sim_check, measures messages into folder/loggp.json. Returns the program."""
    program = compile_ours(options.build, HERE / "sim_check.c", folder / "sim_check")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)  # far ranks of this machine
    subprocess.run([str(options.build / "bin/tombolo"), "bench", "loggp", "--quick", "--json",
                    str(folder / "loggp.json")], check=True, stdout=subprocess.DEVNULL)
    return program


def read_options(what):
    """The options of a comparison of `what`."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--per-host", default="1,2,4,8", help="ranks of each host, by commas")
    parser.add_argument("--delay-us", type=float, default=3000, help="delay of a frame, one way")
    parser.add_argument("--rate-mbit", type=float, default=200, help="rate of each host's link")
    parser.add_argument("--rounds", type=int, default=3, help="real runs; their median counts")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    parser.add_argument("--replay", type=Path,
                        help="simulate with the measurements of this file, without lab and root")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.one_kernel = True
    options.per_host = [int(n) for n in options.per_host.split(",")]
    os.environ.setdefault("TMB_BUILD", str(options.build))
    return options


def check(options, folder):
    """Measures, and compares with real runs. Returns the records."""
    program = prepare(options, folder)
    measured = measure(options, program, medians(folder / "loggp.json"))
    with Lab(options.hosts, wire=links(options), sshd=True) as lab:
        return compare(options, folder, lab, program, measured)


def main():
    options = read_options("Simulated collectives beside real ones.")
    if not options.replay:
        confine()
    with tempfile.TemporaryDirectory() as name:
        records = (replay if options.replay else check)(options, Path(name))
    good = sum(r["ok"] for r in records)
    print(f"sim: {good} of {len(records)} within 20 %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
