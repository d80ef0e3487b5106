#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# rails.py: puts of the conduit ofi over one and over two interfaces of each host.
#
# Two hosts of a lab (tests/net/lab.py; needs root), whose interfaces have a rate (the kernel's
# token bucket); eth0 is for the launcher. Puts of 1 MiB over eth1, and over eth1 and eth2, in
# alternation, on the provider tcp;ofi_rxm. Medians over the rounds; target: two carry at least 1.8
# times as much. Packets are long, because both hosts and their links take the time of this
# machine's processors.
#   bench/compare/rails.py [--build build] [--rate 1gbit] [--mtu 9000] [--rounds 5]
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import HERE, ROOT

sys.path.insert(0, str(ROOT / "tests" / "net"))
from lab import Lab, confine  # noqa: E402

ROW = re.compile(r"^put (\d+) ([\d.]+)$", re.M)
LEAST = 1.8
WAYS = ("eth1", "eth1,eth2")


def one_run(lab, build, program, rails):
    """MB/s of a stream of puts."""
    command = lab.hosts[0].command([str(word) for word in (
        build / "bin/tombolo", "run", "--hosts", "host0:1,host1:1", program, "puts")])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "HOME": str(lab.ssh.accounts["root"][1]),
                               "TOMBOLO_CONDUIT": "ofi", "TOMBOLO_OFI_PROVIDER": "tcp;ofi_rxm",
                               "TOMBOLO_OFI_INTERFACES": rails})
    found = ROW.search(done.stdout)
    if not found:
        sys.exit(f"{rails}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return int(found[1]) / float(found[2])


def main():
    parser = argparse.ArgumentParser(description="Puts of the conduit ofi over one and two rails.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--rate", default="1gbit", help="of each interface")
    parser.add_argument("--mtu", type=int, default=9000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    build = options.build.resolve()
    rates = {way: [] for way in WAYS}
    confine()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "net-gex"
        subprocess.run([str(word) for word in (
            "cc", "-O2", HERE / "net_gex.c", "-o", program, f"-I{ROOT}/include",
            f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-ltombolo")], check=True)
        with Lab(hosts=2, rails=3, rate=options.rate, mtu=options.mtu, sshd=True) as lab:
            for _ in range(options.rounds):
                for way in WAYS:
                    rates[way].append(one_run(lab, build, program, way))
    one, two = (statistics.median(rates[way]) for way in WAYS)
    print(f"{options.rate}: one {one:.1f} MB/s, two {two:.1f} MB/s, ratio {two / one:.2f}"
          f"  >= {LEAST} {'ok' if two / one >= LEAST else 'UNDER'}")
    for way in WAYS:
        print(f"  {way}: {' '.join(f'{rate:.1f}' for rate in rates[way])}")
    return 0 if two / one >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
