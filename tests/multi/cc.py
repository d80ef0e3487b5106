#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""`tombolo cc` and `tombolo c++`: thread modes, debug checks, what is shown, where it stops, what
is refused. The build tree is used as it is; tests/install has the installation."""

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
  gex_Client_t client; gex_EP_t ep; gex_TM_t tm;
  gex_Client_Init(&client, &ep, &tm, "CC", &argc, &argv, 0);
#if defined(GASNET_SEQ)
  const char *mode = "SEQ";
#elif defined(GASNET_PARSYNC)
  const char *mode = "PARSYNC";
#else
  const char *mode = "PAR";
#endif
#ifdef GASNET_DEBUG
  const char *checks = "debug";
#else
  const char *checks = "fast";
#endif
  printf("%s %s %ld\\n", mode, checks, (long)sizeof 'x');
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  return 0;
}
"""


DESTROYS = """
#include <gasnet_ratomic.h>
int main(int argc, char **argv) {
  gex_Client_t client; gex_EP_t ep; gex_TM_t tm; gex_Segment_t made; gex_AD_t ad;
  gex_Client_Init(&client, &ep, &tm, "DESTROYS", &argc, &argv, 0);
  for (int i = 0; i < 20; i++) {
    if (gex_Segment_Create(&made, client, NULL, 70000, GEX_MK_HOST, 0)) return 2;
    gex_Segment_Destroy(made, 0);
    gex_AD_Create(&ad, tm, GEX_DT_I64, GEX_OP_FADD, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    gex_AD_Destroy(ad);
  }
  made = NULL, ad = NULL;
  return 0;
}
"""


def tombolo(*arguments, **env):
    return subprocess.run([os.path.abspath(TOMBOLO), *arguments], cwd=FOLDER.name, text=True,
                          capture_output=True, check=False, timeout=60, env={**os.environ, **env})


def write_program():
    for name in ("p.c", "p.cc"):
        with open(os.path.join(FOLDER.name, name), "w", encoding="ascii") as file:
            file.write(PROGRAM)
    with open(os.path.join(FOLDER.name, "chosen.c"), "w", encoding="ascii") as file:
        file.write("#define GASNET_PARSYNC 1\n" + PROGRAM)


def compiles():
    write_program()
    if "-fsanitize" in tombolo("info").stdout:
        return "a library with sanitizers needs their options"
    for command, options, words in (
            (("cc", "p.c"), (), "PAR fast 4"),
            (("cc", "p.c"), ("--seq", "--debug"), "SEQ debug 4"),
            (("c++", "p.cc"), ("--parsync", "-O1"), "PARSYNC fast 1"),
            (("cc", "p.c"), ("-DGASNET_SEQ=1",), "SEQ fast 4"),
            (("cc", "chosen.c"), (), "PARSYNC fast 4")):
        done = tombolo(*command, *options, "-o", "program")
        check(done.returncode == 0, command, options, done)
        done = tombolo("run", "-n", "2", "./program")
        check((done.returncode, done.stdout) == (0, f"{words}\n" * 2), words, done)
    return None


def leaks():
    """LeakSanitizer finds nothing of a debug client, whose dead handles the library keeps."""
    if "-fsanitize" in tombolo("info").stdout:
        return "a library with sanitizers needs their options"
    with open(os.path.join(FOLDER.name, "d.c"), "w", encoding="ascii") as file:
        file.write(DESTROYS)
    if tombolo("cc", "--debug", "-fsanitize=leak", "d.c", "-o", "destroys").returncode:
        return "this compiler has no LeakSanitizer"
    done = tombolo("run", "-n", "2", "./destroys")
    if "LeakSanitizer has encountered a fatal error" in done.stderr:
        return "LeakSanitizer may not look at threads here"
    check(done.returncode == 0, done)
    return None


def shows_and_stops():
    write_program()
    shown = tombolo("cc", "--show", "-O2", "p.c", "-o", "a b").stdout
    check(shown.startswith("cc -DGASNET_PAR=1 -DTOMBOLO_MODE_ASSUMED=1 -O2 p.c -o 'a b' -I/"),
          shown)
    done = tombolo("cc", "--par", "-fsyntax-only", "chosen.c")
    check(done.returncode and "Define exactly one" in done.stderr, "two modes", done)
    check(shown.rstrip().endswith("-ltombolo"), shown)
    check("-ltombolo" not in tombolo("cc", "--show", "-c", "p.c").stdout, "-c links")
    check(tombolo("c++", "--show", "p.cc", CXX="g++ -m64").stdout.startswith("g++ -m64 -DG"), "CXX")
    check(tombolo("cc", "--show", "p.c", TOMBOLO_CC="mycc").stdout.startswith("mycc "), "setting")
    shown = tombolo("c++", "--show", "p.cc", TOMBOLO_CXX="mine -x", CXX="g++").stdout
    check(shown.startswith("mine -x -D"), "setting", shown)
    itself = tombolo("cc", "--show", "p.c", CC="/usr/bin/tombolo cc").stdout
    check(itself.startswith("cc -D"), "this command as its compiler", itself)
    done = tombolo("cc", "p.c", "--compiler=no-such-cc")
    check(done.returncode == 127 and "cc: compiler 'no-such-cc' not found" in done.stderr, done)
    check(tombolo("cc").returncode == 2 and tombolo("cc", "--help").returncode == 0, "usage")


if __name__ == "__main__":
    run_cases([compiles, leaks, shows_and_stops])
