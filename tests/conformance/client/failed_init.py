#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Clients that do not look at what gex_Client_Init returns, and clients that do.

Generates a program from tests/data/prototypes.txt and the headers of the extensions: it calls every
function of the API, inline ones included, right after an initialisation that fails, each in a
process of its own. A call that needs the job ends the process with exit code 1, and the reason of
the failure is the only message. Calls that are of use to a client that has seen the error return.
The program examples/neighbour.c, which does not look, and one that looks are tried with a failure
before and after the ranks exist.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("TMB_BUILD", ROOT / "build"))
LIBRARY = BUILD / "lib" / "libtombolo.so"
sys.path.insert(0, str(ROOT / "scripts"))
from check_prototypes import HEADERS, PROTOTYPE, expand, parameter  # noqa: E402

# Calls that work without a job, or have nothing to do where there is no event and no operation.
RETURN = re.compile(
    r"gasnet_Error(Name|Desc)|gex_System_([GS]etVerboseErrors|QueryMaxThreads|QueryHidden\w+)"
    r"|gex_AM_MaxArgs|gasnet_AMMax\w+|gex_AM_LUB\w+|gasnet_(hold|resume)_interrupts"
    r"|(gex_HSL|gasnet_hsl)_\w+|gex_Event_(Test|Wait)|gasnet_(wait_syncnb|try_syncnb_nopoll)"
    r"|gasnet_coll_(wait_sync|(get|set|load|dump)\w+)|gasnet_set_waitmode"
    r"|gexx_Signal_Reset|gexx_Job_QueryFailurePolicy|gexx_Coll_Free"
    r"|gexx_Lost_QueryDropped|gexx_Notify_QueryStats|gexx_Stats_\w+|gexx_Trace_\w+"
    r"|gexx_WaitInfo_(Begin|End)|gexx_Client_Count"
)
# These are tried apart; the objects come from calls that have ended the process.
NOT_CALLED = re.compile(r"gasnet_exit|gex_Client_Init|gexx_Client_Join|gasnet_init")
NEEDS = re.compile(r"(gex_Token|gasnet_token|gex_AM_SrcDesc|gasnet_valget_handle)_t|gex_AD_t ad")
ARGUMENTS = {
    "gex_TM_t": "tm",
    "gex_Client_t": "client",
    "gex_EP_t": "ep",
    "gex_DT_t": "GEX_DT_I32",
    "gex_OP_t": "GEX_OP_ADD",
    "gex_Event_t *": "GEX_EVENT_NOW",
}
REASON = "GASNET_SMP_SPAWNER=rsh is not available"
RETURNED = 42
PROGRAM = """
#include <gasnetex_ext.h>
#include <unistd.h>
#include <sys/wait.h>
static gex_Client_t client; static gex_EP_t ep; static gex_TM_t tm;
static char room[1 << 16] __attribute__((aligned(64)));
#define BUF ((void *)room)
CALLS
static const struct { const char *name; void (*call)(void); } cases[] = { ROWS };
int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    printf("case %s\\n", cases[i].name);
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
      dup2(1, 2);
      if (gex_Client_Init(&client, &ep, &tm, "FAILED", &argc, &argv, 0) == GASNET_OK) _exit(3);
      cases[i].call();
      _exit(42);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("ended %d\\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fflush(stdout);
  }
  return 0;
}
"""
CHECKING = """
#define GASNET_PAR 1
#include <gasnet.h>
int main(int argc, char **argv) {
  const int rc = gasnet_init(&argc, &argv);
  if (rc == GASNET_OK) return 3;
  gex_System_SetVerboseErrors(0);
  printf("no job: %s (%s)\\n", gasnet_ErrorName(rc), gasnet_ErrorDesc(rc));
  if (gasnet_init(&argc, &argv) == GASNET_OK) return 4;
  if (argc > 1) gasnet_exit(7);
  return 7;
}
"""
failures = []


def expect(passed, what, output=""):
    """Counts one check."""
    if not passed:
        failures.append(what)
        print(f"FAILED: {what}\n{output[-2000:]}")


def prototypes():
    """(name, parameters) of every function that can be called with made-up arguments."""
    rows = (ROOT / "tests" / "data" / "prototypes.txt").read_text().split("\n")
    for row in rows:
        match = None if row.startswith(("#", "typedef")) or " = " in row else PROTOTYPE.match(row)
        if match:
            for name in expand(match.group(2)):
                yield name, match.group(3)
    extension = r"GEXX_(?:API|INLINE)\s[\w\s*]*?\b(gexx_[A-Z]\w*)\(((?:[^()]|\([^()]*\))*)\)"
    for path in sorted((ROOT / "include" / "tombolo").rglob("*.h")):
        yield from re.findall(extension, path.read_text())


