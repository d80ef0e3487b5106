#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A bug that shows in some runs is recorded, and shows in each of 20 replays.
#   tests/replay/bugs.py TOMBOLO PROGRAM CASE   (a case of bugs.c, chaos.c, right.c)
# CASE `deviation`: a replay of another program is reported, with both calls and their lines; a
# program and arguments that have changed are named.
# CASE `only`: one rank has the terminal, under a command or under gdb; the bug shows again.
# CASE `stepped`, `stepped_long`: gdb stops one rank again and again; it does as recorded.
# CASE `chaos_needs`: what each bug needs that only chaos shows.
# CASE `chaos_ends`: of a hang; and what an ended search leaves.
# CASE `memory`: loads of memory see it sooner or later than in the recording.
# CASE `prepared`: a run with prepared messages is replayed.
# CASE `flood`: handlers that wait for room.
# CASE `atomics_cxx`: of atomics_cxx.cc.
# CASE `overtaken`: messages between hosts overtake each other.
# CASE `full`: a file system without room for the recording.
# CASE `refused_calls`, `refused_transfers`: calls that are repeated until they are done are refused
# as often again.
# CASE `refused`: options that contradict, and folders without a recording.
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TRIES = 400  # runs until the bug shows; the rarest shows in one of 20
REPLAYS = 20


