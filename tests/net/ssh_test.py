#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""`tombolo run --hosts` over ssh between hosts of a lab, as root and as another user: jobs, what
is wrong with a host before the start, hosts and links that go, how long 256 ranks take to start."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import FOLDER, USER, Lab, build_folder, confine, skip  # noqa: E402
from launch import TOMBOLO, run, start  # noqa: E402

USER_ENTERS = unittest.skipUnless(
    all(p.stat().st_mode & 1 for p in (build_folder(), *build_folder().parents)),
    f"user {USER} may not enter {build_folder()}")
BOOTSTRAP = str(build_folder() / "tests/inside/bootstrap")
OLD_AGENT = "#!/bin/sh\nprintf '\\001tombolo-agent 1 little 0.0.1 v0.0.1\\n'\nexec cat >/dev/null\n"


def put(lab, h, name, text=None, source=None):
    """A program in host h's own /dev/shm: a text, or a copy of a file."""
    script = f'mkdir -p /dev/shm/bin; cd /dev/shm; cat > "{name}" && chmod 755 "{name}"'
    data = Path(source).read_bytes() if source else text.encode()
    process = lab.hosts[h].start(["sh", "-c", script], stdin=subprocess.PIPE)
    process.communicate(data)
    assert process.returncode == 0, name


class Jobs(unittest.TestCase):
    """Jobs that end well, and the start of many ranks."""

    def test_root(self):
        self.check_user(None)

    @USER_ENTERS
    def test_user(self):
        self.check_user(USER)

    def check_user(self, user):
        with Lab(hosts=3, sshd=True) as lab:
            hosts = lab.host_list([2, 1, 2])
            code, out, err, _ = run(lab, "--hosts", hosts, BOOTSTRAP, user=user)
            self.assertEqual((code, err), (0, ""))
            for rank in range(5):
                self.assertIn(f"rank {rank} of 5 well", out)
            script = 'echo "$(hostname) $(id -un) $A"'
            code, out, err, _ = run(lab, "--hosts", hosts, "--label", "sh", "-c", script,
                                    user=user, A="b c")
            name = user or "root"
            wanted = [f"[{r}] {h} {name} b c"
                      for r, h in enumerate("host0 host0 host1 host2 host2".split())]
            self.assertEqual((code, sorted(out.splitlines()), err), (0, wanted, ""))
            deep = {"TOMBOLO_SSH_OUT_DEGREE": "1"}
            code, out, err, _ = run(lab, "--hosts", hosts, BOOTSTRAP, user=user, **deep)
            self.assertEqual((code, err), (0, ""))
            code, _, err, _ = run(lab, "--hosts", hosts, BOOTSTRAP, "exit", 7, user=user)
            self.assertEqual(code, 7)
            self.assertRegex(err, r"rank 4 \(pid \d+ on host2\) exited with code 7")
            self.assertEqual(lab.leftovers(), [])

    def test_allocation_of_slurm(self):
        """The hosts that sbatch or salloc have got, without --hosts."""
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "host[0-1]",
                 "SLURM_TASKS_PER_NODE": "2,1"}
        with Lab(hosts=2, sshd=True) as lab:
            code, out, err, _ = run(lab, "--label", "hostname", **slurm)
            wanted = ["[0] host0", "[1] host0", "[2] host1"]
            self.assertEqual((code, sorted(out.splitlines()), err), (0, wanted, ""))
            code, out, err, _ = run(lab, "-n", "4", "hostname", **slurm)
            wanted = ["host0", "host0", "host1", "host1"]
            self.assertEqual((code, sorted(out.split()), err), (0, wanted, ""))
            slurm["SLURM_JOB_NODELIST"], slurm["SLURM_TASKS_PER_NODE"] = "host0", "2"
            code, out, err, _ = run(lab, "-n", "1", "hostname", **slurm)
            self.assertEqual((code, out, err), (0, "host0\n", ""))
            slurm.update(SLURM_JOB_NODELIST="n17", SLURMD_NODENAME="n17")
            code, out, err, _ = run(lab, "-n", "1", "hostname", **slurm)
            self.assertEqual((code, out, err), (0, "host0\n", ""))
            slurm["SLURM_JOB_NODELIST"] = "host[0-"
            code, out, err, _ = run(lab, "hostname", **slurm)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("host[0-", err)

    def test_crash(self):
        """Ranks of all hosts that crash at one place are named together, with function and line."""
        crashes = str(build_folder() / "tests/fault/crashes")
        with Lab(hosts=2, sshd=True) as lab:
            code, _, err, _ = run(lab, "--hosts", lab.host_list([2, 2]), crashes, "null", 0b1111,
                                  GASNET_EXITTIMEOUT="30")
            self.assertEqual(code, 139, err)
            self.assertRegex(err, r"(?m)^tombolo: ranks 0-3 failed in\n"
                             r"  descend \(\S*crashes\.c:\d+\)")
            self.assertEqual(lab.leftovers(), [])

    def test_many_ranks(self):
        with Lab(hosts=8, sshd=True) as lab:
            hosts = lab.host_list([32] * 8)
            code, out, err, seconds = run(lab, "--hosts", hosts, "echo", "x")
            self.assertEqual((code, out, err), (0, "x\n" * 256, ""))
            print(f"256 processes on 8 hosts by ssh: {seconds:.2f} s", flush=True)
            self.assertEqual(lab.leftovers(), [])