def argument(text):
    """What to pass for a parameter."""
    if text.endswith(" dt_sz"):
        return "4"
    if "(*" in text:  # a function
        return "NULL"
    declared, name = parameter(" ".join(text.split()), 0)
    kind = declared.removesuffix("[]").removesuffix(name).strip()
    pointer = "*" in kind or declared.endswith("[]")
    return ARGUMENTS.get(kind, "BUF" if pointer else f"({kind}){{0}}")


def generate():
    """(source, names): a program with one case for each function."""
    calls, names = [], []
    for name, parameters in prototypes():
        plain = name.replace("[M]", "")
        wanted = plain.startswith(("gex_", "gasnet_", "gasnetc_", "gexx_"))
        if not wanted or NOT_CALLED.fullmatch(plain) or NEEDS.search(parameters):
            continue
        texts = [] if parameters in ("", "void") else parameters.split(",")
        passed = [argument(text) for text in texts]
        if "[M]" in name and name.startswith("gasnet_"):
            passed.append("0")
        calls.append(f"static void f{len(names)}(void) {{ (void){plain}({', '.join(passed)}); }}")
        names.append(plain)
    rows = ", ".join(f'{{"{name}", f{i}}}' for i, name in enumerate(names))
    head = "".join(f"#include <{header}>\n" for header in HEADERS)
    return head + PROGRAM.replace("CALLS", "\n".join(calls)).replace("ROWS", rows), names


def build(source, program, *options):
    """Compiles one C source."""
    command = [os.environ.get("TMB_CC", "cc"), "-w", *options, f"-I{ROOT / 'include'}"]
    command += ["-x", "c", "-", "-x", "none", str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"]
    command += ["-lpthread", "-o", str(program)]
    done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
    expect(done.returncode == 0, f"{program.name} compiles", done.stderr.decode())
    return done.returncode == 0


def run(program, *arguments, **settings):
    """(exit code, output) of a program without a launcher."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GASNET_", "TOMBOLO_"))}
    env.update({"GASNET_PSHM_NODES": "2", "GASNET_BACKTRACE": "0"}, **settings)
    done = subprocess.run(
        [program, *arguments],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=100,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def check_calls(folder):
    """Every function, called after a failed initialisation."""
    source, names = generate()
    program = folder / "calls"
    if not build(source, program, "-DGASNET_SEQ=1", "-O1"):
        return 0
    code, output = run(program, GASNET_SMP_SPAWNER="rsh")
    expect(code == 0, "the program runs to its end", output)
    ends = re.findall(r"^case (\w+)\n(.*?)^ended (\d+)$", output, re.M | re.S)
    expect([end[0] for end in ends] == names, "each case is tried", output)
    for name, said, code in ends:
        returns = bool(RETURN.fullmatch(name))
        good = int(code) == (RETURNED if returns else 1)
        expect(good, f"{name}: the process ended with code {code}", said)
        lines = said.strip().split("\n")
        expect(len(lines) == 1 and REASON in said, f"{name}: one message, the reason", said)
    return len(names)


def check_programs(folder):
    """The program neighbour.c and a client that looks at the error, in two kinds of failure."""
    source = (ROOT / "examples/neighbour.c").read_text()
    ignoring, looking = folder / "neighbour", folder / "looking"
    if not (build(source, ignoring, "-DGASNET_PAR=1") and build(CHECKING, looking)):
        return
    before = {"GASNET_SMP_SPAWNER": "rsh"}
    after = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp", "TOMBOLO_NET_PLUGIN": "/no/such.so"}
    for settings, ranks, reason in (before, 1, REASON), (after, 2, "/no/such.so cannot be loaded"):
        code, output = run(ignoring, **settings)
        lines = output.strip().split("\n")
        expect(code == 1, f"{reason}: exit code {code} of a client that does not look", output)
        expect(len(lines) == 1 and reason in output, f"{reason}: one message", output)
        for arguments in ([], ["exit"]):
            code, output = run(looking, *arguments, **settings)
            expect(code == 7, f"{reason}: exit code {code} of a client that looks", output)
            said = output.count("no job: GASNET_ERR_RESOURCE (")
            expect(1 <= said <= ranks, f"{reason}: the client's own message", output)
            expect(output.count(reason) == 1, f"{reason}: said once", output)


def main():
    with tempfile.TemporaryDirectory() as work:
        cases = check_calls(Path(work))
        check_programs(Path(work))
    print(f"failed_init: {cases} functions, {len(failures)} failures")
    return 1 if failures or cases < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
