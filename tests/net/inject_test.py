#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 400
"""Somebody on the path copies packets, changes them and sends them: what arrives is right.

Nothing is dropped. Each changed copy has a right checksum and arrives before its original, which is
the best that such a listener can do (setting `forge` of wire/wire.c). `--whole`: as many through
connections as in datagrams. The ranks are pretended hosts, each in the network of a host of the
lab, so that no sshd is needed.
"""

import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import FOLDER, Lab, build_folder, confine  # noqa: E402

WHOLE = "--whole" in sys.argv
PACKETS = 20000
STREAM_PACKETS = PACKETS if WHOLE else 300
HEAVY_PACKETS = 2000
SECONDS = 600 if WHOLE else 50  # after which fewer packets suffice: a slow machine tries less
FEWEST = 1 if WHOLE else 0.1  # the part of them that has to be sent at least
# A rank enters the network of its host: its number is the second one of TOMBOLO_BOOT.
ENTER = """rank=${{TOMBOLO_BOOT#*:}}; [ ${{rank%%:*}} = 0 ] && host={0} || host={1}
exec nsenter -t $host -n "$@" """
SODIUM = [path for folder in ("/lib", "/usr/lib", "/usr/lib64", "/usr/local/lib")
          for path in Path(folder).glob("**/libsodium.so.*")]


class Result:
    """What a run brought: packets sent by the listener, bytes that arrived wrong, and in all."""

    def __init__(self, injected, output):
        self.injected = injected
        rows = re.findall(r"rank \d: (\d+) of (\d+) bytes wrong", output)
        self.ranks = len(rows)
        self.wrong = sum(int(row[0]) for row in rows)
        self.bytes = sum(int(row[1]) for row in rows)


def inject(packets, share, **settings):
    """Runs the program until so many packets have been sent in addition."""
    stop = FOLDER / "stop"
    with Lab(hosts=2, wire=["seed=3", f"forge={share}"]) as lab:
        stop.unlink(missing_ok=True)
        script = ENTER.format(*[host.pid for host in lab.hosts])
        environment = {**os.environ, "TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "udp"}
        environment.update(settings)
        command = [build_folder() / "bin/tombolo", "run", "-n", "2", "sh", "-c", script, "sh",
                   build_folder() / "tests/net/inject", stop]
        with subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as job:
            deadline = time.monotonic() + SECONDS
            while lab.wire.counts()["forged"] < packets and job.poll() is None:
                if time.monotonic() > deadline:
                    break
                time.sleep(0.02)
            stop.touch()
            output = job.communicate(timeout=60)[0]
        return Result(lab.wire.counts()["forged"], output), job.returncode, output


class Inject(unittest.TestCase):
    """Each mode of TOMBOLO_UDP_AUTH, by datagrams and by connections."""

    def check(self, packets, share, auth, stream):
        """Runs it. Returns the result of a job that went well."""
        settings = {"TOMBOLO_UDP_STREAM": stream}
        if auth:
            settings["TOMBOLO_UDP_AUTH"] = auth
        result, code, output = inject(packets, share, **settings)
        print(f"auth {auth or 'as it is'}, stream {stream}: {result.injected} packets injected, "
              f"{result.wrong} of {result.bytes} bytes wrong", flush=True)
        self.assertEqual((code, result.ranks), (0, 2), output)
        self.assertGreaterEqual(result.injected, FEWEST * packets)
        self.assertGreater(result.bytes, packets)
        return result

    def check_right(self, packets, share, stream):
        """Nothing is wrong by default and with encryption."""
        for auth in (None, "encrypt") if SODIUM else (None,):
            with self.subTest(auth=auth, stream=stream):
                self.assertEqual(self.check(packets, share, auth, stream).wrong, 0)

    def test_datagrams(self):
        self.check_right(PACKETS, "50%", "0")

    def test_connections(self):
        self.check_right(STREAM_PACKETS, "0.5%", "1")

    def test_both(self):
        """Long transfers take connections, as they do by default."""
        self.check_right(STREAM_PACKETS, "0.5%", "auto")

    @unittest.skipUnless(WHOLE, "only with --whole")
    def test_heavy(self):
        """No long packet gets through a connection whole: the job goes on all the same."""
        for share in ("20%", "50%"):
            self.check_right(HEAVY_PACKETS, share, "auto")
        self.check_right(HEAVY_PACKETS // 20, "20%", "1")
        self.check_right(HEAVY_PACKETS // 20, "50%", "1")

    def test_header(self):
        """What is not guarded is changed: so the listener is as good as it has to be."""
        self.assertGreater(self.check(1000, "50%", "header", "0").wrong, 0)


if __name__ == "__main__":
    confine()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    unittest.main(argv=[word for word in sys.argv if word != "--whole"], verbosity=2)
