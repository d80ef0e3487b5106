#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""`tombolo run`: options, refusals, environment, stdin, signals; and GASNET_PSHM_NODES."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, TOMBOLO, VICTIM, Job, check, named, run_cases, wait_for  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RING = os.path.join(TOP, "examples/ring.c")
RING_PY = os.path.join(TOP, "bindings/python/examples/ring.py")
HANGS = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault/hangs")


def tombolo(*arguments, **extra):
    """Runs the command. Returns (code, stdout, stderr)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    env.update(extra.pop("env", {}))
    extra.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(
        [TOMBOLO, *arguments],
        timeout=60,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        **extra,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# arguments, exit code, what stderr must say
REFUSED = [
    (["run", "-n", "0", "true"], 2, r"-n 0: out of range; give .* from 1 to 1024"),
    (["run", "-n", "1025", "true"], 2, r"-n 1025: out of range; give .* from 1 to 1024"),
    (["run", "-n", "-1", "true"], 2, r"-n -1: out of range"),
    (["run", "-n", "two", "true"], 2, r"-n two: not a number; give .* from 1 to 1024"),
    (["run", "-n", "", "true"], 2, r"-n : not a number"),
    (["run", "-n", "99999999999999999999", "true"], 2, r"-n 9+: not a number"),
    (["run", "-n", "2"], 2, r"no program given; usage: "),
    (["run"], 2, r"no program given; usage: "),
    (["run", "--no-such-option", "true"], 2, r"no-such-option"),
    (["run", "--timeout", "soon", "true"], 2, r"--timeout soon: .*give seconds"),
    (["run", "--timeout", "0", "true"], 2, r"--timeout 0: "),
    (["run", "--stdin", "5", "-n", "2", "true"], 2, r"--stdin 5: there is no such rank"),
    (["run", "--stdin", "me", "true"], 2, r"--stdin me: give a rank, 'all' or 'none'"),
    (["run", "-E", "=x", "true"], 2, r"-E =x: no name"),
    (["run", "--trace", "-n", "2", "true"], 2, r"--trace -n: this is an option; give a file"),
    (["run", "--trace", "", "true"], 2, r"--trace: the name is empty"),
    (["run", "--cwd", "/no/such", "true"], 2, r"--cwd /no/such: No such file or directory"),
    (["run", "-n", "2", "/no/such/program"], 127, r"program '/no/such/program' not found"),
    (["run", "-n", "2", "no-such-program"], 127, r"program 'no-such-program' not found in PATH"),
    (["run", "-n", "2", ""], 127, r"program '' not found"),
    (["run", "-n", "2", "/etc/passwd"], 126, r"cannot be executed: Permission denied.*chmod"),
    (["run", "-n", "2", RING], 126, r"Permission denied; compile this source by tombolo cc"),
    (["run", "-n", "2", RING_PY], 126, r"give it to Python: python3 -m tombolo run"),
    (["run", "-n", "2", "/tmp"], 126, r"cannot be executed: Is a directory"),
    (["walk"], 2, r"there is no command 'walk'"),
    (["rum"], 2, r"no command 'rum'; did you mean 'run'\?"),
    (["run", "-np", "x", "true"], 2, r"-n x: not a number"),
    (["run", "--labels", "true"], 2, r"no option --labels; did you mean --label\?"),
    (["run", "-n", "2", "--hostz=a", "true"], 2, r"no option --hostz; did you mean --hosts\?"),
    (["doctor", "--jsom"], 2, r"no option --jsom; did you mean --json\?"),
    (["why", "--hlp"], 2, r"no option --hlp; did you mean --help\?"),
    (["run", "--nope", "true"], 2, r"unrecognized option '--nope'"),  # far from each
    ([], 2, r"Usage: tombolo COMMAND"),
]


def refused(arguments, code, words):
    result = tombolo(*arguments)
    check(result[0] == code, "exit code", result[0], "expected", code, result)
    check(re.search(words, result[2]), f"stderr lacks /{words}/:", repr(result[2]))
    check(result[1] == "", "something on stdout:", result[1])


def information():
    for arguments in (["--version"], ["run", "--version"]):
        code, out, _ = tombolo(*arguments)
        check(code == 0 and re.match(r"tombolo \d+\.\d+", out), code, out)
    for arguments in (["--help"], ["run", "--help"], ["help"]):
        code, out, _ = tombolo(*arguments)
        check(code == 0 and "Usage" in out, code, out)
    for name in ("run", "doctor", "fc"):
        check(tombolo("help", name) == tombolo(name, "--help"), name)


def other_spellings():
    """The number of ranks as other launchers take it; options behind the program are its own."""
    for words in (["-np", "2"], ["-np2"], ["-n2"]):
        code, out, err = tombolo("run", *words, "echo", "--labels")
        check((code, out, err) == (0, "--labels\n" * 2, ""), words, code, out, err)


def not_executable():
    """chmod +x is advised only where the file lacks it."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "needs root and unshare"
    script = ("mount -t tmpfs -o noexec none /mnt && cp /bin/true /mnt || exit 77; "
              f"exec '{TOMBOLO}' run -n 2 /mnt/true")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True,
                          timeout=30, check=False)
    if done.returncode in (1, 77):
        return "no file system can be mounted"
    check(done.returncode == 126 and "noexec" in done.stderr and "chmod" not in done.stderr, done)
    return None