class Refusals(unittest.TestCase):
    """Before any rank runs."""

    def refuse(self, lab, words, pattern, code=1, **settings):
        """The job does not start, for a reason that is printed within seconds."""
        got, out, err, seconds = run(lab, *words, **settings)
        self.assertEqual((got, out), (code, ""), err)
        self.assertRegex(err, pattern)
        self.assertLess(seconds, 8)
        self.assertEqual(lab.leftovers(), [])

    @USER_ENTERS
    def test_key(self):
        with Lab(hosts=2, sshd=True) as lab:
            (FOLDER / "home" / USER / ".ssh/authorized_keys").write_text("")
            self.refuse(lab, ["--hosts", "host0,host1", "true"],
                        r"host host\d: .*Permission denied", user=USER)

    def test_hosts(self):
        with Lab(hosts=3, sshd=True) as lab:
            both = ["--hosts", "host0,host1"]
            self.refuse(lab, ["--hosts", "host0,nosuch", "true"],
                        r"host nosuch: cannot be reached: .*nosuch")
            put(lab, 0, "prog", "#!/bin/sh\necho one\n")
            prog = [*both, "/dev/shm/prog"]
            self.refuse(lab, prog, r"host host1: program '/dev/shm/prog' not found", 127)
            put(lab, 1, "prog", "#!/bin/sh\necho two\n")
            self.refuse(lab, prog,
                        r"host host1: program '/dev/shm/prog' differs from the one on host host0")
            code, out, _, _ = run(lab, *prog, TOMBOLO_CHECK_PROGRAM="0")
            self.assertEqual((code, sorted(out.split())), (0, ["one", "two"]))
            there = {"TOMBOLO_SSH_REMOTE_PATH": "/dev/shm/bin"}
            put(lab, 0, "bin/tombolo", source=TOMBOLO)
            self.refuse(lab, [*both, "true"],
                        r"host host1: .*there is no command /dev/shm/bin/tombolo", **there)
            put(lab, 1, "bin/tombolo", OLD_AGENT)
            self.refuse(lab, [*both, "true"],
                        r"host host1: another version of the library is installed there: .*v0.0.1",
                        **there)
            lab.cut(2)
            self.refuse(lab, ["--hosts", "host0,host2", "true"],
                        r"host host2: .*(route|time|answer)", TOMBOLO_SSH_TIMEOUT="2")


