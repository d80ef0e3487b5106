#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# rails.py: puts and messages over one to four links of each host, by size.
#
# Two hosts of a lab (tests/net/lab.py; needs root), whose interfaces have a rate (the kernel's
# token bucket); eth0 is for the launcher, the others are the links. One run for each conduit and
# number of links, in alternation. Packets are long, because both hosts and their links take the
# time of this machine's processors. Target: two links carry 1.8 times the puts of 4 MiB of one.
# JSON: rate: bytes/s of a link; records {panel, line, links, bytes, values: [bytes/s]}.
#   study/compare/rails.py [--build build] [--conduits udp,ofi] [--links 1,2,3,4] [--rate 1gbit]
#                          [--mtu 9000] [--rounds 5] [--json FILE]
import functools
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import Budget, compile_ours, parser_for
from compare import HERE, ROOT
from net import sweep

sys.path.insert(0, str(ROOT / "tests" / "net"))
from lab import Lab, confine  # noqa: E402

ROW = re.compile(r"^(put|message) (\d+) ([\d.]+)$", re.M)
UNITS = {"kbit": 1e3 / 8, "mbit": 1e6 / 8, "gbit": 1e9 / 8}
LEAST = 1.8
SETTINGS = {"udp": ("TOMBOLO_UDP_INTERFACES", {}),
            "ofi": ("TOMBOLO_OFI_INTERFACES", {"TOMBOLO_OFI_PROVIDER": "tcp;ofi_rxm"})}


def bytes_a_second(rate):
    """Bytes a second of a rate as tc writes it, "1gbit"."""
    number, unit = re.fullmatch(r"([\d.]+)([kmg]bit)", rate).groups()
    return float(number) * UNITS[unit]


def environment_of(lab, conduit, links):
    """Settings that make a job use this number of links of each host."""
    name, others = SETTINGS[conduit]
    return {"HOME": str(lab.ssh.accounts["root"][1]), "TOMBOLO_CONDUIT": conduit, **others,
            name: ",".join(f"eth{n}" for n in range(1, links + 1))}


def measure(lab, options, program, budget):
    """{(conduit, links, operation, bytes): [bytes/s]}; saves after each run."""
    found = {}
    command = lab.hosts[0].command([str(word) for word in (
        options.build / "bin/tombolo", "run", "--hosts", "host0:1,host1:1", program, "links")])
    for _ in range(options.rounds):
        for conduit in options.conduits.split(","):
            for links in map(int, options.links.split(",")):
                who = f"{conduit}, {links} link{'s' * (links > 1)}"
                text, code = budget.run(who, command, environment_of(lab, conduit, links),
                                        errors=subprocess.STDOUT)
                if code:
                    print(f"{who}: {text[-1500:]}", file=sys.stderr)
                for what, size, us in ROW.findall(text):
                    rate = 1e6 * int(size) / float(us)
                    found.setdefault((conduit, links, what, int(size)), []).append(rate)
                budget.save({"rounds": options.rounds, "rate": bytes_a_second(options.rate),
                             "records": [{"panel": f"{c}: {w}", "line": f"{n} link{'s' * (n > 1)}",
                                          "links": n,
                                          "bytes": b, "values": v}
                                         for (c, n, w, b), v in found.items()]})
    return found


def show(found):
    """Prints medians in MB/s. Returns whether two links meet the target."""
    medians = {key: statistics.median(values) / 1e6 for key, values in found.items()}
    links = sorted({key[1] for key in medians})
    print(f"{'conduit':<8}{'':<9}{'bytes':>9}" + "".join(f"{f'{n} MB/s':>10}" for n in links))
    good = True
    for conduit, what, size in dict.fromkeys((c, w, b) for c, _, w, b in medians):
        row = [medians.get((conduit, n, what, size), 0) for n in links]
        print(f"{conduit:<8}{what:<9}{size:>9}" + "".join(f"{rate:>10.1f}" for rate in row))
        if (what, size) == ("put", 4 << 20) and links[:2] == [1, 2]:
            ratio = row[1] / row[0] if row[0] else 0
            good &= ratio >= LEAST
            print(f"  two over one {ratio:.2f}  >= {LEAST} {'ok' if ratio >= LEAST else 'UNDER'}")
    return good


def main():
    parser = parser_for("Puts and messages over one to four links.", 60)
    parser.add_argument("--conduits", default="udp,ofi", help="conduits to measure, by commas")
    parser.add_argument("--links", default="1,2,3,4", help="numbers of links")
    parser.add_argument("--rate", default="1gbit", help="rate of each link, as tc writes it")
    parser.add_argument("--mtu", type=int, default=9000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.build = options.build.resolve()
    confine()
    budget = Budget(options)
    with tempfile.TemporaryDirectory() as folder:
        program = compile_ours(options.build, HERE / "net_gex.c", Path(folder) / "net-gex")
        rails = 1 + max(map(int, options.links.split(",")))
        with Lab(hosts=2, rails=rails, rate=options.rate, mtu=options.mtu, sshd=True) as lab:
            budget.after_miss = functools.partial(sweep, lab)
            return 0 if show(measure(lab, options, program, budget)) else 1


if __name__ == "__main__":
    sys.exit(main())
