#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several hosts on this machine: network namespaces joined by a bridge or by the program `wire`.

Usage: lab.py [options] -- COMMAND...   (runs COMMAND on host0; $TMB_LAB_HOSTS: all, by commas)
As a module: `confine()` first, then `with Lab(hosts=4, sshd=True) as lab: lab.hosts[0].run([...])`.
Hosts are called host0, host1, ...; in rail R of family 4 host H is 10.77.R.H+1, of family 6
fd77:R::H+1, and hostH-6 is a name of its IPv6 address. Every program of the lab ends with it, also
when it is killed (confine.py). Without root, ip, and for some options tc, sshd or /dev/net/tun, the
test is skipped with the reason (code 77).
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))
from confine import MS_BIND, Host, confine, mount, skip  # noqa: E402

ROOT = HERE.parent.parent
FOLDER = Path("/run/lab")  # on the lab's own tmpfs
USER = "tester"  # the lab's user that is not root
USER_ID = 7777
SSHD = ("/usr/sbin/sshd", "/usr/local/sbin/sshd")
BURST_BYTES = 65536  # of the token bucket: one segment as large as the kernel makes them
QUEUE_BYTES = 1 << 20


def need(*programs):
    """Skips the test where one of these programs is missing."""
    for name in programs:
        if not shutil.which(name):
            skip(f"no program {name}")


def build_folder():
    """The build tree: $TMB_BUILD, or build/."""
    return Path(os.environ.get("TMB_BUILD", ROOT / "build"))


def find_wire():
    """The program `wire`; skips where it cannot work."""
    if not os.path.exists("/dev/net/tun"):
        skip("no /dev/net/tun")
    path = build_folder() / "tests/net/wire"
    if not path.exists():
        skip(f"no {path}: build the tests")
    return path


def write(path, text, mode=0o644, owner=0):
    """Writes a file and its folder, of one owner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, owner, owner)


def cover(path):
    """The lab's file FOLDER/PATH takes the place of PATH, for all that runs in the lab."""
    if os.path.exists(path) and path not in cover.done:
        mount(f"{FOLDER}{path}", path, flags=MS_BIND)
        cover.done.add(path)


cover.done = set()


class Wire:
    """The running program `wire`: how the link of each host behaves; see wire/wire.c."""

    def __init__(self, ports, settings):
        command = [find_wire(), f"ports={ports}", *settings]
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        first = self.process.stdout.readline()
        if not first.startswith("wire: ready"):
            raise RuntimeError(f"wire: {first}")
        print(first.strip(), flush=True)

    def ask(self, line):
        """Sends one command and returns its answer; commands are described in wire/wire.c."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise ValueError(f"wire: {line}: {answer}")
        return answer

    def counts(self):
        """Frames counted so far, over all ports: a dictionary by the names that wire prints."""
        words = self.ask("stats").split()
        return {name: int(value) for name, value in (word.split("=") for word in words[1:])}


class Ssh:
    """Keys, configuration and accounts with which root and USER reach every host of a lab."""

    def __init__(self, lab):
        need("ssh", "ssh-keygen")
        self.program = next((p for p in SSHD if os.path.exists(p)), None)
        if not self.program:
            skip("no sshd (package openssh-server)")
        self.lab = lab
        self.accounts = {"root": (0, FOLDER / "home/root"), USER: (USER_ID, FOLDER / "home" / USER)}
        self._make_key(FOLDER / "ssh/host_key", 0)
        self._write_accounts()
        for name, (uid, home) in self.accounts.items():
            self._make_home(name, uid, home)
        Path("/run/sshd").mkdir(exist_ok=True)
        write(FOLDER / "ssh/sshd_config", self._server_text())

    @staticmethod
    def _make_key(path, owner):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", path]
        subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL)
        for each in (path, path.with_suffix(".pub")):
            os.chown(each, owner, owner)

    def _write_accounts(self):
        """A passwd and group of the lab's own: root's home is not the machine's."""
        kept = Path("/etc/passwd").read_text().splitlines()
        kept = [row for row in kept if row.split(":")[0] not in self.accounts]
        rows = [f"{n}:x:{uid}:{uid}:{n}:{home}:/bin/sh" for n, (uid, home) in self.accounts.items()]
        if not any(r.startswith("sshd:") for r in kept):
            rows.append("sshd:x:7776:65534::/run/sshd:/bin/false")
        write(FOLDER / "etc/passwd", "\n".join(rows + kept) + "\n")
        groups = Path("/etc/group").read_text().splitlines()
        groups = [row for row in groups if row.split(":")[0] != USER]
        write(FOLDER / "etc/group", "\n".join([*groups, f"{USER}:x:{USER_ID}:"]) + "\n")
        cover("/etc/passwd")
        cover("/etc/group")

    def _make_home(self, name, uid, home):
        """Home with a key of its own that every host of the lab accepts for the same account."""
        self._make_key(home / ".ssh/id_ed25519", uid)
        public = (home / ".ssh/id_ed25519.pub").read_text()
        write(home / ".ssh/authorized_keys", public, 0o600, uid)
        host_key = (FOLDER / "ssh/host_key.pub").read_text().split()[:2]
        names = [n for h in range(self.lab.size) for n in self.lab.names(h)]
        write(home / ".ssh/known_hosts", " ".join([",".join(names), *host_key]) + "\n", 0o600, uid)
        write(home / ".ssh/config", "StrictHostKeyChecking yes\nBatchMode yes\n", 0o600, uid)
        for each in (home, home / ".ssh"):
            os.chown(each, uid, uid)
            each.chmod(0o700)

    @staticmethod
    def _server_text():
        return f"""HostKey {FOLDER}/ssh/host_key
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UseDNS no
MaxStartups 200
MaxSessions 200
AcceptEnv LC_LAB_*
PrintMotd no
KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org
"""

    def serve(self, host):
        """Starts the sshd of a host; its messages go to FOLDER/sshd-NAME.log."""
        with open(FOLDER / f"sshd-{host.name}.log", "wb") as log:
            command = [self.program, "-D", "-e", "-f", FOLDER / "ssh/sshd_config"]
            host.sshd = host.start(command, stdout=log, stderr=log)