class Doctor(unittest.TestCase):
    """`tombolo doctor --hosts`: each difference between hosts has a line and a remedy."""

    def ask(self, lab, **settings):
        """The lines of the hosts host0 and host1, and the exit code."""
        command = [TOMBOLO, "doctor", "--hosts", "host0,host1"]
        environment = {**os.environ, "HOME": str(lab.ssh.accounts["root"][1]), **settings}
        done = lab.hosts[0].run(command, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout

    def expect(self, lab, code, pattern, **settings):
        """One line of the answer."""
        got, out = self.ask(lab, **settings)
        self.assertRegex(out, f"(?m)^{pattern}", settings)
        self.assertEqual(got, code, out)

    def test_differences(self):
        with Lab(hosts=2, sshd=True) as lab:
            code, out = self.ask(lab)
            self.assertEqual(code, 0, out)
            self.assertNotRegex(out, "(?m)^(warning|error) .*host1")
            lab.hosts[1].run(["ip", "link", "set", "eth0", "mtu", "1400"], check=True)
            self.expect(lab, 0, "warning  MTU +host1: eth0 has 1400, eth0 of this host 1500. .*"
                                "'ip link set eth0 mtu 1400' on this host")
            lab.hosts[1].run(["ip", "link", "set", "eth0", "mtu", "1500"], check=True)
            there, whole = {"TOMBOLO_SSH_REMOTE_PATH": "/dev/shm/bin"}, Path(TOMBOLO).read_bytes()
            put(lab, 0, "bin/tombolo", source=TOMBOLO)
            self.expect(lab, 1, "error    host +host1: tombolo is not there: .*Install tombolo",
                        **there)
            put(lab, 1, "bin/tombolo", "#!/bin/sh\necho 'tombolo 0.0.1 (v0.0.1), GNU 1'\n")
            self.expect(lab, 1, 'error    host +host1 has "tombolo 0.0.1 .*", this host has.* '
                                "Install the same version", **there)
            for name, pattern in (
                (b"jansson.so", "error    host +host1: tombolo misses a library: .*jXXsson.so.*"
                                "Install that library there"),
                (b"sodium.so", "warning  libsodium +host1: not found; .*install libsodium23"),
            ):
                changed = Path(FOLDER / "changed")
                changed.write_bytes(whole.replace(name, name[:1] + b"XX" + name[3:]))
                put(lab, 1, "bin/tombolo", source=changed)
                self.expect(lab, int(b"jansson" in name), pattern, **there)


class Losses(unittest.TestCase):
    """While ranks run."""

    def hold(self, lab, **settings):
        """A job of two ranks on each host that runs until something happens."""
        hosts = lab.host_list([2] * lab.size)
        process = start(lab, "--hosts", hosts, BOOTSTRAP, "hold", **settings)
        for _ in range(2 * lab.size):
            self.assertIn("holds", process.stdout.readline())
        return process

    def test_host_lost(self):
        with Lab(hosts=3, sshd=True) as lab:
            process = self.hold(lab)
            lab.hosts[2].kill()
            _, err = process.communicate(timeout=40)
            self.assertRegex(err, r"host host2 with ranks 4-5 is lost: .*; ending the other 4")
            self.assertEqual(process.returncode, 1)
            self.assertEqual(lab.leftovers(), [])

    def test_link_cut(self):
        with Lab(hosts=2, sshd=True) as lab:
            process = self.hold(lab, TOMBOLO_PEER_TIMEOUT="2")
            lab.cut(1)
            began = time.monotonic()
            _, err = process.communicate(timeout=40)
            self.assertRegex(err, r"host host1 with ranks 2-3 is lost: .*said nothing for 2 s")
            self.assertLess(time.monotonic() - began, 8)
            self.assertEqual([h for h, words in lab.leftovers(6) if "bootstrap" in words], [])

    def test_agent_stopped_at_the_end(self):
        """The end of a job waits a few seconds for an agent that is stopped, not for a time-out."""
        with Lab(hosts=3, sshd=True) as lab:
            for degree in ("32", "1"):
                process = self.hold(lab, TOMBOLO_SSH_OUT_DEGREE=degree)
                agent = [pid for pid, words in lab.hosts[2].processes()
                         if "run --agent" in words and "sh -c" not in words]
                os.kill(agent[-1], signal.SIGSTOP)
                rank = [pid for pid, words in lab.hosts[0].processes()
                        if words.startswith(BOOTSTRAP)]
                began = time.monotonic()
                os.kill(rank[0], signal.SIGKILL)
                _, err = process.communicate(timeout=60)
                self.assertLess(time.monotonic() - began, 12)
                self.assertRegex(err, "host host2: its agent does not answer; leaving it")
                self.assertEqual(process.returncode, 137)
                os.kill(agent[-1], signal.SIGCONT)
                self.assertEqual(lab.leftovers(6), [])

    def test_launcher_killed(self):
        with Lab(hosts=2, sshd=True) as lab:
            process = self.hold(lab)
            for pid, words in lab.hosts[0].processes():
                if "tombolo run --hosts" in words:
                    os.kill(pid, signal.SIGKILL)
            process.communicate(timeout=40)
            self.assertEqual(lab.leftovers(), [])


if __name__ == "__main__":
    if not os.path.exists(BOOTSTRAP):
        skip(f"no {BOOTSTRAP}: build the tests")
    confine()
    unittest.main(verbosity=2)
