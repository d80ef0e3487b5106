#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""Tight limits and poor places: little memory, few files, no /dev/shm, no memfd, no root."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, TOMBOLO, VICTIM, Job, check, named, run_cases  # noqa: E402

SOAK = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/conformance/soak")
PLUGINS = os.path.join(os.environ.get("TMB_BUILD", "build"), "lib/tombolo")
NO_MEMFD = {"TOMBOLO_BOOT_NO_MEMFD": "1"}


def limited(**limits):
    """A preexec function that lowers limits: RLIMIT_<name>=value."""

    def lower():
        for name, value in limits.items():
            hard = resource.getrlimit(getattr(resource, "RLIMIT_" + name))[1]
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, hard))

    return lower


def runs(ranks, launch="run", options=(), env=None, **popen):
    """The job runs well."""
    job = Job(ranks, [VICTIM], launch, options, env, **popen).expect(0)
    check(job.out.count("is fine") == ranks, job.out)
    return job


def runs_or_is_refused(ranks, launch, words, **popen):
    """The job runs, or ends with a message of ours that says what is missing."""
    job = Job(ranks, [VICTIM], launch, **popen)
    code = job.end()
    job.nothing_left()
    if code == 0:
        check(job.out.count("is fine") == ranks, job.out)
        return
    check(code not in (134, 137, 139), "crashed with", code, job.err)
    check(re.search(words, job.err), f"exit code {code}, but no message /{words}/:", repr(job.err))


def little_memory(launch, kib):
    words = r"memory|ulimit -v|RLIMIT_AS|cannot allocate|shared object|Sanitizer"
    runs_or_is_refused(2, launch, words, preexec_fn=limited(AS=kib << 10))


def longest_segments(launch):
    """Those that the limit on address space allows find room beside all that is mapped."""
    for mib in (128, 256):
        job = Job(8, [VICTIM, "segment", "0"], launch, preexec_fn=limited(AS=mib << 20)).expect(0)
        check(job.out.count("touched") == 8, job.out)


def small_files(launch, size):
    """RLIMIT_FSIZE bounds shared memory, too: SIGXFSZ must not end anybody."""
    words = r"ulimit -f|RLIMIT_FSIZE|file size limit"
    runs_or_is_refused(4, launch, words, preexec_fn=limited(FSIZE=size))


def few_files():
    runs(8, "run", preexec_fn=limited(NOFILE=16))
    runs(40, "run", ("--label",), preexec_fn=limited(NOFILE=24))


def forbidden_call():
    """What a filter of system calls forbids is not taken for too low a limit."""
    refuse = os.path.join(os.path.dirname(PLUGINS), "../tests/absent/refuse")
    if subprocess.run([refuse, "eventfd", "true"], check=False).returncode == 77:
        return "the kernel takes no filters of system calls"
    for call in ("eventfd", "signalfd"):
        done = subprocess.run([refuse, call, TOMBOLO, "run", "-n", "2", VICTIM], text=True,
                              env={**os.environ, "TOMBOLO_PLACES": "2"}, capture_output=True,
                              timeout=60, check=False)
        check(done.returncode not in (0, 137), done)
        check(f"{call}: Function not implemented; the kernel or a filter of system calls"
              in done.stderr, done.stderr)
        check("ulimit" not in done.stderr, done.stderr)
    return None


def ofi_without_shm():
    """The provider shm of libfabric is not listed where /dev/shm is small: that is said."""
    if no_namespaces():
        return no_namespaces()
    env = {"TOMBOLO_CONDUIT": "ofi", "TOMBOLO_OFI_PROVIDER": "shm", "TOMBOLO_PLACES": "2"}
    if unshared("true", "run", env)[0]:
        return "no conduit ofi with the provider shm"
    code, text = unshared("mount -t tmpfs -o size=64k none /dev/shm", "run", env)
    check(code not in (0, 177) and "/dev/shm, where it keeps its memory, has 64 KB free" in text,
          code, text)
    return None