class Lab:
    """Hosts, their network, and what runs between them.

    hosts: how many. rails: interfaces of each (eth0, eth1, ...). family: "4", "6" or "46", the
    addresses that interfaces have. mtu: bytes. rate: of the kernel's token bucket, as tc writes it
    ("1gbit"). wire: None for a bridge, else settings of the program wire (list of NAME=VALUE): rail
    0 then goes through it. sshd: each host has a server and root and USER can log in everywhere.
    """

    count = 0

    def __init__(self, hosts=2, rails=1, family="4", mtu=1500, rate=None, wire=None, sshd=False):
        need("ip", "nsenter")
        if rate:
            need("tc")
        self.size, self.rails, self.family, self.mtu = hosts, rails, family, mtu
        Lab.count += 1  # names of interfaces: the kernel takes its time to remove those of before
        self.prefix = f"l{Lab.count}"
        FOLDER.mkdir(mode=0o755, exist_ok=True)
        self._write_names()
        self.ssh = Ssh(self) if sshd else None
        self.hosts = [Host(f"host{h}") for h in range(hosts)]
        self.wire = Wire(hosts, wire) if wire is not None else None
        for rail in range(rails):
            self._join(rail)
        for h, host in enumerate(self.hosts):
            self._configure(h, host)
        if rate:
            self._limit(rate)
        if self.ssh:
            for host in self.hosts:
                self.ssh.serve(host)
            self._await_sshd()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends all hosts and the wire. (The end of the script would do it too.)"""
        for host in self.hosts:
            host.kill()
        if self.wire:
            self.wire.process.stdin.close()
            self.wire.process.wait()
            self.wire.process.stdout.close()
        rails = range(1 if self.wire else 0, self.rails)
        self._ip([f"link del {self.prefix}rail{rail}" for rail in rails])

    def address(self, h, rail=0, family=None):
        """Address of a host in a rail."""
        family = family or self.family[0]
        return f"10.77.{rail}.{h + 1}" if family == "4" else f"fd77:{rail}::{h + 1:x}"

    def names(self, h):
        """All names and addresses of a host."""
        return [f"host{h}", f"host{h}-6"] + [
            self.address(h, rail, f) for rail in range(self.rails) for f in self.family
        ]

    def port(self, h, rail):
        """Name of the lab's end of an interface of host h."""
        return f"{self.prefix}r{rail}h{h}"

    def host_list(self, ranks=None):
        """What --hosts takes: names by commas, with the number of ranks of each behind."""
        names = [f"host{h}" for h in range(self.size)]
        return ",".join(names if ranks is None else [f"{n}:{r}" for n, r in zip(names, ranks)])

    def _write_names(self):
        rows = ["127.0.0.1 localhost", "::1 localhost"]
        for h in range(self.size):
            rows += [f"{self.address(h, 0, f)} host{h}" for f in self.family]
            rows += [f"{self.address(h, 0, '6')} host{h}-6"] if "6" in self.family else []
        write(FOLDER / "etc/hosts", "\n".join(rows) + "\n")
        cover("/etc/hosts")

    @staticmethod
    def _ip(lines, host=None):
        """Runs lines of ip in one process, in the lab or on a host."""
        words = ["ip", "-batch", "-"]
        words = ["nsenter", "-t", str(host.pid), "-n", *words] if host else words
        done = subprocess.run(words, input="\n".join(lines) + "\n", text=True, check=False,
                              capture_output=True)
        if done.returncode:
            raise RuntimeError(f"ip: {done.stderr.strip()}\n" + "\n".join(lines))

    def _join(self, rail):
        """Gives each host an interface eth<rail>, the other end of which is in the lab."""
        if rail == 0 and self.wire:
            lines = [f"link set wire{h} netns {x.pid} name eth0" for h, x in enumerate(self.hosts)]
            self._ip(lines)
            return
        bridge = f"{self.prefix}rail{rail}"
        lines = [f"link add {bridge} type bridge mcast_snooping 0",
                 f"link set {bridge} mtu {self.mtu} up"]
        for h, host in enumerate(self.hosts):
            port = self.port(h, rail)
            lines += [
                f"link add {port} mtu {self.mtu} type veth peer name eth{rail} netns {host.pid}",
                f"link set {port} master {bridge} up",
            ]
        self._ip(lines)

    def _configure(self, h, host):
        lines = ["link set lo up"]
        if "6" not in self.family:  # no link-local addresses and what comes with them
            switch = "/proc/sys/net/ipv6/conf/all/disable_ipv6"
            host.run(["sh", "-c", f"if [ -e {switch} ]; then echo 1 >{switch}; fi"])
        for rail in range(self.rails):
            lines.append(f"link set eth{rail} mtu {self.mtu} up")
            if "4" in self.family:
                lines.append(f"addr add {self.address(h, rail, '4')}/24 dev eth{rail}")
            if "6" in self.family:
                lines.append(f"addr add {self.address(h, rail, '6')}/64 dev eth{rail} nodad")
        self._ip(lines, host)

    def _limit(self, rate):
        """A token bucket at both ends of each interface."""
        bucket = f"root tbf rate {rate} burst {BURST_BYTES} limit {QUEUE_BYTES}".split()
        for rail in range(self.rails):
            for h, host in enumerate(self.hosts):
                if rail == 0 and self.wire:
                    continue  # wire has a setting for it
                enter = ["nsenter", "-t", str(host.pid), "-n"]
                for where, name in (([], self.port(h, rail)), (enter, f"eth{rail}")):
                    command = [*where, "tc", "qdisc", "add", "dev", name, *bucket]
                    subprocess.run(command, check=True)

    def _await_sshd(self):
        """Waits until every sshd listens."""
        deadline = time.monotonic() + 20
        for host in self.hosts:
            while "Server listening" not in (FOLDER / f"sshd-{host.name}.log").read_text():
                if time.monotonic() > deadline or host.sshd.poll() is not None:
                    raise RuntimeError((FOLDER / f"sshd-{host.name}.log").read_text())
                time.sleep(0.01)

    def leftovers(self, seconds=2):
        """(host, command line) of what runs on a host and is not the lab's, once nothing does or
        `seconds` have passed: empty after a job."""
        deadline = time.monotonic() + seconds
        while True:
            found = [(host.name, words) for host in self.hosts if host.alive
                     for _, words in host.processes() if "sshd" not in words]
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.02)

    def cut(self, h, joined=False):
        """Takes the cable of a host out (all rails), or puts it in again."""
        word = "up" if joined else "down"
        lines = [f"link set {self.port(h, rail)} {word}" for rail in range(self.rails)
                 if rail or not self.wire]
        if lines:
            self._ip(lines)
        if self.wire:
            self.wire.ask(f"{'join' if joined else 'cut'} {h}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--rails", type=int, default=1, help="interfaces of each host")
    parser.add_argument("--family", choices=("4", "6", "46"), default="4")
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--rate", help="token bucket, as tc writes it: 1gbit")
    parser.add_argument("--wire", help="settings of tests/net/wire by commas: delay=100us,loss=1%%")
    parser.add_argument("--sshd", action="store_true", help="start a server of ssh on each host")
    parser.add_argument("--user", action="store_true", help=f"run COMMAND as {USER}, not as root")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if options.user and not options.sshd:
        parser.error("--user: there is such a user with --sshd only")
    confine()
    settings = None if options.wire is None else [w for w in options.wire.split(",") if w]
    with Lab(options.hosts, options.rails, options.family, options.mtu, options.rate, settings,
             options.sshd) as lab:
        environment = {**os.environ, "TMB_LAB_HOSTS": lab.host_list()}
        if options.sshd:
            name = USER if options.user else "root"
            environment.update(HOME=str(lab.ssh.accounts[name][1]), USER=name, LOGNAME=name)
        user = USER if options.user else None
        done = lab.hosts[0].run(options.command, user, env=environment, stdin=None)
    code = done.returncode
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