def start_alone(name, value):
    """Starts the program without a launcher, with one variable; as subprocess.run returns."""
    return subprocess.run(
        [VICTIM],
        env={**os.environ, name: value},
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )


def bad_node_counts():
    """GASNET_PSHM_NODES out of range is refused with name, value and range."""
    for value in ("0", "1025", "many", "-3"):
        done = start_alone("GASNET_PSHM_NODES", value)
        text = done.stderr.decode()
        check(done.returncode != 0, value, "is accepted")
        check("GASNET_PSHM_NODES" in text and value in text, repr(text))


def other_spawner():
    env = {**os.environ, "GASNET_PSHM_NODES": "2", "GASNET_SMP_SPAWNER": "rsh"}
    done = subprocess.run(
        [VICTIM],
        env=env,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    check(done.returncode != 0, "GASNET_SMP_SPAWNER=rsh is accepted")
    check(b"GASNET_SMP_SPAWNER=rsh is not available" in done.stderr, done.stderr)
    for known in ("fork", "ssh", "mpi", "pmi"):
        Job(2, [VICTIM], "self", env={"GASNET_SMP_SPAWNER": known}).expect(0)


def counts(ranks, launch):
    job = Job(ranks, [VICTIM], launch).expect(0)
    got = sorted(int(n) for n in re.findall(rf"rank (\d+) of {ranks} is fine", job.out))
    check(got == list(range(ranks)), "ranks", got)


def alone():
    """Without a launcher and a count the program is the only rank."""
    env = {k: v for k, v in os.environ.items() if k != "GASNET_PSHM_NODES"}
    out = subprocess.run([VICTIM], env=env, timeout=30, check=True, stdout=subprocess.PIPE).stdout
    check(out == b"rank 0 of 1 is fine\n", out)


def environment():
    """-E sets, the job's own variable is hidden, the rest and the arguments arrive as they are."""
    out = tombolo(
        "run", "-n", "2", "-E", "TMBTEST_A=x=y z", "-E", "HOME", VICTIM, "env", "TMBTEST_A"
    )[1]
    check(sorted(out.split("\n")[:2]) == [f"rank {r} env x=y z" for r in (0, 1)], out)
    out = tombolo("run", "-n", "2", VICTIM, "env", "TOMBOLO_BOOT")[1]
    check(out.count("env (unset)") == 2, out)
    out = tombolo("run", "-n", "2", VICTIM, "env", "TMBTEST_B", env={"TMBTEST_B": "1"})[1]
    check(out.count("env 1") == 2, out)
    out = tombolo("run", "--", "printf", "%s|", "-n", "--label", "a b", "")[1]
    check(out == "-n|--label|a b||", out)


def setting_through_option():
    """A setting given by -E reaches the supervisor, too."""
    code, _, err = tombolo("run", "-n", "2", "-E", "GASNET_EXITTIMEOUT=bad", VICTIM)
    check(code != 0 and "GASNET_EXITTIMEOUT" in err and "bad" in err, code, err)


def folder():
    with tempfile.TemporaryDirectory() as place:
        out = tombolo("run", "-n", "2", "--cwd", place, "pwd")[1]
        check(out == (os.path.realpath(place) + "\n") * 2, out)


def standard_input():
    text = b"one\ntwo\n"
    for options, readers in ((("--stdin", "1"), {1}), ((), {0}), (("--stdin", "none"), set())):
        done = subprocess.run(
            [TOMBOLO, "run", "-n", "3", *options, VICTIM, "stdin"],
            input=text,
            timeout=60,
            check=True,
            stdout=subprocess.PIPE,
        )
        lines = done.stdout.decode().split("\n")
        for rank in range(3):
            got = [line for line in lines if line.startswith(f"rank {rank} read")]
            wanted = [f"rank {rank} read one", f"rank {rank} read two"] if rank in readers else []
            check(got == wanted, options, "rank", rank, "read", got)
    done = subprocess.run(
        [TOMBOLO, "run", "-n", "2", "--stdin", "all", "readlink", "/proc/self/fd/0"],
        input=text,
        timeout=60,
        check=True,
        stdout=subprocess.PIPE,
    )
    check(len(set(done.stdout.split())) == 1 and b"pipe:" in done.stdout, done.stdout)


def time_limit():
    began = time.monotonic()
    code, _, err = tombolo("run", "-n", "3", "--timeout", "1s", VICTIM, "hang")
    check(code == 124, "exit code", code)
    check("time limit of 1 s is over; ranks still running: 0-2; ending them" in err, err)
    check(0.9 < time.monotonic() - began < 30, time.monotonic() - began)
    check(tombolo("run", "-n", "2", "--timeout", "1min", "true")[0] == 0, "ended too early")


def bind():
    usable = sorted(os.sched_getaffinity(0))
    show = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
    ranks = min(2, len(usable))
    out = tombolo("run", "-n", str(ranks), "--bind", "--label", *show)[1]
    lines = re.findall(r"^\[\d+\] \[(.*)\]$", out, re.M)
    sets = [set(int(n) for n in line.split(",")) for line in lines]
    check(len(sets) == ranks and all(sets), out)
    check(len(set.union(*sets)) == sum(len(s) for s in sets), "processors are shared:", out)
    check(set.union(*sets) <= set(usable), out)
    code, out, err = tombolo("run", "-n", str(len(usable) + 1), "--bind", "true")
    check(
        code == 0 and f"not binding: {len(usable) + 1} ranks, but only {len(usable)} usable" in err,
        code,
        err,
    )


def forwarded_signal():
    """Signals that do not end the job reach the ranks."""
    script = "trap 'echo got; exit 0' USR1; echo ready 0 0; while :; do sleep 0.05; done"
    job = Job(1, ["sh", "-c", script])
    job.ready()
    job.process.send_signal(signal.SIGUSR1)
    job.expect(0)
    check("got" in job.out, job.out)


def stop_and_continue(launch):
    """SIGTSTP to the launcher stops the ranks with it; SIGCONT continues all."""

    def state(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    job = Job(2, [VICTIM, "work", "3"], launch)
    pids = [*job.ready().values(), job.process.pid]
    job.process.send_signal(signal.SIGTSTP)
    wait_for("everybody to stop", lambda: all(state(pid) == "T" for pid in pids))
    job.process.send_signal(signal.SIGCONT)
    job.expect(0)


def no_orphan_of_the_shell():
    """Signals that the shell ignores for us (nohup) stay ignored."""
    job = Job(
        2, [VICTIM, "work", "1"], preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    job.ready()
    job.process.send_signal(signal.SIGHUP)
    job.expect(0)


def behind_a_wrapper():
    """The program is not the launcher's own child."""
    job = Job(3, ["sh", "-c", f"'{VICTIM}'; exit $?"]).expect(0)
    check(job.out.count("is fine") == 3, job.out)
    job = Job(3, ["sh", "-c", f"'{VICTIM}' one gexit 1 7; exit $?"])
    job.expect(7, r"rank 1 .*exited with code 7")
    job = Job(3, ["sh", "-c", f"'{VICTIM}' hang; exit $?"])
    job.ready()
    job.process.kill()
    job.expect(-signal.SIGKILL)


def behind_another_pid_space():
    """In a container within the job, process numbers mean others: refused, reported once."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "needs root and unshare"
    space = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*space, "true"], capture_output=True, check=False).returncode:
        return "process namespaces are not allowed here"
    job = Job(3, [*space, VICTIM]).expect(97)
    check(job.err.count("process number space") == 1, job.err)
    inside = [*space, TOMBOLO, "run", "-n", "3", VICTIM]
    done = subprocess.run(inside, capture_output=True, check=True, timeout=60)
    check(done.stdout.count(b"is fine") == 3, done)
    return None


def missing_library():
    """Reported once, by the launcher; not by the loader in each rank."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "prog")
        with open(VICTIM, "rb") as file:
            text = file.read()
        check(b"libtombolo.so.0\0" in text, "the program does not need libtombolo.so.0")
        with open(path, "wb") as file:
            file.write(text.replace(b"libtombolo.so.0\0", b"libtombolo.so.9\0"))
        os.chmod(path, 0o755)
        code, out, err = tombolo("run", "-n", "3", path)
        check(code == 127 and out == "", code, out, err)
        check("needs shared libraries that are not found: libtombolo.so.9;" in err, err)
        check(err.count("\n") == 1, err)


def missing_interpreter():
    """The script is there, so the message is not that of execve."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script")
        for text, said in (("#! /no/such/shell -e\n",
                            f"'{path}' is a script for /no/such/shell, which is not here"),
                           ("#!/bin/sh\r\n", "a script for /bin/sh, but its lines end with CR LF"),
                           ("#!/bin/sh -e\nexit 3\n", "exited with code 3"),
                           ("exit 4\n", "exited with code 4")):
            with open(path, "w", encoding="ascii", newline="") as file:
                file.write(text)
            os.chmod(path, 0o755)
            code, _, err = tombolo("run", "-n", "1", path)
            check(code == (127 if "script for" in said else int(said[-1])), said, code, err)
            check(said in err and err.count("\n") == 1, said, err)


def wrong_setting():
    """Reported once, however the job would start."""
    for name, value in (("TOMBOLO_CONDUIT", "token-ring"), ("GASNET_MAX_THREADS", "-7")):
        code, _, err = tombolo("run", "-n", "3", "-E", f"{name}={value}", VICTIM)
        check(code == 2 and err.count("\n") == 1, code, err)
        check(f'{name}="{value}" is not valid' in err, err)
        job = Job(3, [VICTIM], "self", env={name: value}).expect(2)
        check(job.err.count("\n") == 1 and f'{name}="{value}" is not valid' in job.err, job.err)
    Job(2, [VICTIM], env={"TOMBOLO_CONDUIT": "SMP"}).expect(0)


def messages():
    """One line for each cause, with what a person needs to know."""
    job = Job(3, ["yes"])
    job.process.stdout.read(1)
    job.process.stdout.close()
    job.process.stdout = None
    job.expect(141, r"killed by signal 13 \(SIGPIPE: nobody reads what it writes\)")
    check(job.err.count("\n") == 1, "lines for one reader that has ended:", job.err)
    job = Job(2, [VICTIM, "hang"])
    job.ready()
    job.process.send_signal(signal.SIGINT)
    job.expect(130, r"signal 2 \(SIGINT\): ending the job; ranks still running: 0-1")
    code, _, err = tombolo("run", "no-such-program", env={"PATH": "/nowhere:/usr/bin"})
    check(code == 127 and "in PATH (/nowhere:/usr/bin)" in err, err)
    code, _, err = tombolo("run", "--cwd", "/usr", "./no-such-program")
    check(code == 127 and "in folder /usr" in err, err)
    done = subprocess.run(["sh", "-c", "ulimit -f 0; exec \"$0\" run -n 2 true", TOMBOLO],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    check(done.returncode == 1 and "ulimit -f" in done.stderr, done)
    check("warning" not in done.stderr, "an error is no warning:", done.stderr)


def stopped_launcher():
    """Its agents give it up; it says so itself, once it goes on, and blames no host."""
    job = Job(2, [HANGS, "traffic"], "agents", env={"TOMBOLO_PEER_TIMEOUT": "1"})
    job.ready()
    job.process.send_signal(signal.SIGSTOP)
    time.sleep(4)
    job.process.send_signal(signal.SIGCONT)
    job.expect(1, r"this launcher did not run for \d\S* s \(it was stopped")


def trace_is_closed():
    """A trace is whole JSON after gasnet_exit, not only after a return from main."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"TOMBOLO_TEST_TRACE_FILE": os.path.join(folder, "%.json"),
               "TOMBOLO_TEST_NET_HOOK": "trace",
               "TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "loop"}
        Job(2, [HANGS], env=env).expect(0)
        for rank in range(2):
            with open(os.path.join(folder, f"{rank}.json"), encoding="utf-8") as file:
                check(len(json.load(file)) > 2, "few events")


def wrapper_goes_on():
    """The program ends, the one around it does not: the job ends all the same. This wrapper also
    closes the descriptors that it does not know."""
    wrapper = "import subprocess, sys, time; subprocess.call(sys.argv[1:]); time.sleep(60)"
    job = Job(3, [sys.executable, "-c", wrapper, VICTIM, "one", "gexit", "1", "7"])
    job.expect(7, bound=30)


def two_programs_for_one_rank():
    job = Job(2, ["sh", "-c", f"'{VICTIM}' && '{VICTIM}'"])
    code = job.end()
    check(code != 0, "a rank was taken twice")
    check(
        re.search(r"was taken before by pid \d+|job is ending", job.err) or code in (97, 1),
        code,
        job.err,
    )


def stale_variable():
    for value in ("garbage", "1:0:2:abc:1:90:91:92", "1:5:2:abc:1:3:4:5", ""):
        done = start_alone("TOMBOLO_BOOT", value)
        check(done.returncode not in (0, 134, 139), "exit code", done.returncode, done.stderr)
        check(b"tombolo run" in done.stderr, done.stderr)


def nested():
    """A rank may start jobs of its own."""
    inner = f"exec '{TOMBOLO}' run -n 2 '{VICTIM}'"
    job = Job(2, ["sh", "-c", inner]).expect(0)
    check(job.out.count("is fine") == 4, job.out)


def many(launch):
    """1024 ranks start, meet and end."""
    job = Job(1024, [VICTIM], launch)
    job.expect(0, bound=120)
    check(job.out.count("of 1024 is fine") == 1024, job.out.count("is fine"))


CASES = [named("refused/" + " ".join(case[0]), refused, *case) for case in REFUSED]
CASES += [
    named(f"counts/{launch}/{n}", counts, n, launch)
    for launch in LAUNCHES
    for n in (1, 2, 3, 7, 64)
]
CASES += [
    information,
    other_spellings,
    not_executable,
    bad_node_counts,
    other_spawner,
    alone,
    environment,
    setting_through_option,
    folder,
    standard_input,
    time_limit,
    bind,
    forwarded_signal,
    no_orphan_of_the_shell,
    missing_library,
    missing_interpreter,
    wrong_setting,
    trace_is_closed,
    messages,
    stopped_launcher,
    behind_a_wrapper,
    behind_another_pid_space,
    wrapper_goes_on,
    two_programs_for_one_rank,
    stale_variable,
    nested,
]
CASES += [named(f"stop_and_continue/{launch}", stop_and_continue, launch) for launch in LAUNCHES]
CASES += [named(f"many/{launch}", many, launch) for launch in LAUNCHES]

if __name__ == "__main__":
    run_cases(CASES)
