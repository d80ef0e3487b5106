#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""`tombolo run --hosts` with a remote shell that stays on this machine: the tree of agents,
streams, environment, ends, and failures before and after the start. tests/net/ssh_test.py does so
by ssh."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import signals  # noqa: E402

TOMBOLO = os.environ["TOMBOLO"]
BOOTSTRAP = os.path.join(os.environ["TMB_BUILD"], "tests/inside/bootstrap")

# In place of ssh: prefixes of host names choose a fault.
RSH = r"""#!/bin/sh
case $1 in
  deny*) echo "$1: Permission denied (publickey)." >&2; exit 255 ;;
  away*) echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255 ;;
  mute*) exec sleep 100 ;;
  none*) exec sh -c "exec '/no/such/place/tombolo' run --agent" ;;
  old*) printf '\001tombolo-agent 1 little 0.0.1 v0.0.1\n'; exec sleep 100 ;;
  chat*) echo "Welcome to this computer"; echo "have fun" >&2 ;;
esac
exec sh -c "$2"
"""
FOLDER = tempfile.TemporaryDirectory()
REMOTE = os.path.join(FOLDER.name, "rsh")


def environment(**more):
    """Ours, without settings of the caller's."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    return {**env, "TOMBOLO_SSH": REMOTE, **more}


def start(*arguments, env=None, **more):
    """Starts `tombolo run` with these arguments."""
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(
        [TOMBOLO, "run", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**(env or {})),
        **more,
    )


def run(*arguments, text=None, **more):
    """Runs it to the end. Returns (code, stdout, stderr)."""
    if text is not None:
        more["stdin"] = subprocess.PIPE
    process = start(*arguments, **more)
    out, err = process.communicate(text, timeout=60)
    return process.returncode, out, err


def expect(wanted, got, what=""):
    """Fails unless they are equal."""
    if wanted != got:
        raise AssertionError(f"{what}: wanted {wanted!r:.300}, got {got!r:.300}")


def expect_match(pattern, text):
    """Fails unless the pattern is found."""
    if not re.search(pattern, text):
        raise AssertionError(f"no {pattern!r} in {text!r}")


def ours():
    """Agents and test programs that run now."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"TOMBOLO_SSH={REMOTE}".encode() not in file.read():
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if words:
            found.append((int(pid), words))
    return found


def nothing_left(seconds=3):
    """Everything has ended."""
    limit = time.monotonic() + seconds
    while ours() and time.monotonic() < limit:
        time.sleep(0.02)
    expect([], ours(), "left behind")


def bootstrap_over_hosts():
    """Gathers, barriers, keys on stars and deep trees, blocks and cyclic, unequal hosts."""
    for hosts, more, env in (
        ("a:2,b:2", [], {}),
        ("a:1", [], {}),
        ("a:3", [], {}),
        ("a:3,b:1,c:2", [], {}),
        ("a:3,b:1,c:2", ["--cyclic"], {}),
        ("localhost:1,b:2", [], {}),
        ("a,b,c,d,e,f,g", [], {"TOMBOLO_SSH_OUT_DEGREE": "2"}),
        ("a,b,c,d,e", ["-n", 12], {"TOMBOLO_SSH_OUT_DEGREE": "1"}),
        ("chatty:2,b:2", [], {}),
    ):
        code, out, err = run("--hosts", hosts, *more, BOOTSTRAP, env=env)
        expect((0, ""), (code, err), hosts)
        size = len(out.splitlines())
        for rank in range(size):
            expect_match(rf"rank {rank} of {size} well", out)
    code, out, err = run("--hosts", "a:3,b:1", "--cyclic", "--label", BOOTSTRAP)
    hosts = [re.search(rf"^\[{r}\] rank {r} of 4 well on host (\d) of 2$", out, re.M)[1]
             for r in range(4)]
    expect(["0", "1", "0", "0"], hosts)


