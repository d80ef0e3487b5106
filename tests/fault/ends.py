#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
# cases: 1of2 2of2
"""How jobs end: exit codes, early ends, crashes, kills, stops; for both launch methods."""

import os
import re
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, VICTIM, Job, check, named, run_cases, wait_for  # noqa: E402

MPICH = os.path.join(os.environ.get("TMB_BUILD", "build"),
                     "lib/tombolo/tombolo-net-mpi-mpich.so")

EARLY = r"^tombolo: rank 1 ended before gasnet_barrier 2 of all ranks, in which rank 3 waits; "
# One rank ends on its own, three hang: (how, argument, exit code of the job, message).
OWN_ENDS = [
    ("gexit", 7, 7, r"rank 1 .*exited with code 7 after \d+\.\d+ s"),
    ("gexit", 0, 0, EARLY),
    ("gexit", 256 + 9, 9, r"rank 1 .*exited with code 9"),
    ("exit", 5, 5, r"rank 1 .*exited with code 5"),
    ("return", 6, 6, r"rank 1 .*exited with code 6"),
    ("return", 0, 0, EARLY),
    ("uexit", 4, 4, r"rank 1 .*exited with code 4"),
    ("threads", 8, 8, r"rank 1 .*exited with code 8"),
    ("insignal", 11, 11, r"rank 1 .*exited with code 11"),
    ("locked", 12, 12, r"rank 1 .*exited with code 12"),
    ("abort", 0, 134, r"rank 1: caught signal 6 \(SIGABRT"),
    ("segv", 0, 139, r"rank 1: caught signal 11 \(SIGSEGV"),
    ("overflow", 0, 139, r"rank 1: caught signal 11 \(SIGSEGV"),
    ("misuse", 0, 134, r"FATAL ERROR \(proc 1\)"),
    ("raise", signal.SIGKILL, 137, r"rank 1 \(pid \d+ on \S+\) killed by signal 9 \(SIGKILL\)"),
    ("raise", signal.SIGTERM, 143, r"rank 1 .*exited with code 143"),
    ("raise", signal.SIGQUIT, 1, r"rank 1 .*exited with code 1\b"),
    ("raise", signal.SIGALRM, 142, r"rank 1 .*killed by signal 14 \(SIGALRM\)"),
]


def own_end(launch, how, argument, code, message):
    job = Job(4, [VICTIM, "one", how, "1", str(argument)], launch)
    job.expect(code, message)
    frames = re.compile(r"^tombolo: rank 1 failed in\n(?:  .*\n)+", re.M)
    check(frames.sub("", job.err).count("\n") <= 1, "one end, more than one message:", job.err)


def handler_exit(launch):
    """gasnet_exit in a handler: rank 1 asks rank 3, which waits in the library."""
    job = Job(4, [VICTIM, "one", "handler", "1", "13"], launch)
    job.expect(13, r"rank 3 .*exited with code 13")


def no_other_left(launch):
    """A single rank of two."""
    Job(2, [VICTIM, "one", "gexit", "0", "3"], launch).expect(3, r"ending the other rank\b")


def first_code_counts(launch):
    """All ranks give different codes: the job's is one of them."""
    job = Job(4, [VICTIM, "all", "20"], launch)
    code = job.end()
    check(20 <= code < 24, "exit code", code)
    job.nothing_left()


def before_attach(launch):
    for how, code in (("gexit", 3), ("return", 4), ("exit", 0)):
        Job(3, [VICTIM, "early", how, "1", str(code)], launch).expect(code)


def in_a_barrier(launch):
    """A rank returns from main while others wait in a barrier: code 0, and a line that says it."""
    words = r"rank 0 ended before gasnet_barrier 1 of all ranks, in which ranks 1-2 wait; the job"
    job = Job(3, [VICTIM, "leave", "0"], launch).expect(0, words)
    check(job.err.count("\n") == 1, job.err)
    if launch != "agents":  # there the agent of rank 1 has ended with it, and its count of calls
        Job(2, [VICTIM, "leave", "1"], launch).expect(0, "rank 1 ended .*in which rank 0 waits")


def never_joins(launch, code):
    """One process of the job is no rank at all: the others must not wait for it, and end with the
    reason; also where it is on another host than the others."""
    words = r"rank \d ended with code 0 and never joined the job.* initialises this library"
    with tempfile.TemporaryDirectory() as folder:
        program = [VICTIM, "noinit", folder + "/first", str(code)]
        job = Job(3 if launch == "run" else 2, program, launch)
        job.expect(code or 1, *([] if code else [words]))
        check(job.err.count("never joined") == (not code), job.err)


