#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""Output under stress: slow, absent and stubborn readers, labelled lines, many ranks."""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, TOMBOLO, VICTIM, Failure, Job, check, named, run_cases  # noqa: E402

BUILD = os.environ.get("TMB_BUILD", "build")

LINES = 20000  # per rank and stream: far more than a pipe holds
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
KINDS = [("run", ()), ("run", ("--label",)), ("self", ())]


def count_lines(text, ranks, label):
    """Checks that every line of `victim lines` is there, whole, in order, with its label."""
    prefix = r"\[(\d+)\] " if label else "()"
    pattern = re.compile(prefix + r"out (\d+) of rank (\d+) " + ALPHABET + "$")
    seen = [0] * ranks
    for line in text.split("\n"):
        match = pattern.match(line)
        if not match:
            continue
        rank = int(match[3])
        check(not label or int(match[1]) == rank, "wrong label:", line)
        check(int(match[2]) == seen[rank], "rank", rank, "line", seen[rank], "is", line)
        seen[rank] += 1
    check(seen == [LINES] * ranks, "lines per rank:", seen)


def slow_reader(launch, options):
    """Nothing is lost and nobody is killed when the reader takes its time."""
    job = Job(3, [VICTIM, "lines", str(LINES)], launch, options, stderr=subprocess.DEVNULL)
    time.sleep(2.5)  # pipes are full by now, ranks may want to end
    chunks = []
    for _ in range(15):
        chunks.append(os.read(job.process.stdout.fileno(), 4096))
        time.sleep(0.1)
    out, _ = job.process.communicate(timeout=60)
    text = (b"".join(chunks) + out).decode()
    check(job.process.returncode == 0, "exit code", job.process.returncode)
    if options:
        count_lines(text, 3, True)
        for rank in range(3):
            check(f"[{rank}] last of rank {rank}\n" in text, "the unfinished line is missing", rank)
    else:
        wanted = sum(len(f"out {i} of rank 0 {ALPHABET}\n") for i in range(LINES)) + len(
            "last of rank 0"
        )
        check(len(text) == 3 * wanted, len(text), "characters of", 3 * wanted)
    job.nothing_left()


