#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""What others can see of a job on several hosts: packets on the wire with and without encryption,
where the secret lies, and what a host that guards packets by another method is sent."""

import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import FOLDER, USER, Lab, build_folder, confine  # noqa: E402
from ssh_test import run, start  # noqa: E402

WORDS = str(build_folder() / "tests/fault/words")
TEXT = b"payload that nobody else may read"
LISTEN = """
import select, socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)  # SO_RCVBUFFORCE
print("listening", flush=True)
with open(sys.argv[1], "wb") as out:
    while True:
        ready = select.select([s, sys.stdin], [], [], 60)[0]
        if s in ready:
            out.write(s.recv(1 << 17))
        else:
            break
"""
SODIUM = [path for path in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                            "/usr/lib", "/lib/aarch64-linux-gnu")
          for path in Path(path).glob("libsodium.so.*") if not path.is_symlink()]
MAGIC = bytes(reversed(b"tombol"))  # of a control block, after its layout and release
SECRET_AT, SECRET_BYTES = 248, 32


def heard(lab, **settings):
    """Runs the program while somebody listens on host 0. Returns (result, what passed)."""
    path = FOLDER / "heard"
    ear = lab.hosts[0].start(["python3", "-c", LISTEN, path], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    assert ear.stdout.readline() == "listening\n"
    result = run(lab, "--hosts", lab.host_list([1, 1]), WORDS, **settings)
    ear.communicate(timeout=60)
    return result, path.read_bytes()


def end(lab, job):
    """Ends a job by a signal to its launcher."""
    for pid, words in lab.hosts[0].processes():
        if "run --hosts" in words and "nsenter" not in words:
            os.kill(pid, signal.SIGTERM)
    job.communicate(timeout=30)


def secret_of(pid):
    """The secret of the job of a rank, out of its control block."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if "tombolo-ctl" not in line:
            continue
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(int(line.split("-")[0], 16))
            block = memory.read(SECRET_AT + SECRET_BYTES)
        assert block[2:8] == MAGIC, block[:8]
        return block[SECRET_AT:]
    raise AssertionError("no control block")


def bound_to(pid):
    """Local addresses, as hexadecimal words, of the internet sockets that a process has."""
    mine = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(fd))
        mine |= {match[1]} if match else set()
    rows = [line.split() for name in ("udp", "tcp", "udp6", "tcp6")
            if (path := Path(f"/proc/{pid}/net/{name}")).exists()
            for line in path.read_text().splitlines()[1:]]
    return [row[1].split(":")[0] for row in rows if row[9] in mine]


class Wire(unittest.TestCase):
    """What a listener reads."""

    def test_payload(self):
        with Lab(hosts=2, sshd=True) as lab:
            for stream in ("0", "1"):
                for auth in ("payload", "encrypt"):
                    result, bytes_seen = heard(lab, TOMBOLO_UDP_STREAM=stream,
                                               TOMBOLO_UDP_AUTH=auth)
                    with self.subTest(stream=stream, auth=auth):
                        if auth == "encrypt" and not SODIUM:
                            self.assertRegex(result[2], "needs libsodium")
                            continue
                        self.assertEqual((result[0], result[2]), (0, ""))
                        self.assertGreater(len(bytes_seen), 2 * 163840)
                        self.assertEqual(TEXT in bytes_seen, auth == "payload")

    def test_secret(self):
        """It is in no argument list and no environment, and another user can read none of it."""
        with Lab(hosts=2, sshd=True) as lab:
            job = start(lab, "--hosts", lab.host_list([1, 1]), WORDS, "hold")
            for _ in range(2):
                self.assertIn("ready", job.stdout.readline())
            pids = [pid for host in lab.hosts for pid, words in host.processes()
                    if words.endswith("words hold") and "run" not in words]
            self.assertEqual(len(pids), 2)
            secrets = {secret_of(pid) for pid in pids}
            self.assertEqual(len(secrets), 1)
            secret = secrets.pop()
            self.assertGreater(len(set(secret)), 8)
            forms = [secret, secret.hex().encode(), secret.hex().upper().encode()]
            pieces = {form[at:at + len(form) // 4] for form in forms
                      for at in range(0, len(form), len(form) // 4)}
            looked = 0
            for host in lab.hosts:
                for pid, _ in host.processes():
                    for name in ("cmdline", "environ"):
                        text = Path(f"/proc/{pid}/{name}").read_bytes()
                        looked += 1
                        self.assertFalse([p for p in pieces if p in text], f"{name} of {pid}")
            self.assertGreater(looked, 8)
            script = ("for d in /proc/[0-9]*; do [ $(stat -c %u $d) = 0 ] && "
                      "timeout 2 cat $d/environ $d/mem $d/fd/* $d/map_files/*; done; "
                      "cat /dev/shm/*")
            for host in lab.hosts:
                seen = host.run(["sh", "-c", script], user=USER,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                timeout=20).stdout
                self.assertFalse([p for p in pieces if p in seen])
            end(lab, job)
            self.assertEqual(lab.leftovers(), [])


class Doors(unittest.TestCase):
    """Where a rank can be reached."""

    def test_bound(self):
        """Sockets are bound to the interface in use, and to nothing else."""
        with Lab(hosts=2, rails=2, sshd=True) as lab:
            for interfaces, rails in (("eth1", (1,)), ("eth0,eth1", (0, 1))):
                job = start(lab, "--hosts", lab.host_list([1, 1]), WORDS, "hold",
                            TOMBOLO_UDP_INTERFACES=interfaces)
                for _ in range(2):
                    self.assertIn("ready", job.stdout.readline())
                for h, host in enumerate(lab.hosts):
                    pid = next(pid for pid, words in host.processes()
                               if words.endswith("words hold") and "run" not in words)
                    wanted = {"%02X%02X4D0A" % (h + 1, rail) for rail in rails}
                    with self.subTest(host=h, interfaces=interfaces):
                        self.assertEqual(set(bound_to(pid)), wanted)
                end(lab, job)
            self.assertEqual(lab.leftovers(), [])


class Refusals(unittest.TestCase):
    """Hosts that do not fit together, before the job runs."""

    def refuse(self, lab, pattern, *words, hosts=1, **settings):
        code, _, err, seconds = run(lab, "--hosts", lab.host_list([1, 1]), *words, **settings)
        self.assertNotEqual(code, 0)
        self.assertEqual(len(re.findall(pattern, err)), hosts, err)
        self.assertLess(seconds, 10)
        self.assertEqual(lab.leftovers(), [])

    def test_other_setting(self):
        with Lab(hosts=2, sshd=True) as lab:
            for name, value, usual in (("AUTH", "header", "payload"), ("STREAM", "1", "auto")):
                script = f"[ $(hostname) = host1 ] && export TOMBOLO_UDP_{name}={value}; "
                self.refuse(lab, rf"rank 1: udp: TOMBOLO_UDP_{name} is {value} here and {usual} "
                            "at rank 0", "sh", "-c", script + "exec " + WORDS)

    def test_no_libsodium(self):
        with Lab(hosts=2, sshd=True) as lab:
            for path in SODIUM:
                lab.hosts[1].run(["mount", "--bind", "/dev/null", path], check=True)
            self.refuse(lab, r"TOMBOLO_UDP_AUTH=encrypt needs libsodium on every host.*"
                        r"package libsodium23.*payload", WORDS, TOMBOLO_UDP_AUTH="encrypt",
                        hosts=1 if SODIUM else 2)


if __name__ == "__main__":
    confine()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    unittest.main(verbosity=2)