def other_program():
    """Programs that know nothing of the library run side by side to their own ends."""
    job = Job(3, ["sh", "-c", "sleep 0.$$; sleep 0.5; echo done"]).expect(0)
    check(job.out.count("done") == 3, job.out)
    check("joined" not in job.err, job.err)
    job = Job(2, ["true"], options=["-v"]).expect(0)
    check("no rank of this host has joined the job before it ended" in job.err, job.err)


def children_end_with_the_job(launch):
    """What a rank has started ends with a job that fails, however it was started."""
    for start in ("sleep 1000 &", "(sleep 1000 & sleep 1001) &", "(trap '' TERM; sleep 1000) &"):
        rank = f"{start} exec {VICTIM} one raise 1 9" if launch == "exec" else (
            f"{start} {VICTIM} one raise 1 9; exit $?")
        Job(3, ["sh", "-c", rank]).expect(137, r"rank 1 .*(signal 9|code 137)")


def children_outlive_success():
    """A job that ends well leaves alone what its ranks have started."""
    job = Job(2, ["sh", "-c", f"sleep 1000 >&- 2>&- & echo child $!; exec {VICTIM} one return 1 0"])
    check(job.end() == 0, job.err)
    children = [int(line.split()[1]) for line in job.out.split("\n") if line.startswith("child ")]
    check(len(children) == 2, job.out)
    for pid in children:
        check(os.path.exists(f"/proc/{pid}"), "process", pid, "was ended")
        os.kill(pid, signal.SIGTERM)
    job.nothing_left()


def catch_exit_off(launch):
    """With GASNET_CATCH_EXIT=0 only gasnet_exit ends the job, and codes still count."""
    env = {"GASNET_CATCH_EXIT": "0"}
    job = Job(3, [VICTIM, "one", "return", "1", "5"], launch, env=env)
    pids = job.ready()
    wait_for("rank 1 to end", lambda: not os.path.exists(f"/proc/{pids[1]}"))
    time.sleep(1.5)
    check(job.process.poll() is None, "the job ended with code", job.process.poll())
    check(os.path.exists(f"/proc/{pids[0]}"), "rank 0 has ended")
    job.process.send_signal(signal.SIGTERM)
    job.expect(128 + signal.SIGTERM)


def kill_one(launch):
    job = Job(4, [VICTIM, "hang"], launch)
    pids = job.ready()
    began = time.monotonic()
    os.kill(pids[2], signal.SIGKILL)
    job.expect(
        137,
        r"rank 2 \(pid %d on \S+\) killed by signal 9 \(SIGKILL\) after \d+\.\d\d s; "
        r"ending the other 3 ranks" % pids[2],
    )
    # Less than TOMBOLO_PEER_TIMEOUT; most often a second, more on a machine with load.
    check(time.monotonic() - began < 25, "took", time.monotonic() - began, "s")


def kill_all_ranks(launch):
    job = Job(4, [VICTIM, "hang"], launch)
    for pid in job.ready().values():
        os.kill(pid, signal.SIGKILL)
    job.expect(137, r"killed by signal 9")


def kill_supervisor(launch):
    Job(4, [VICTIM, "hang"], launch).launcher_killed()


def kill_everything(launch):
    job = Job(4, [VICTIM, "hang"], launch)
    pids = list(job.ready().values())
    for pid in [job.process.pid, *pids]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it followed the supervisor already
    job.expect(-signal.SIGKILL)


def stop_and_continue(launch):
    job = Job(3, [VICTIM, "work", "2"], launch)
    pids = job.ready()
    os.kill(pids[1], signal.SIGSTOP)
    time.sleep(1)
    check(job.process.poll() is None, "a stopped rank ended the job")
    os.kill(pids[1], signal.SIGCONT)
    job.expect(0)
    check(job.out.count("worked") == 3, job.out)


def stopped_rank_is_ended(launch):
    job = Job(3, [VICTIM, "hang"], launch)
    pids = job.ready()
    os.kill(pids[1], signal.SIGSTOP)
    os.kill(pids[2], signal.SIGKILL)
    job.expect(137, r"rank 2 .*killed by signal 9")