def run(tombolo, *words):
    limit = "2" if words[-1] == "hang" else "20"
    done = subprocess.run([tombolo, "run", "--timeout", limit, *words], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def reproduces(tombolo, program, case, folder):
    code, out, err = 0, "", ""
    good = 0
    while code == 0 and good < TRIES:
        code, out, err = run(tombolo, "-n", "3", "--record", folder, program, case)
        good += code == 0
    if code == 0:
        return f"the bug has not shown in {TRIES} runs"
    if code != (124 if case == "hang" else 3):
        return f"code {code} while it is recorded: {out}{err}"
    print(f"{case}: shown after {good} good runs: {out.strip()}")
    together = REPLAYS if case == "hang" else 2
    with ThreadPoolExecutor(max_workers=together) as pool:
        replays = pool.map(lambda _: run(tombolo, "--replay", folder, program, case),
                           range(REPLAYS))
    for number, (again, seen, err) in enumerate(replays, 1):
        if (again, seen) != (code, out):
            return f"replay {number}: code {again}, not {code}: {seen}{err}"
    return None


def recorded(tombolo, program, case, folder):
    """Records a run that has to end well. Returns (what is wrong, or None; its output)."""
    code, out, err = run(tombolo, "-n", "3", "--record", folder, program, case)
    return f"code {code} while it is recorded: {out}{err}" if code else None, out


def deviation(tombolo, program, _case, folder):
    if not shutil.which("addr2line"):
        print("addr2line is not installed: lines cannot be compared")
        sys.exit(77)
    bad, _ = recorded(tombolo, program, "ring", folder)
    if bad:
        return bad
    code, _, err = run(tombolo, "--replay", folder, program, "ring", "changed")
    wanted = (r"rank 0 has left the recorded order at event \d+.*\n"
              r"  recorded: gasnet_AMPoll handler 202 of a request from rank 2 \(.*right.c:\d+\)\n"
              r"  found: gex_NBI_Wait called \(.*right.c:\d+\)")
    if code != 67 or not re.search(wanted, err):
        return f"code {code}, not 67 with the calls: {err}"
    if "other arguments were recorded: ring; now: ring changed" not in err:
        return f"the arguments are not named: {err}"
    return other_program(tombolo, program, folder)


def other_program(tombolo, program, folder):
    """A replay by another program is no error; it is named."""
    copy, order = os.path.join(folder, "copy"), os.path.join(folder, "order")
    shutil.copy(program, copy)
    bad, out = recorded(tombolo, copy, "ring", order)
    if bad:
        return bad
    replays = [run(tombolo, "--replay", order, program, "ring")]
    with open(copy, "ab") as file:
        file.write(b"changed")
    replays += [run(tombolo, "--replay", order, words, "ring") for words in (copy, program)]
    shutil.move(copy, copy + "2")
    replays.append(run(tombolo, "--replay", order, copy + "2", "ring"))
    wants = ["", "copy has changed since it was recorded", "",
             "copy was recorded, and this is .*copy2"]
    for want, (code, seen, err) in zip(wants, replays):
        if (code, seen) != (0, out) or not re.search(want or r"\A\Z", err):
            return f"code {code}, not 0 with '{want}': {seen}{err}"
    return None


def chaos(tombolo, program, _case, folder):
    """A bug that only chaos shows: found, reduced to one message, had again, and recorded. A
    program without a bug ends well."""
    for right in ("nothing_started", "signals_seen"):
        code, out, err = run(tombolo, "-n", "3", "--chaos", "1..10", program, right)
        if code:
            return f"code {code} without a bug: {out}{err}"
    for _ in range(5):
        code, out, err = run(tombolo, "-n", "3", program, "chaos")
        if code:
            return f"code {code} without chaos: {out}{err}"
    code, out, err = run(tombolo, "-n", "3", "--chaos", "1..100", program, "chaos")
    found = re.search(r"it needs (\d+) of its \d+ decisions .*\n  tombolo run (.*--chaos \S+)",
                      err)
    if code != 3 or not found:
        return f"code {code}, not 3 with a command: {out}{err}"
    print(found.group())
    if int(found[1]) > 2:
        return f"too many decisions: {err}"
    codes = [run(tombolo, *found[2].split(), program, "chaos")[0] for _ in range(10)]
    if 3 not in codes or set(codes) - {0, 3}:
        return f"codes of {found[2]}: {codes}"
    for _ in range(10):
        code, _, _ = run(tombolo, *found[2].split(), "--record", folder, program, "chaos")
        if code == 3:
            break
    codes = [run(tombolo, "--replay", folder, program, "chaos")[0] for _ in range(REPLAYS)]
    return None if codes == [3] * REPLAYS else f"codes of replays: {codes}"


CHAOS_NEEDS = {"chaos": ("m",), "chaos_third": ("m",), "chaos_lost": ("r",), "chaos_event": ("r",),
               "chaos_barrier": ("r",), "chaos_both": ("m", "r"), "chaos_either": ("m or r",)}


def chaos_needs(tombolo, program, _case, _folder):
    """Of each bug that only chaos shows, the decisions that are needed are found, and no others;
    its seed shows it again."""
    def fault_of(case):
        codes = [run(tombolo, "-n", "3", program, case)[0] for _ in range(3)]
        if any(codes):
            return f"{case}: codes without chaos: {codes}"
        _, out, err = run(tombolo, "-n", "3", "--chaos", "1..400", program, case)
        found = re.search(r"it needs \d+ of its (\d+) decisions \((\d+) runs\).*\n"
                          r"  tombolo run (.*--chaos (\d+):(\S+)) ", err)
        if not found:
            return f"{case}: without a command: {out}{err}"
        kinds = tuple(sorted(re.sub(r"[\d,]+", "", found[5])))
        print(f"{case}: seed {found[4]}, {found[5]} of {found[1]} decisions, {found[2]} runs")
        if case == "chaos_either" and kinds in (("m",), ("r",)):
            kinds = CHAOS_NEEDS[case]
        seed = found[3].rsplit(":", 1)[0].split()
        codes = [run(tombolo, *seed, program, case)[0] for _ in range(3)]
        if 3 not in codes or set(codes) - {0, 3}:
            return f"{case}: seed {found[4]} alone: codes {codes}"
        codes = [run(tombolo, *found[3].split(), program, case)[0] for _ in range(5)]
        if kinds != CHAOS_NEEDS[case] or 3 not in codes or set(codes) - {0, 3}:
            return f"{case}: {found.group()}: codes {codes}, not {CHAOS_NEEDS[case]}"
        return None

    return "\n".join(filter(None, map(fault_of, CHAOS_NEEDS)))


def chaos_ends(tombolo, program, _case, folder):
    """A run that hangs is reduced, too, with all its options; an ended search leaves nothing."""
    words = ["-n", "3", "--timeout", "500ms"]
    code, _, err = run(tombolo, *words, "--chaos=1..200", program, "hang")
    wanted = r"\n  tombolo run .*-n 3 --timeout 500ms --chaos=\d+:\S* "
    if code != 124 or not re.search(wanted, err):
        return f"code {code}, not 124 with the command: {err}"
    mark = os.path.join(folder, "mark")
    os.symlink(os.path.abspath(program), mark)
    search = subprocess.Popen([tombolo, "run", "-n", "3", "--chaos", "1..2", mark, "lasts"])
    started = wait_for(lambda: len(running(mark)) == 5)
    search.terminate()
    search.wait()
    if not started:
        return "the search has not started"
    return None if wait_for(lambda: not running(mark)) else f"left: {running(mark)}"


def running(text):
    """Processes whose words name this."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as words:
                found += [pid] if text in words.read() else []
        except OSError:
            continue
    return found


def wait_for(holds):
    """Whether a condition holds within ten seconds."""
    end = time.monotonic() + 10
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def only(tombolo, program, _case, folder):
    code, out = 0, ""
    for _ in range(TRIES):
        if code:
            break
        code, out, _ = run(tombolo, "-n", "3", "--record", folder, program, "message_order")
    if code != 3 or not out:
        return f"code {code} while it is recorded: {out}"
    command = os.path.join(folder, "command")
    with open(command, "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\necho "$1"\nshift\nexec "$@"\n')
    os.chmod(command, 0o755)
    wants = [("0", out), ("1", ""), (f"0:{command} under", "under\n" + out),
             (f"2:{command} under", "under\n")]
    for words, text in wants:
        again, seen, err = run(tombolo, "--replay", folder, "--only", words, program,
                               "message_order")
        if (again, seen) != (code, text):
            return f"--only {words}: code {again}, not {code}: {seen}{err}"
    if not shutil.which("gdb"):
        return None
    words = "0:gdb -nx -q -batch -ex run -ex backtrace --args"
    _, seen, err = run(tombolo, "--replay", folder, "--only", words, program, "message_order")
    refused_here = "ptrace" in seen + err or "personality" in err
    return None if out.strip() in seen or refused_here else f"gdb: {seen}{err}"


STEPS = """set pagination off
break checkpoint
run
finish
next
print stops
shell sleep %s
continue
up
next
next
info breakpoints
delete
continue
"""


def stepped(tombolo, program, case, folder):
    """In gdb: breakpoints, single steps, and pauses, beside ranks that run as recorded."""
    if not shutil.which("gdb"):
        print("gdb is not installed")
        sys.exit(77)
    bad, out = recorded(tombolo, program, "everything", folder)
    if bad:
        return bad
    script = os.path.join(folder, "steps")
    with open(script, "w", encoding="utf-8") as file:
        file.write(STEPS % ("12" if case == "stepped_long" else "0.1"))
    for rank in ("1",) if case == "stepped_long" else ("0", "2"):
        again, seen, err = run(tombolo, "--replay", folder, "--only",
                               f"{rank}:gdb -nx -q -batch -x {script} --args", program,
                               "everything")
        if "ptrace" in seen + err or "personality" in err:
            print("gdb may not trace a process here")
            sys.exit(77)
        line = next(line for line in out.split("\n") if line.startswith(f"rank {rank}:"))
        wants = (line, "$1 = 1", "already hit 2 times", "exited normally")
        missing = [want for want in wants if want not in seen]
        if again or missing:
            return f"rank {rank}: code {again}: without {missing}: {seen}{err}"
    return None


def refused(tombolo, program, _case, folder):
    plain, damaged = os.path.join(folder, "plain"), os.path.join(folder, "damaged")
    os.mkdir(damaged)
    for path in (plain, os.path.join(damaged, "rank.0")):
        with open(path, "wb") as file:
            file.write(bytes(4096))
    wants = [(["--replay", folder, program], "rank.0: No such file"),
             (["--replay", plain, program], "rank.0: Not a directory"),
             (["--replay", damaged, program], "rank.0: byte 0: it is damaged"),
             (["--record", plain, program], "plain: Not a directory; give a folder"),
             (["--record", os.path.join(folder, "a", "b"), program], "a/b: No such file or "
              "directory; give a folder that may be written"),
             (["--chaos", "9..1", program], "give a seed"),
             (["--chaos", "9:zz", program], "give a seed and decisions"),
             (["--chaos", "9:0m2,", program], "give a seed and decisions"),
             (["--record", os.path.join(folder, "none"), "true"], "nothing was recorded"),
             (["--chaos", "7", "--replay", folder, program], "give only one of"),
             (["--record", folder, "--replay", folder, program], "give only one of"),
             (["--record", folder, "--check", "races", program], "give only one of"),
             (["--only", "1", program], "give --replay DIR, too"),
             (["--only", "x", "--replay", folder, program], "give a rank, as 3")]
    for words, text in wants:
        code, _, err = run(tombolo, *words)
        if code != (1 if words[-1] == "true" else 2) or text not in err:
            return f"{words}: code {code}: {err}"
    run(tombolo, "-n", "3", "--record", folder, program, "ring")
    code, _, err = run(tombolo, "-n", "2", "--replay", folder, program, "ring")
    if code != 2 or "3 ranks were recorded, not 2" not in err:
        return f"-n 2: code {code}: {err}"
    code, _, err = run(tombolo, "--replay", folder, "--only", "3", program, "ring")
    if code != 2 or "give one below 3" not in err:
        return f"--only 3: code {code}: {err}"
    code, _, err = run(tombolo, "--replay", folder, "--only", "1:./nocommand", program, "ring")
    if code != 2 or "cannot be executed" not in err:
        return f"--only with a command: code {code}: {err}"
    return refused_without(tombolo, program, folder)


def refused_without(tombolo, program, folder):
    """A recording that has lost a file, and one of another program."""
    for name in ("locks.0", "sends.1", "takes.2", "sites.0", "program"):
        less = os.path.join(folder, f"without.{name}")
        shutil.copytree(folder, less, ignore=shutil.ignore_patterns("without*", name))
        code, _, err = run(tombolo, "--replay", less, program, "ring")
        if code != 2 or f"{name}: No such file" not in err:
            return f"without {name}: code {code}: {err}"
    code, _, err = run(tombolo, "--replay", folder, "true")
    if code != 1 or "nothing was replayed" not in err:
        return f"replay of true: code {code}: {err}"
    return None


def memory(tombolo, program, _case, folder):
    """Each case `memory_*` ends as recorded; no wait lasts long."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "right.c")
    with open(source, encoding="utf-8") as text:
        cases = re.findall(r"SCRIPTED\((memory_\w+)\)", text.read())

    def fault_of(case):
        order = os.path.join(folder, case)
        bad, out = recorded(tombolo, program, case, order)
        code, seen, err = run(tombolo, "--replay", order, program, case)
        right = not code and seen == out and not err
        return bad or (None if right else f"{case}: code {code}: {seen}, not {out}: {err}")

    with ThreadPoolExecutor(len(cases)) as pool:
        return "\n".join(filter(None, pool.map(fault_of, cases)))


def prepared(tombolo, program, case, folder):
    """Handlers of a request that is being prepared do not run between it and its commit."""
    for _ in range(10):
        bad, _ = recorded(tombolo, program, case, folder)
        code, _, err = (1, "", bad) if bad else run(tombolo, "--replay", folder, program, case)
        if code:
            return err
    return None


def overtaken(tombolo, program, case, folder):
    """Messages between hosts have the order of the recording, whichever that was."""
    os.environ.update(FAR)
    return differs(tombolo, program, case, folder)


FAR = {"TOMBOLO_PLACES": "cyclic:3", "TOMBOLO_CONDUIT": "loop",
       "TOMBOLO_TEST_NET_HOOK": "fault:again=20,reorder=50,us=300"}


def differs(tombolo, program, case, folder):
    """Each recording of a program without a bug is another one, and is replayed."""
    seen = set()
    for _ in range(3):
        bad, out = recorded(tombolo, program, case, folder)
        seen.add(lines := "".join(sorted(out.splitlines(True))))
        for _ in range(5):
            code, again, err = run(tombolo, "--replay", folder, program, case)
            if bad or code or "".join(sorted(again.splitlines(True))) != lines or err:
                return bad or f"code {code}: {again}, not {lines}: {err}"
    return None if len(seen) > 1 else f"each recording is the same: {seen}"


def refused_calls(tombolo, program, case, folder):
    """On one host, with small rings, and between hosts."""
    os.environ.update({"TOMBOLO_TEST_RING_SLOTS": "64", "TOMBOLO_NOTIFY_CREDITS": "4"})
    fault = differs(tombolo, program, case, folder)
    os.environ.update(FAR)
    return fault or differs(tombolo, program, case, folder)


def full(tombolo, program, _case, folder):
    """A file system without room for the recording is named, and the program is not killed."""
    mounted = ("mount -t tmpfs -o size=64k none %s && exec %s run -n 3 --timeout 20 "
               "--record %s %s ring")
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", folder],
                      capture_output=True, check=False).returncode:
        print("nothing may be mounted here")
        sys.exit(77)
    words = mounted % (folder, tombolo, os.path.join(folder, "order"), program)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", words], capture_output=True, text=True,
                          check=False)
    if done.returncode != 1 or "cannot be written: No space left on device" not in done.stderr:
        return f"code {done.returncode}: {done.stderr}"
    return None


def main():
    tombolo, program, case = sys.argv[1:4]
    checks = {"atomics_cxx": differs, "chaos": chaos, "chaos_ends": chaos_ends,
              "chaos_needs": chaos_needs, "deviation": deviation, "flood": differs, "full": full,
              "memory": memory, "only": only, "overtaken": overtaken, "prepared": prepared,
              "refused": refused, "refused_calls": refused_calls,
              "refused_transfers": refused_calls, "stepped": stepped, "stepped_long": stepped}
    with tempfile.TemporaryDirectory() as folder:
        fault = checks.get(case, reproduces)(tombolo, program, case, folder)
    if fault:
        sys.exit(f"{case}: {fault}")


main()