def list_of_hosts():
    """Files, settings and their old names, -N, lists that are none."""
    path = os.path.join(FOLDER.name, "hosts")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# hosts\na:2 # the first\nb\n")
    binary, typo = path + ".binary", path + ".typo"
    with open(binary, "wb") as file:
        file.write(b"a\nb\n\x7fELF\2\1\1\0c\0\n")
    with open(typo, "wb") as file:
        file.write(b"a\n# the second\nb:x\0\n")
    words = "echo x"
    for arguments, env, count in (
        (["--hostfile", path], {}, 3),
        ([], {"TOMBOLO_HOSTS": "a:2,b:2"}, 4),
        ([], {"GASNET_SSH_SERVERS": "a b c"}, 3),
        (["-n", 5], {"GASNET_SSH_NODEFILE": path}, 5),
        (["-N", 2, "-n", 6], {"GASNET_SSH_SERVERS": "a b c"}, 6),
    ):
        code, out, err = run(*arguments, "sh", "-c", words, env=env)
        expect((0, "x\n" * count, ""), (code, out, err), str(arguments))
    for arguments, pattern in (
        (["--hosts", "a:0"], r"--hosts a:0: 'a:0' is no NAME"),
        (["--hosts", "-x"], r"'-x' is no NAME"),
        (["--hosts", "a:1,b:1", "-n", 3], r"room for 2 ranks"),
        (["--hosts", "a", "-N", 2], r"-N 2, but the list has 1 host"),
        (["--hostfile", "/no/such"], r"--hostfile /no/such: No such file"),
        (["--hostfile", "/"], r"--hostfile /: Is a directory"),
        (["--hostfile", binary], r"\.binary: line 3: no NAME or NAME:RANKS, but control char"),
        (["--hostfile", typo], r"\.typo: line 3: no NAME"),
        (["--hosts", "a:2", "--stdin", 2], r"one rank below 2"),
        (["--hosts", "a:2", "--stdin", "all"], r"one rank below 2"),
    ):
        code, out, err = run(*arguments, "true")
        expect(2, code, str(arguments))
        expect_match(pattern, err)
    for name, value in (("TOMBOLO_HOSTS", "a:0"), ("GASNET_SSH_SERVERS", "a:0"),
                        ("SSH_SERVERS", "a:0"), ("GASNET_NODEFILE", "/no/such")):
        code, out, err = run("true", env={name: value})
        expect(2, code, name)
        expect_match(f"run: {name} {value}: ", err)
        expect(False, "--host" in err, err)


def own_name():
    """This machine by its own name needs no ssh."""
    for name in (socket.gethostname(), socket.gethostname().upper(), "localhost"):
        code, out, err = run("--hosts", f"{name}:2", "echo", "x", env={"TOMBOLO_SSH": "/no/ssh"})
        expect((0, "x\nx\n", ""), (code, out, err), name)


def streams():
    """Output of both kinds, labels, much output, standard input, a reader that leaves."""
    code, out, err = run("--hosts", "a:2,b:1", "--label", "sh", "-c", "echo out; echo err >&2")
    expect(0, code)
    expect(["[0] out", "[1] out", "[2] out"], sorted(out.splitlines()))
    expect(["[0] err", "[1] err", "[2] err"], sorted(err.splitlines()))
    code, out, _ = run("--hosts", "a,b,c", "sh", "-c", "seq 200000")
    expect((0, 3 * 200000), (code, len(out.splitlines())))
    lines = "".join(f"{i}\n" for i in range(50000))
    for rank in (0, 2):
        code, out, err = run("--hosts", "a:2,b:1", "--stdin", rank, "sh", "-c", "cat", text=lines)
        expect((0, "", len(lines)), (code, err, len(out)), "standard input")
        expect(lines, out, "standard input")
    code, out, _ = run("--hosts", "a:2", "--stdin", "none", "cat", text="x")
    expect((0, ""), (code, out))
    process = start("--hosts", "a,b", "yes")
    process.stdout.read(3)
    process.stdout.close()
    process.wait(40)
    if process.returncode == 0:
        raise AssertionError("yes into a closed pipe ended with 0")
    process.stderr.close()


def surroundings():
    """Folder, environment, arguments, mask are those of the command line."""
    script = 'printf "%s|" "$PWD" "$A" "$B" "$TOMBOLO_VERBOSE" "$1" "$2"; umask'
    code, out, err = run("--hosts", "b:1", "--cwd", FOLDER.name, "-E", "B=x y", "sh", "-c", script,
                         "sh", "", "a'b $c\n", env={"A": "it's \"a\"\n1"}, umask=0o027)
    expect((0, f"{FOLDER.name}|it's \"a\"\n1|x y|||a'b $c\n|0027\n", ""), (code, out, err))
    # A program of the folder, and one of PATH
    path = os.path.join(FOLDER.name, "prog")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho mine\n")
    os.chmod(path, 0o755)
    expect((0, "mine\n", ""), run("--hosts", "b", "--cwd", FOLDER.name, "./prog"))
    where = {"PATH": f"{FOLDER.name}:{os.environ['PATH']}"}
    expect((0, "mine\n", ""), run("--hosts", "b", "prog", env=where))
    # The secret is in no argument list and no environment.
    process = start("--hosts", "a:1,b:1", BOOTSTRAP, "hold")
    process.stdout.readline()
    seen = ours()
    expect(True, len(seen) >= 5, "processes")
    for pid, words in seen:
        with open(f"/proc/{pid}/environ", "rb") as file:
            names = [entry.split(b"=")[0] for entry in file.read().split(b"\0")]
        expect(False, any(b"SECRET" in name for name in names))
        if "--agent" in words:
            expect_match(r"run --agent", words)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=40)
    expect(128 + signal.SIGTERM, process.returncode)