def last_thread(launch):
    """A process whose main thread has ended ends with its last thread, also with a network."""
    networks = [{}, {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}]
    if launch == "run" and os.path.exists(MPICH):  # UCX below it has threads with names of its own
        networks.append({"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "mpi", "TOMBOLO_MPI": "mpich"})
    for env in networks:
        for seconds, how in (("0", "last"), ("1", "last"), ("1", "refused")):
            job = Job(4, [VICTIM, "work", seconds, how], launch, env=env).expect(0)
            check(job.out.count("worked") == 4, env, how, job.out)


def rank_that_ignores_signals_is_ended(launch):
    """Ranks that ignore SIGQUIT and SIGTERM."""
    job = Job(3, [VICTIM, "ignore"], launch)
    os.kill(job.ready()[0], signal.SIGKILL)
    job.expect(137, r"rank 0 .*killed by signal 9")


def last_words(launch):
    """What a rank has printed is not lost because it gets a processor too late."""
    job = Job(5, [VICTIM, "starve"], launch)
    job.end()
    for rank in range(1, 5):
        check(f"last words of rank {rank}" in job.out, "a line is lost:", job.out, job.err)


def late_words(launch):
    """What a rank prints after the last barrier is not lost because it gets a processor late."""
    job = Job(3, [VICTIM, "late"], launch).expect(0)
    for rank in (1, 2):
        check(f"late words of rank {rank}" in job.out, "a line is lost:", job.out, job.err)


def client_quit_handler(launch):
    """The others are ended by SIGQUIT, which the client may catch; their codes do not count."""
    job = Job(3, [VICTIM, "client-quit", "9"], launch)
    os.kill(job.ready()[0], signal.SIGKILL)
    job.expect(137)
    check(job.out.count("client handler") == 2, job.out)


def client_catches_terminator(launch):
    """SIGTERM to one rank arrives as SIGQUIT in the client's handler, whose code counts."""
    job = Job(3, [VICTIM, "client-quit", "9"], launch)
    os.kill(job.ready()[0], signal.SIGTERM)
    job.expect(9, r"rank 0 .*exited with code 9")


def signal_left_alone(launch):
    env = {"GASNET_NO_CATCH_SIGNAL": "SIGTERM,segv"}
    Job(2, [VICTIM, "one", "raise", "1", "15"], launch, env=env).expect(143, r"killed by signal 15")
    job = Job(2, [VICTIM, "one", "segv", "1", "0"], launch, env=env).expect(
        139, r"killed by signal 11"
    )
    check("caught signal" not in job.err, job.err)


def end_by_signal(launch, number):
    job = Job(4, [VICTIM, "hang"], launch)
    job.ready()
    job.process.send_signal(number)
    job.expect(128 + number)


def end_by_signal_twice(launch):
    """The second signal kills at once also ranks that do not listen."""
    job = Job(2, [VICTIM, "ignore"], launch)
    job.ready()
    job.process.send_signal(signal.SIGINT)
    job.process.send_signal(signal.SIGTERM)
    code = job.end()
    check(code in (130, 143), "exit code", code)
    job.nothing_left()


def descriptors(launch):
    """Programs that a rank starts inherit none of the job's descriptors."""
    job = Job(2, [VICTIM, "fds"], launch).expect(0)
    for line in job.out.strip().split("\n"):
        extra = [int(n) for n in line.split() if int(n) > 3]
        check(not extra, "descriptors", extra, "in", job.out)


def both_ways(function):
    return [named(f"{function.__name__}/{launch}", function, launch) for launch in LAUNCHES]


CASES = [
    named(f"own_end/{launch}/{end[0]}({end[1]})", own_end, launch, *end)
    for launch in LAUNCHES
    for end in OWN_ENDS
]
for case in (
    handler_exit,
    no_other_left,
    first_code_counts,
    before_attach,
    catch_exit_off,
    kill_one,
    kill_all_ranks,
    kill_supervisor,
    kill_everything,
    stop_and_continue,
    stopped_rank_is_ended,
    rank_that_ignores_signals_is_ended,
    last_thread,
    last_words,
    late_words,
    client_quit_handler,
    client_catches_terminator,
    signal_left_alone,
    end_by_signal_twice,
    descriptors,
):
    CASES += both_ways(case)
CASES += [
    named(f"end_by_signal/{launch}/{s}", end_by_signal, launch, s)
    for launch in LAUNCHES
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
]
CASES += [
    named(f"never_joins/{launch}/{code}", never_joins, launch, code)
    for launch in ("run", "agents")
    for code in (0, 3)
]
CASES += [named(f"in_a_barrier/{launch}", in_a_barrier, launch)
          for launch in (*LAUNCHES, "agents")]
CASES += [other_program, children_outlive_success]
CASES += [
    named(f"children_end_with_the_job/{launch}", children_end_with_the_job, launch)
    for launch in ("exec", "behind")
]

if __name__ == "__main__":
    run_cases(CASES)
