#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Settings that no other test sets: each has the effect that docs/SETTINGS.md names."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, check, run_cases  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
PROGRAM = """
#include <gasnetex.h>
#include <stdio.h>
int main(int argc, char **argv) {
  gex_Client_t client; gex_EP_t ep; gex_TM_t tm, left;
  gex_Client_Init(&client, &ep, &tm, "SETTINGS", &argc, &argv, 0);
  printf("%zu\\n", gex_TM_Split(&left, tm, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED));
  gex_TM_Split(&left, tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  return 0;
}
"""


def path_of(name, text, mode=0o644):
    path = os.path.join(FOLDER.name, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def tombolo(*arguments, **env):
    return subprocess.run([os.path.abspath(TOMBOLO), *arguments], cwd=FOLDER.name, text=True,
                          capture_output=True, check=False, timeout=60, env={**os.environ, **env})


def compiled():
    path_of("p.c", PROGRAM)
    return tombolo("cc", "p.c", "-o", "program").returncode == 0


def scratch_size():
    if "-fsanitize" in tombolo("info").stdout:
        return "a library with sanitizers needs their options"
    check(compiled(), "the program is not compiled")
    for settings, want in (({}, 2 << 20), ({"GASNET_COLL_SCRATCH_SIZE": "100KB"}, 100 << 10),
                           ({"GASNET_COLL_SCRATCH_SIZE": "1"}, 4096),
                           ({"GASNET_COLL_SCRATCH_SIZE": "3MB"}, 3 << 20)):
        done = tombolo("run", "-n", "2", "./program", **settings)
        check((done.returncode, done.stdout) == (0, f"{want}\n" * 2), settings, done)
    return None


def exit_code_of_findings():
    """The program leaves a team."""
    if "-fsanitize" in tombolo("info").stdout or not compiled():
        return "a library with sanitizers needs their options"
    for code in (0, 5, 255):
        done = tombolo("run", "-n", "2", "--check=leaks", "./program",
                       TOMBOLO_CHECK_EXIT=str(code))
        check(done.returncode == code and ": team, made by gex_TM_Split" in done.stderr, code, done)
    return None


def hosts_and_ssh():
    shell = path_of("shell", '#!/bin/sh\necho "asked: $1 $2 $3 $4 $5" >&2\nexit 1\n', 0o755)
    hosts = path_of("hosts", "one:2  # a comment\n\ntwo\n")
    for settings, said in (({"TOMBOLO_SSH_OPTIONS": "-p 22 -x"}, "asked: -p 22 -x two exec"),
                           ({"GASNET_SSH_OPTIONS": "-q"}, "asked: -q two exec"),
                           ({"TOMBOLO_SSH_REMOTE_PATH": "/far/bin"},
                            "asked: two exec '/far/bin/tombolo' run --agent")):
        done = tombolo("run", "-n", "3", "true", TOMBOLO_HOSTFILE=hosts, TOMBOLO_SSH=shell,
                       **settings)
        check(done.returncode == 1 and said in done.stderr, settings, done)


if __name__ == "__main__":
    run_cases([scratch_size, exit_code_of_findings, hosts_and_ssh])
