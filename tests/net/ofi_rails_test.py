#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Long transfers of the conduit ofi over two interfaces of each host: the bytes are counted at the
interfaces, the data are checked; and hosts of which one lacks an interface.

Provider tcp;ofi_rxm, two hosts of a lab with eth0 (for the agents) and the rails eth1 and eth2.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import SKIP, confine  # noqa: E402
from lab import Lab, build_folder  # noqa: E402
from launch import run  # noqa: E402

STRIPES = str(build_folder() / "tests/net/ofi_stripes")
COUNT = 40
# About half of what a rail carries: the first rounds take eth1, until eth2 is connected.
BYTES = 12 << 20


class Rails(unittest.TestCase):
    """Jobs on two hosts."""

    def job(self, lab, names, *mode):
        """Runs checked transfers. Returns what each rail of host 0 sent and got, and the text."""
        code, out, err, _ = run(lab, "--hosts", "host0:1,host1:1", STRIPES, str(COUNT), *mode,
                                TOMBOLO_CONDUIT="ofi", TOMBOLO_OFI_PROVIDER="tcp;ofi_rxm",
                                TOMBOLO_OFI_INTERFACES=names)
        self.assertEqual(code, 0, out + err)
        self.assertIn("all right", out)
        rows = [row.split() for row in Path("/proc/self/net/dev").read_text().splitlines()]
        counts = {row[0].rstrip(":"): row for row in rows}
        sent = {}
        for rail in (1, 2):
            row = counts[lab.port(0, rail)]
            sent[f"eth{rail}", "rx"], sent[f"eth{rail}", "tx"] = int(row[1]), int(row[9])
        return sent, err

    def test_shown(self):
        """`tombolo info --network` names the domains, and says why one is not used."""
        command = [str(build_folder() / "bin/tombolo"), "info", "--network"]

        def rails(host, **settings):
            text = host.start(command, stdout=subprocess.PIPE, env={**os.environ, **settings})
            lines = text.communicate()[0].decode().split("Rails of ofi\n")[1].splitlines()
            return {line.split()[0]: line for line in lines if line}

        with Lab(hosts=2, rails=3) as lab:
            lab._ip(["link set eth2 down"], lab.hosts[1])
            unset = rails(lab.hosts[0])
            named = rails(lab.hosts[0], TOMBOLO_OFI_INTERFACES="eth1,eth2")
            missing = rails(lab.hosts[1], TOMBOLO_OFI_INTERFACES="eth1,eth2")
        print(unset, named, missing, sep="\n")
        taken = [name for name, line in unset.items() if "takes everything" in line]
        self.assertEqual(len(taken), 1)  # whichever libfabric has first
        for name in {"eth0", "eth1", "eth2"} - set(taken):
            self.assertIn(f"TOMBOLO_OFI_INTERFACES={taken[0]},{name}", unset[name])
        self.assertIn("rail 0", named["eth1"])
        self.assertIn("rail 1", named["eth2"])
        self.assertIn("not available: not named", named["eth0"])
        self.assertIn("no such domain here", missing["eth2"])

    def test_both_are_used(self):
        """Puts and gets: each interface carries about half, in both directions."""
        with Lab(hosts=2, rails=3, sshd=True) as lab:
            sent, _ = self.job(lab, "eth1,eth2")
        print(sent)
        for key, value in sent.items():
            least = BYTES if key[1] == "rx" else BYTES / 2  # the lab's end gets what host 0 sends
            self.assertGreater(value, least, (key, sent))

    def test_messages_use_both(self):
        """The payload of Long requests and replies: each interface carries about half."""
        with Lab(hosts=2, rails=3, sshd=True) as lab:
            sent, _ = self.job(lab, "eth1,eth2", "messages")
        print(sent)
        for key, value in sent.items():
            self.assertGreater(value, BYTES / 2, (key, sent))

    def test_one_is_missing_at_one_host(self):
        """The other carries all, and the host that lacks it says so."""
        with Lab(hosts=2, rails=3, sshd=True) as lab:
            lab._ip(["link set eth2 down"], lab.hosts[1])
            sent, err = self.job(lab, "eth1,eth2")
        print(sent)
        self.assertIn("no domain eth2", err)
        self.assertGreater(sent["eth1", "rx"], 2 * BYTES)
        self.assertLess(sent["eth2", "rx"], BYTES / 8)

    def test_one_leads_nowhere(self):
        """Both hosts have it, but nothing comes through: the other carries all."""
        with Lab(hosts=2, rails=3, sshd=True) as lab:
            lab._ip([f"link set {lab.port(1, 2)} nomaster"])
            sent, _ = self.job(lab, "eth1,eth2")
        self.assertGreater(sent["eth1", "rx"], 2 * BYTES)


if __name__ == "__main__":
    confine()
    if not (build_folder() / "lib/tombolo/tombolo-net-ofi.so").exists():
        print("skipped: the conduit ofi is not built (no libfabric-dev)")
        sys.exit(SKIP)
    unittest.main(argv=[sys.argv[0]])