def nobody_reads_and_a_rank_dies(launch, options):
    """A full pipe does not hold up the end of a job that failed."""
    job = Job(3, [VICTIM, "lines", str(LINES)], launch, options, stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    ranks = [
        int(p)
        for p in subprocess.run(
            ["pgrep", "-P", str(job.process.pid)], check=False, stdout=subprocess.PIPE
        ).stdout.split()
    ]
    check(len(ranks) == 3, "ranks that wait for the reader:", ranks)
    began = time.monotonic()
    os.kill(ranks[1], signal.SIGKILL)
    until = began + 20
    alive = ranks
    while alive:
        check(time.monotonic() < until, "ranks hang in the full pipe:", alive)
        time.sleep(0.05)
        alive = [p for p in ranks if os.path.exists(f"/proc/{p}")]
    job.process.stdout.close() if options else None
    check(job.process.wait(timeout=20) == 137, "exit code", job.process.returncode)
    job.nothing_left()


def nobody_reads_and_time_is_over(options):
    job = Job(3, [VICTIM, "lines", str(LINES)], "run", ("--timeout", "1.5", *options))
    code = job.process.wait(timeout=30)
    check(code == 124, "exit code", code)
    job.nothing_left()


def nobody_reads_and_the_user_gives_up(launch, options):
    job = Job(3, [VICTIM, "lines", str(LINES)], launch, options)
    time.sleep(1.0)
    job.process.send_signal(signal.SIGINT)
    code = job.process.wait(timeout=30)
    check(code == 130, "exit code", code)
    job.nothing_left()


def reader_goes_away(launch, options):
    """As in `... | head -1`: the job ends, by SIGPIPE or by itself, and does not hang."""
    job = Job(3, [VICTIM, "lines", str(LINES)], launch, options, stderr=subprocess.DEVNULL)
    job.process.stdout.readline()
    job.process.stdout.close()
    try:
        code = job.process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        raise Failure("the job goes on without a reader") from None
    check(code in (141, 128 + signal.SIGPIPE), "exit code", code)
    job.nothing_left()


def labels_of_both_streams():
    job = Job(4, [VICTIM, "lines", str(LINES)], "run", ("--label",)).expect(0)
    count_lines(job.out, 4, True)
    for rank in range(4):
        check(f"[{rank}] last of rank {rank}\n" in job.out, "no last line of rank", rank)
        lines = re.findall(rf"^\[{rank}\] err (\d+) of rank {rank}$", job.err, re.M)
        check(lines == [str(i) for i in range(0, LINES, 8)], "stderr of rank", rank, len(lines))
    bad = [line for line in job.out.split("\n") + job.err.split("\n") if line and line[0] != "["]
    check(not bad, "lines without label:", bad[:3])


def labels_in_one_file():
    """Both streams in one pipe: lines stay whole."""
    job = Job(
        4, [VICTIM, "lines", str(LINES)], "run", ("--label",), stderr=subprocess.STDOUT
    ).expect(0)
    count_lines(job.out, 4, True)
    pattern = re.compile(
        r"\[(\d)\] (out \d+ of rank \1 [a-z]{26}|err \d+ of rank \1|last of rank \1)$"
    )
    bad = [line for line in job.out.split("\n") if line and not pattern.match(line)]
    check(not bad, "torn lines:", bad[:3])


def long_line():
    """A line longer than every buffer arrives as one."""
    script = "import sys; sys.stdout.write('x' * 300000); sys.stdout.flush(); print('y' * 300000)"
    job = Job(2, [sys.executable, "-c", script], "run", ("--label",)).expect(0)
    for rank in (0, 1):
        check(f"[{rank}] " + "x" * 300000 + "y" * 300000 + "\n" in job.out, "line of rank", rank)


def no_newline_no_output():
    job = Job(2, ["sh", "-c", "printf partial"], "run", ("--label",)).expect(0)
    check(sorted(job.out.split("\n")) == ["", "[0] partial", "[1] partial"], repr(job.out))
    job = Job(2, ["true"], "run", ("--label",)).expect(0)
    check(job.out == "" and job.err == "", repr(job.out), repr(job.err))


def closed_output():
    """Standard output closed from the start."""
    job = Job(2, [VICTIM], "run", (), stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(1))
    job.expect(0)


def closed_streams():
    """A program that starts its ranks without input and output: what it prints reaches no file of
    the library."""
    if not os.path.exists(os.path.join(BUILD, "lib/tombolo/tombolo-net-udp.so")):
        return "no conduit udp"

    def close():
        os.close(0)
        os.close(1)

    env = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}
    Job(3, [VICTIM, "lines", "100"], "self", (), env, stdout=subprocess.DEVNULL,
        preexec_fn=close).expect(0)
    return None


def full_output():
    """A command that cannot print what it was asked for says so, and fails."""
    for words in (["explain", "103"], ["version"], ["help"], ["ps"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOMBOLO, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False)
        check(done.returncode == 1, words, done)
        check("cannot write to standard output: No space left" in done.stderr, words, done)


def stray_child():
    """A process that a rank leaves behind with the pipe open does not hold the launcher."""
    job = Job(2, ["sh", "-c", "sleep 30 & echo done"], "run", ("--label",))
    until = time.monotonic() + 20
    while job.process.poll() is None:
        check(time.monotonic() < until, "the launcher waits for a stray process")
        time.sleep(0.05)
    check(job.process.stdout.read().count(b"done") == 2, "output is missing")


CASES = []
for case in (
    slow_reader,
    nobody_reads_and_a_rank_dies,
    nobody_reads_and_the_user_gives_up,
    reader_goes_away,
):
    CASES += [
        named(f"{case.__name__}/{launch}{''.join(options)}", case, launch, options)
        for launch, options in KINDS
    ]
CASES += [
    named(
        f"nobody_reads_and_time_is_over{''.join(options)}", nobody_reads_and_time_is_over, options
    )
    for launch, options in KINDS
    if launch in LAUNCHES[:1]
]
CASES += [
    labels_of_both_streams,
    labels_in_one_file,
    long_line,
    no_newline_no_output,
    closed_output,
    closed_streams,
    full_output,
    stray_child,
]

if __name__ == "__main__":
    run_cases(CASES)