def ends():
    """Codes, signals, time limits."""
    code, _, err = run("--hosts", "a:2,b:2", BOOTSTRAP, "exit", 42)
    expect(42, code)
    expect_match(r"rank 3 \(pid \d+ on b\) exited with code 42 .*; ending the other 3 ranks", err)
    nothing_left()
    code, _, err = run("--hosts", "a:2,b:2", BOOTSTRAP, "exit", 0)
    expect((0, ""), (code, err))
    code, _, err = run("--hosts", "a:2,b:1", "--timeout", "0.5", BOOTSTRAP, "hold")
    expect(124, code)
    expect_match(r"time limit of 0.5 s is over; ranks still running: 0-2; ending them", err)
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start("--hosts", "a:2,b:1", BOOTSTRAP, "hold")
        process.stdout.readline()
        process.send_signal(sig)
        process.communicate(timeout=40)
        expect(128 + sig, process.returncode)
        nothing_left()
    script = "trap 'echo usr1' USR1; trap 'exit 0' QUIT; echo on; while :; do sleep 0.05; done"
    process = start("--hosts", "a:1,b:1", "sh", "-c", script)
    expect(["on\n"] * 2, [process.stdout.readline() for _ in range(2)])
    process.send_signal(signal.SIGUSR1)
    expect(["usr1\n"] * 2, [process.stdout.readline() for _ in range(2)])
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=40)
    expect(128 + signal.SIGTERM, process.returncode)


def losses():
    """A rank dies and the others go on; a host goes, the launcher goes."""
    code, out, err = run("--hosts", "a:2,b:2", BOOTSTRAP, "lose", 2)
    expect_match(r"rank 2 \(pid \d+ on b\) killed by signal 9 .*; the other 3 ranks go on", err)
    expect((128 + 9, 3), (code, out.count("saw it")))
    for victim in ("agent", "launcher"):
        process = start("--hosts", "a:2,b:2", BOOTSTRAP, "hold")
        for _ in range(4):
            process.stdout.readline()
        if victim == "launcher":
            process.kill()
        else:
            last = [pid for pid, words in ours() if words.endswith("run --agent ")
                    and agent_of(pid)]
            os.kill(max(last), signal.SIGKILL)
        _, err = process.communicate(timeout=40)
        if victim == "agent":
            expect(1, process.returncode)
            expect_match(r"host [ab] with ranks .* is lost: .*; ending the other 2 ranks", err)
        nothing_left()


def agent_of(pid):
    """Whether a process is an agent (not the shell that started it)."""
    return os.readlink(f"/proc/{pid}/exe") == os.path.realpath(TOMBOLO)


def refusals():
    """Whatever is wrong with a host is said with its name, soon, and nothing is left."""
    for hosts, program, wanted, pattern in (
        ("a,deny", "true", 1, r"host deny: cannot be reached: deny: Permission denied"),
        ("away,a", "true", 1, r"host away: cannot be reached: ssh: .*No route to host"),
        ("a,none", "true", 1, r"host none: cannot be reached: .*/no/such/place/tombolo"),
        ("a,old", "true", 1,
         r"host old: another version of the library is installed there: .* 0\.0\.1 v0\.0\.1, here"),
        ("a,b", "./no-such", 127, r"host [ab]: program './no-such' not found"),
        ("a,b", "/etc/passwd", 126, r"host [ab]: .*cannot be executed: Permission denied"),
        ("a,mute", "true", 1, r"host mute: no answer within 1 s"),
    ):
        began = time.monotonic()
        code, out, err = run("--hosts", hosts, program, env={"TOMBOLO_SSH_TIMEOUT": "1"})
        expect((wanted, ""), (code, out), hosts)
        expect_match(pattern, err)
        expect(True, time.monotonic() - began < 12, "seconds")
        nothing_left()
    deep = {"TOMBOLO_SSH_OUT_DEGREE": "1"}
    code, _, err = run("--hosts", "a,b,deny,c", "true", env=deep)
    expect(1, code)
    expect_match(r"host deny: cannot be reached: ", err)
    nothing_left()
    code, _, err = run("--hosts", "a", "true", env={"TOMBOLO_SSH": "/no/such/ssh"})
    expect(1, code)
    expect_match(r"host a: cannot be reached: /no/such/ssh: No such file", err)


def main():
    """Runs all."""
    signals.by_default()
    with open(REMOTE, "w", encoding="utf-8") as file:
        file.write(RSH)
    os.chmod(REMOTE, 0o755)
    cases = (bootstrap_over_hosts, list_of_hosts, own_name, streams, surroundings, ends, losses,
             refusals)
    for case in cases:
        began = time.monotonic()
        case()
        nothing_left()
        print(f"{case.__name__}: ok ({time.monotonic() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
