#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Paths that carry less than the interfaces at their ends, which nobody says: a router between two
hosts whose link to one of them is narrow and whose messages about that are dropped. Traffic passes
whole and undivided, also when the link becomes narrow while it runs, with IPv4 and IPv6."""

import re
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import confine  # noqa: E402
from lab import Lab, build_folder, need  # noqa: E402
from launch import start  # noqa: E402

TRAFFIC = str(build_folder() / "tests/fault/traffic")
STEPS = ("40", "0")


class Routed(Lab):
    """Two hosts with a router between: host0 - host1 (eth0 and eth1) - host2. Routes name no MTU,
    and no message that a packet is too long reaches anybody."""

    def __init__(self, family, mtu):
        super().__init__(hosts=3, rails=2, family=family, mtu=mtu, sshd=True)
        left, router, right = self.hosts
        length = 24 if family == "4" else 64
        nets = [self.address(0, rail).rsplit(".", 1)[0] + ".0" if family == "4" else
                f"fd77:{rail}::" for rail in (0, 1)]
        left.run(["ip", "link", "set", "eth1", "down"], check=True)
        right.run(["ip", "link", "set", "eth0", "down"], check=True)
        switch = "net.ipv4.ip_forward" if family == "4" else "net.ipv6.conf.all.forwarding"
        path = "/proc/sys/" + switch.replace(".", "/")
        router.run(["sh", "-c", f"echo 1 >{path}"], check=True)
        named, whole = self.address(2, 0), 32 if family == "4" else 128
        # TCP of ssh learns what passes; the address behind host2's name is one of its own.
        self._ip([f"route add {nets[1]}/{length} via {self.address(1, 0)} advmss 1000",
                  f"route add {named}/{whole} via {self.address(1, 0)} advmss 1000"], left)
        self._ip([f"addr add {named}/{whole} dev lo",
                  f"route add {nets[0]}/{length} via {self.address(1, 1)} advmss 1000"], right)
        self._ip([f"route add {named}/{whole} via {self.address(2, 1)}"], router)
        # What the router says itself cannot leave it.
        table, protocol = "200", "icmp" if family == "4" else "ipv6-icmp"
        rules = [f"rule add ipproto {protocol} iif lo table {table} prio 10"]
        words = ["ip", f"-{family}", "-batch", "-"]
        text = "\n".join([f"route add blackhole default table {table}", *rules]) + "\n"
        done = router.run(words, input=text, text=True, stdin=None, capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr)

    def narrow(self, mtu):
        """The router's link to host2 from now on."""
        self._ip([f"link set eth1 mtu {mtu}"], self.hosts[1])

    def counts(self, h):
        """Packets that a host has divided or put together so far."""
        text = self.hosts[h].run(["cat", "/proc/net/snmp", "/proc/net/snmp6"], text=True,
                                 capture_output=True).stdout
        rows = re.findall(r"^Ip: (.*)$", text, re.M)
        found = dict(zip(rows[0].split(), rows[1].split()))
        divided = int(found["FragCreates"]) + int(found["ReasmReqds"])
        for name in ("Ip6FragCreates", "Ip6ReasmReqds", "Icmp6InPktTooBigs"):
            match = re.search(rf"^{name}\s+(\d+)", text, re.M)
            divided += int(match[1]) if match else 0
        return divided

    def heard(self):
        """Whether the kernel of host0 knows what the path carries."""
        words = ["ip", "route", "get", self.address(2, 1)]
        return " mtu " in self.hosts[0].run(words, text=True, capture_output=True).stdout


class Mtu(unittest.TestCase):
    """Jobs over a routed path."""

    def run_traffic(self, lab, steps=STEPS, meanwhile=None, **settings):
        """Checked traffic of host0 and host2, which ends well. Returns its messages."""
        process = start(lab, "--hosts", "host0:2,host2:2", TRAFFIC, "abort", *steps, **settings)
        if meanwhile:
            time.sleep(1)
            meanwhile()
        out, err = process.communicate(timeout=90)
        self.assertEqual((process.returncode, out.count("survived")), (0, 4), out + err)
        return err

    def test_narrow(self):
        """A link of 1400 bytes between interfaces of 9000."""
        with Routed("4", 9000) as lab:
            lab.narrow(1400)
            self.run_traffic(lab, ("10", "0"), TOMBOLO_UDP_MTU="1000")
            self.run_traffic(lab)
            self.assertEqual(([lab.counts(h) for h in (0, 2)], lab.heard()), ([0, 0], False))

    def test_changes(self):
        """Interfaces of 1500 bytes; the link in between becomes narrow."""
        with Routed("6", 1500) as lab:
            self.run_traffic(lab, ("150", "20"), lambda: lab.narrow(1300))
            self.assertFalse(lab.heard())


if __name__ == "__main__":
    confine()
    need("ip")
    unittest.main()