def few_processes(launch):
    """fork fails in the middle: a message, and nobody is left."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return "needs root and setpriv"
    identity = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    bash = ["bash", "-c", 'ulimit -u 12; exec "$0" "$@"']
    with tempfile.TemporaryDirectory() as folder:
        env = {"GASNET_PSHM_NODES": "30", "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": folder}
        os.chmod(folder, 0o755)
        victim, command = copy_programs(folder)
        program = [victim] if launch == "self" else [command, "run", "-n", "30", victim]
        done = subprocess.run(
            [*identity, *bash, *program],
            env=env,
            timeout=60,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    text = done.stderr.decode()
    check(done.returncode not in (0, 137), "exit code", done.returncode, text)
    check(
        re.search(r"cannot start rank \d+ of 30: fork: .*\(process limit, ulimit -u: 12\)", text),
        repr(text),
    )
    return None


def cgroup_of_processes():
    """The pids controller of cgroups refuses: its limit is named, by the doctor, too."""
    roots = [p for p in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup") if os.path.exists(p)]
    group = os.path.join(roots[0] if roots else "/nonexistent", f"tombolo-test-{os.getpid()}")
    try:
        os.mkdir(group)
    except OSError as error:
        return f"no cgroup can be made: {error}"
    try:
        if not os.path.exists(f"{group}/pids.max"):
            return "no controller pids"
        with open(f"{group}/pids.max", "w", encoding="ascii") as file:
            file.write("12")
        enter = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', group, TOMBOLO]
        done = subprocess.run([*enter, "run", "-n", "16", VICTIM], text=True, timeout=60,
                              capture_output=True, check=False)
        check(done.returncode not in (0, 137, 139) and f"{group}/pids.max: 12" in done.stderr, done)
        done = subprocess.run([*enter, "doctor"], text=True, timeout=60, capture_output=True,
                              check=False)
        check(re.search(f"processes +at most 12 in the cgroup {group}", done.stdout), done)
        with open(f"{group}/pids.max", "w", encoding="ascii") as file:
            file.write("4")  # the launcher and three ranks, without their threads
        if os.path.exists(PLUGINS + "/tombolo-net-udp.so"):
            env = {**os.environ, "TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}
            done = subprocess.run([*enter, "run", "-n", "3", VICTIM], text=True, timeout=60,
                                  env=env, capture_output=True, check=False)
            check(done.returncode == 0 and "udp: no progress thread: " in done.stderr, done)
    finally:
        os.rmdir(group)
    return None


def copy_programs(folder):
    """Copies of our programs, with their library, that every user can reach."""
    for program in (VICTIM, TOMBOLO):
        shutil.copy(program, folder)
        found = subprocess.run(
            ["ldd", program], stdout=subprocess.PIPE, check=False
        ).stdout.decode()
        for path in re.findall(r"=> (\S*libtombolo\S*)", found):
            shutil.copy(path, folder)
    return os.path.join(folder, "victim"), os.path.join(folder, "tombolo")


def as_nobody(launch):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return "needs root and setpriv"
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        victim, command = copy_programs(folder)
        program = [victim] if launch == "self" else [command, "run", "-n", "3", victim]
        env = {"HOME": "/proc/nonexistent", "LD_LIBRARY_PATH": folder}
        if launch == "self":
            env["GASNET_PSHM_NODES"] = "3"
        for extra in ({}, NO_MEMFD):
            done = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *program],
                env={**env, **extra},
                cwd="/",
                timeout=60,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            text = done.stdout.decode()
            check(done.returncode == 0 and text.count("is fine") == 3, done.returncode, text)
    return None


def no_namespaces(flags="-m"):
    """Why no namespace, of mounts, can be made here; None if one can."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "needs root and unshare"
    done = subprocess.run(["unshare", flags, "true"], capture_output=True, check=False)
    return done.stderr.decode().strip() if done.returncode else None


