#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""The first outputs of a new user, word for word: refusals, a crash, an early end, a hang, a pipe.

first_outputs.txt has each command with its output and exit code. Numbers, folders and the host may
differ; equal lines of several ranks count once. `first_outputs.py --write` renews that file.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "first_outputs.txt"
EXAMPLES = HERE.parent.parent / "examples"
BUILD = Path(os.environ.get("TMB_BUILD", "build")).resolve()
TOMBOLO = str(Path(os.environ.get("TOMBOLO", BUILD / "bin/tombolo")).resolve())
PROGRAM = """#include <gasnet_coll.h>
#include <string.h>
#include <unistd.h>
static int deep(volatile int *nowhere) {
  return *nowhere;
}
int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Client_Init(&client, &ep, &team, "FIRST", &argc, &argv, 0);
  const char *how = argc > 1 ? argv[1] : "end";
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (!strcmp(how, "crash")) return deep(0);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "code") && gex_TM_QueryRank(team) == 1) gasnet_exit(3);
  if (!strcmp(how, "early") && gex_TM_QueryRank(team) == 0) return usleep(300000);
  while (!strcmp(how, "talk")) puts("a line");
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
"""
COMMANDS = (
    "tombolo",
    "tombolo rum",
    "tombolo run",
    "tombolo run -np 2 ./nothing",
    "tombolo run -np 2 nothing",
    "tombolo run -np 2 ./program.c",
    "tombolo run -np 0 ./program",
    "tombolo run -np 100000 ./program",
    "tombolo run -np two ./program",
    "tombolo run --nosuch ./program",
    "tombolo run --watchdgo=3 ./program",
    "tombolo run -np 4 ./program crash",
    "tombolo run -np 2 ./program abort",
    "tombolo run -np 4 ./program code",
    "tombolo run -np 4 ./program early",
    "tombolo run -np 2 ./program talk | head -1",
    "tombolo run -np 2 yes | head -1",
    "tombolo run -np 4 --watchdog 2 ./hang forget",
    "tombolo run -np 2 --stats ./program",
    "tombolo explain",
    "tombolo explain TMB-0001",
    "tombolo explain TMB-9999",
    "tombolo cc",
)
WHY = "tombolo why"  # of a job that hangs


def squeezed(text, folder):
    """Text without what may differ."""
    text = text.replace(str(folder), "DIR").replace(os.uname().nodename, "HOST")
    text = re.sub(r"PATH \(.*?\)", "PATH (...)", text)
    text = re.sub(r"0x[0-9a-f]+|\d+(?:\.\d+)?", "0", text)
    text = re.sub(r"; ending the other (0 ranks|rank)", "", text)  # they may have ended by then
    text = re.sub(r"\branks? 0(-0)? failed in", "ranks 0 failed in", text)
    text = re.sub(r"\b0 [kMG]?B\b", "0 B", text)
    text = re.sub(r"\n  \.\.\. and the 0 after it\b", "", text)  # they may not be there yet
    lines = [" ".join(line.split()) if "  0" in line else line for line in text.splitlines()]
    return list(dict.fromkeys(line for line in lines if line))


def run(command, folder):
    """Lines of one command."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    env.update(PATH=f"{folder}/bin:{env['PATH']}", LC_ALL="C", COLUMNS="80")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, env=env, timeout=40,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    lines = squeezed(done.stdout, folder)
    if "|" in command:
        lines.sort()  # the other program writes when it likes
    return [f"$ {command}", *lines, f"[code {done.returncode}]", ""]


def ask_why(folder):
    """Lines of `tombolo why` of a job that hangs."""
    job = subprocess.Popen(  # ended below
        [TOMBOLO, "run", "-np", "4", "./hang", "forget"], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            time.sleep(0.1)
            lines = run(f"{WHY} {job.pid}", folder)
            if "[code 3]" in lines:
                return [f"$ {WHY} JOB", *lines[1:]]
        return lines
    finally:
        job.terminate()
        job.wait()


def prepare(folder):
    """The programs, and a folder with the command alone."""
    (folder / "bin").mkdir()
    (folder / "bin/tombolo").symlink_to(TOMBOLO)
    (folder / "program.c").write_text(PROGRAM)
    shutil.copy(EXAMPLES / "hang.c", folder)
    for name in ("program", "hang"):
        subprocess.run([TOMBOLO, "cc", "-g", f"{name}.c", "-o", name], cwd=folder, check=True)


def main():
    about = subprocess.run([TOMBOLO, "info"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if "-fsanitize" in about:
        print("skipped: a sanitizer has its own words for a crash")
        return 77
    if not shutil.which("addr2line") and not shutil.which("eu-addr2line"):
        print("skipped: without addr2line a crash has no lines")
        return 77
    with tempfile.TemporaryDirectory(prefix="tombolo-first-") as place:
        folder = Path(place).resolve()
        prepare(folder)
        lines = [line for command in COMMANDS for line in run(command, folder)]
        lines += ask_why(folder)
    if "--write" in sys.argv:
        GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    wanted = GOLDEN.read_text(encoding="utf-8").splitlines()
    if not (shutil.which("gdb") or shutil.which("eu-stack")):  # they say where a rank is
        wanted = [line for line in wanted if not line.startswith("rank 0 is in ")]
    found = list(difflib.unified_diff(wanted, lines, str(GOLDEN), "now", lineterm=""))
    print("\n".join(found) or f"{len(COMMANDS) + 1} commands")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
