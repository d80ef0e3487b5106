#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""Parts of different versions refuse each other by name: launcher and program, library and plug-in.
(Launcher and agent: hosts.py.) Versions are faked: an invitation, a control block, a plug-in."""

import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import VICTIM, Job, check, run_cases  # noqa: E402

PLUGINS = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/plugin")
OLD, ASKS = os.path.join(PLUGINS, "net_old.so"), os.path.join(PLUGINS, "net_asks.so")
MAGIC = 0x746F6D626F6C0100  # the last byte names the layout, the one before the release


def invited(text, **popen):
    """Runs the program as a rank that has this invitation. Returns what it writes to stderr."""
    done = subprocess.run([VICTIM], env={**os.environ, "TOMBOLO_BOOT": text}, timeout=30,
                          capture_output=True, text=True, check=False, **popen)
    check(done.returncode not in (0, 134, 139), done)
    return done.stderr


def invitation():
    """The launcher's text has another form."""
    for text in ("1:0:1:77:3:4:5", "3:0:1:77:1:3:4:5", "3:0:1:and more"):
        err = invited(text)
        check(f'"{text}" was not set by this version of' in err, err)


def control_block():
    """The text is the same, the shared memory is not, by its release, its mark or its length."""
    for layout, length in ((0x144, 1 << 20), (0x41, 1 << 20), (0x44, 4096), (0x7A, 64)):
        block = os.memfd_create("tombolo-ctl", 0)
        os.write(block, struct.pack("=QQ", MAGIC + layout, 0x77))
        os.ftruncate(block, length)
        text = f"2:0:1:77:{os.getpid()}:{block}:{block}:{block}"
        err = invited(text, pass_fds=(block,))
        check("the launcher is of another version of the library" in err, hex(layout), length, err)
        os.close(block)


def plugin():
    """A conduit that was built for another version of the interface."""
    env = {"TOMBOLO_CONDUIT": "udp", "TOMBOLO_NET_PLUGIN": OLD, "TOMBOLO_PLACES": "2"}
    job = Job(2, [VICTIM], env=env)
    check(job.end() not in (0, 134, 139), job.err)
    check(re.search(r"the conduit udp was built for another version of the library \(interface "
                    r"\d+, this one has \d+\); install the two of one version", job.err), job.err)


def plugin_settings():
    """A conduit that asks for a setting of another version: the interface is the same."""
    env = {"TOMBOLO_CONDUIT": "udp", "TOMBOLO_NET_PLUGIN": ASKS, "TOMBOLO_PLACES": "2"}
    job = Job(2, [VICTIM], env=env)
    check(job.end() not in (0, 134, 139), job.err)
    check(re.search(r"was built for another version of the library: it asks for setting "
                    r"TOMBOLO_UDP_BYGONE, which this one \(\d+\.\d+\.\d+\) does not have", job.err),
          job.err)


if __name__ == "__main__":
    run_cases([invitation, control_block, plugin, plugin_settings])