def unshared(script, launch, env=None, arguments="", flags="-m", program=VICTIM):
    """Runs a job in a namespace of its own after `script`. Returns (code, text) or None."""
    program = f'"{program}" {arguments}'
    if launch == "run":
        program = f'"{TOMBOLO}" run -n 3 --timeout 50 {program}'
    variables = {**os.environ, **(env or {})}
    if launch == "self":
        variables["GASNET_PSHM_NODES"] = "3"
    done = subprocess.run(
        ["unshare", flags, "sh", "-c", f"({script}) || exit 177; exec {program}"],
        env=variables,
        timeout=60,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode == 177:
        return None
    return done.returncode, done.stdout.decode()


def no_dev_shm(launch, env):
    """As in a container without /dev/shm."""
    script = (
        "mount -t tmpfs none /mnt && mknod -m 666 /mnt/null c 1 3 && mount --move /mnt /dev && "
        "test ! -e /dev/shm"
    )
    result = None if no_namespaces() else unshared(script, launch, env)
    if result is None:
        return no_namespaces() or "mounts are not allowed here"
    check(result[0] == 0 and result[1].count("is fine") == 3, result)
    return None


def read_only_everything(launch):
    """Nothing can be written: home, /tmp, /dev/shm, the working folder."""
    script = (
        "mount -t tmpfs -o ro none /tmp && mount -t tmpfs -o ro none /var/tmp && "
        "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /root"
    )
    inside = [path for path in (VICTIM, TOMBOLO) if path.startswith(("/tmp", "/root", "/var/tmp"))]
    if inside:
        return "the programs lie where the test mounts"
    result = None if no_namespaces() else unshared(script, launch)
    if result is None:
        return no_namespaces() or "mounts are not allowed here"
    check(result[0] == 0 and result[1].count("is fine") == 3, result)
    result = unshared(script, launch, NO_MEMFD)
    check(result is not None and result[0] not in (0, 137, 139), result)
    check("cannot create shared memory (/dev/shm: Read-only file system" in result[1], result)
    return None


def no_memfd(launch):
    """The fallback of old kernels; also with a folder for it that cannot be used."""
    for extra in ({}, {"GASNET_TMPDIR": "/proc/nonexistent"}, {"GASNET_TMPDIR": "/proc"}):
        runs(3, launch, env={**NO_MEMFD, **extra})


def small_file_system(launch):
    """The fallback in a file system that is too small: refused at attach, never SIGBUS."""
    script = "mount -t tmpfs -o size=64m none /dev/shm"
    env = {**NO_MEMFD, "TMPDIR": "", "GASNET_TMPDIR": ""}
    result = None if no_namespaces() else unshared(script, launch, env, "segment 8")
    if result is None:
        return no_namespaces() or "mounts are not allowed here"
    check(result[0] == 0 and result[1].count("touched") == 3, result)
    for mib in (20, 100):
        code, text = unshared(script, launch, env, f"segment {mib}")
        check(code == 91 and text.count("refused GASNET_ERR") >= 1, code, text)
        check("SIG" not in text, text)
        check(re.search(r"/dev/shm|space of the file system", text), text)
        check("GASNET_TMPDIR" in text, text)
    # the messages alone do not fit
    code, text = unshared("mount -t tmpfs -o size=64k none /dev/shm", launch, env, "segment 1")
    check(code not in (0, 134, 135, 137, 139), code, text)
    check(text.count("the file system of /dev/shm has") == 1, text)
    return None


def no_loopback(launch):
    """A network namespace whose loopback interface is down: said at once, with the remedy."""
    if no_namespaces("-n"):
        return no_namespaces("-n")
    for conduit in ("udp", "ofi"):
        if not os.path.exists(PLUGINS + f"/tombolo-net-{conduit}.so"):
            continue
        env = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": conduit}
        began = time.monotonic()
        result = unshared("true", launch, env, flags="-n")
        check(result[0] not in (0, 134, 137), conduit, result)
        words = "unreachable; bring the loopback interface up (ip link set lo up), with 127.0.0.1"
        check(words in result[1], conduit, result)
        check(time.monotonic() - began < 20, conduit, "took", time.monotonic() - began, "s")
    return None


def short_loopback():
    """A loopback interface of short packets: the kernel cuts longer ones, but none of several."""
    if no_namespaces("-n") or not shutil.which("ip"):
        return no_namespaces("-n") or "no ip"
    if not os.path.exists(PLUGINS + "/tombolo-net-udp.so"):
        return "no conduit udp"
    env = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}
    result = unshared("ip link set lo up && ip link set lo mtu 600", "run", env, flags="-n",
                      program=SOAK)
    check(result is not None and result[0] == 0, result)
    return None


PRETEND_CGROUP = """
m=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ {print $2; exit}' /proc/self/mounts)
[ -n "$m" ] || m=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
[ -n "$m" ] && mount -t tmpfs none "$m" || exit 177
for name in memory.max memory.limit_in_bytes; do echo 268435456 > "$m/$name"; done
for name in memory.events memory.oom_control; do echo "oom_kill 3" > "$m/$name"; done
export COUNTS="$m/memory.events $m/memory.oom_control"
"""


def killed_for_want_of_memory():
    """A rank dies of SIGKILL after the kernel's count has grown: the limit is named."""
    if no_namespaces():
        return no_namespaces()
    rank = 'sleep 0.5; for f in $COUNTS; do echo "oom_kill 4" > "$f"; done; exec "$0" "$@"'
    job = f"exec '{TOMBOLO}' run -n 3 sh -c '{rank}' '{VICTIM}' one raise 1 9"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", PRETEND_CGROUP + job],
        timeout=60,
        check=False,
        capture_output=True,
    )
    if done.returncode == 177:
        return "no memory cgroup is mounted"
    text = done.stderr.decode()
    check(done.returncode == 137, done)
    words = r"rank 1 .*\(SIGKILL\).*want of memory \(cgroup memory limit .*: 256 MB\)"
    check(re.search(words, text), text)
    return None


CASES = [
    named(f"little_memory/{launch}/{kib}", little_memory, launch, kib)
    for launch in LAUNCHES
    for kib in (2048, 4096, 8192, 16384, 65536)
]
CASES += [
    named(f"small_files/{launch}/{size}", small_files, launch, size)
    for launch in LAUNCHES
    for size in (0, 512, 4096, 1 << 20)
]
for case in (few_processes, as_nobody, read_only_everything, no_memfd, small_file_system,
             no_loopback, longest_segments):
    CASES += [named(f"{case.__name__}/{launch}", case, launch) for launch in LAUNCHES]
CASES += [
    named(f"no_dev_shm/{launch}/{'no_memfd' if env else 'memfd'}", no_dev_shm, launch, env)
    for launch in LAUNCHES
    for env in ({}, NO_MEMFD)
]
CASES += [few_files, short_loopback, cgroup_of_processes, forbidden_call, ofi_without_shm,
          killed_for_want_of_memory]

if __name__ == "__main__":
    run_cases(CASES)
