#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Thread modes of a tools client (API reference 09, section 1), in every language and compiler.

Compiles a source that uses the tools in each mode with the warnings as errors, checks which mode is
chosen when none is given, that contradictions are refused with a readable message, and that a
client in LITE mode links and runs.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("TMB_BUILD", ROOT / "build"))
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{ROOT / 'include'}"]
LANGUAGES = {"c": ["c99", "c11", "c17"], "c++": ["c++11", "c++17", "c++20"]}
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}

LITE = """
#include <gasnet_tools.h>
#include <gasnet_tools.h>
GASNETT_INLINE(twice) int twice(int x) { return 2 * x; }
int lite(void);
int lite(void) {
  gasnett_tick_t start = gasnett_ticks_now();
  gasnett_local_mb(); gasnett_local_wmb(); gasnett_local_rmb();
  gasnett_weak_mb(); gasnett_weak_wmb(); gasnett_weak_rmb();
  gasnett_compiler_fence(); gasnett_spinloop_hint();
  if_pf(gasnett_nsleep(1)) return 1;
  return gasnett_ticks_to_ns(gasnett_ticks_now() - start) == 0 ? twice(1) : 0;
}
"""
FULL = (
    LITE
    + """
GASNETT_THREADKEY_DEFINE(key);
static gasnett_atomic_t a = gasnett_atomic_init(1);
static gasnett_strongatomic64_t s = gasnett_strongatomic64_init(1);
static gasnett_mutex_t m = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t c = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t r = GASNETT_RWLOCK_INITIALIZER;
int full(void);
int full(void) {
  gasnett_atomic_increment(&a, GASNETT_ATOMIC_REL);
  gasnett_strongatomic64_set(&s, gasnett_strongatomic64_add(&s, 2, 0), GASNETT_ATOMIC_MB_POST);
  gasnett_mutex_lock(&m); gasnett_mutex_assertlocked(&m);
  gasnett_cond_signal(&c); gasnett_mutex_unlock(&m);
  gasnett_rwlock_rdlock(&r); gasnett_rwlock_unlock(&r);
  gasnett_threadkey_set(key, &a);
  if (gasnett_threadkey_get(key) != &a) gasnett_fatalerror("key %d", 1);
  GASNETT_TRACE_PRINTF("%d", 1);
  return gasnett_isdigit('1') + (int)gasnett_atomic_read(&a, GASNETT_ATOMIC_ACQ);
}
"""
)
MODES = {
    "GASNETT_THREAD_SAFE": (FULL, "PAR"),
    "GASNETT_THREAD_SINGLE": (FULL, "SEQ"),
    "GASNETT_LITE_MODE": (LITE, "LITE"),
    "GASNET_SEQ": (FULL, "SEQ"),
    "GASNET_PARSYNC": (FULL, "SEQ"),
    "GASNET_PAR": (FULL, "PAR"),
}
EXTRAS = [[], ["-DGASNET_DEBUG=1"], ["-DGASNET_DEBUGMALLOC=1", "-O2"]]
CHOICES = [
    ([], "", "SEQ"),
    (["-D_REENTRANT"], "", "PAR"),
    (["-D_THREAD_SAFE"], "", "PAR"),
    ([], "#include <pthread.h>\n", "PAR"),
    (["-DGASNETT_THREAD_SINGLE"], "#include <pthread.h>\n", "SEQ"),
]
CONFLICTS = [
    ["GASNETT_THREAD_SAFE", "GASNETT_THREAD_SINGLE"],
    ["GASNETT_THREAD_SAFE", "GASNETT_LITE_MODE"],
    ["GASNETT_THREAD_SAFE", "GASNET_SEQ"],
    ["GASNETT_THREAD_SAFE", "GASNET_PARSYNC"],
    ["GASNETT_THREAD_SINGLE", "GASNET_PAR"],
    ["GASNETT_LITE_MODE", "GASNET_SEQ"],
    ["GASNETT_THREAD_SAFE", "GASNETT_USE_TRUE_MUTEXES=0"],
]
failures = []


def compile_text(compiler, language, options, source):
    """Runs a compiler on a source text; returns (exit code, output)."""
    command = [compiler, "-x", language, *options, "-"]
    done = subprocess.run(
        command,
        input=source.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def expect(passed, what, output=""):
    """Counts one check."""
    if not passed:
        failures.append(what)
        print(f"FAILED: {what}\n{output[:2000]}")


def check_modes(number, compiler, language, standard):
    """Every mode compiles without a warning and says its name. Each pair of compiler with standard,
    mode and options is met; `make test-all` tries each combination."""
    for i, (mode, (source, model)), extra in (
        (i + e, modes, extra)
        for (i, modes), (e, extra) in itertools.product(enumerate(MODES.items()), enumerate(EXTRAS))
    ):
        if (i + number) % len(EXTRAS) and not os.environ.get("TMB_TEST_WHOLE"):
            continue
        probe = "#define SAME(a, b) SAME_(a, b)\n#define SAME_(a, b) int a##_is_##b;\n"
        probe += f"SAME({model}, GASNETT_THREAD_MODEL)\nint use(void);\n"
        probe += f"int use(void) {{ return {model}_is_{model}; }}\n"
        options = [f"-std={standard}", *WARNINGS, f"-D{mode}=1", *extra, "-fsyntax-only"]
        code, output = compile_text(compiler, language, options, source + probe)
        expect(code == 0, f"{compiler} {' '.join(options)}", output)


def check_choices():
    """The mode that a client gets which names none."""
    for options, prefix, model in CHOICES:
        source = prefix + "#include <gasnet_tools.h>\nmodel=GASNETT_THREAD_MODEL\n"
        code, output = compile_text("cc", "c", [*WARNINGS, *options, "-E"], source)
        expect(code == 0 and f"model={model}\n" in output, f"{options} {prefix!r} gives {model}")


def check_conflicts():
    """Contradictions end with an #error that names one of the macros."""
    for names in CONFLICTS:
        options = [*WARNINGS, "-fsyntax-only"]
        options += [f"-D{name}" if "=" in name else f"-D{name}=1" for name in names]
        code, output = compile_text("cc", "c", options, "#include <gasnet_tools.h>\n")
        named = any(name.split("=")[0] in output for name in names)
        expect(code != 0 and "#error" in output and named, f"{names} are refused", output)


def check_lite_runs():
    """A LITE client needs the library and nothing else."""
    library = BUILD / "lib" / "libtombolo.so"
    if not library.exists():
        expect(False, f"{library} does not exist: set TMB_BUILD to the build tree")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "lite"
        options = [*WARNINGS, "-DGASNETT_LITE_MODE=1", "-o", str(program)]
        source = LITE + "int main(void) { return lite() != 0; }\n"
        compiler = os.environ.get("TMB_CC", "cc")
        command = [compiler, "-x", "c", *options, "-", "-x", "none", str(library)]
        command.append(f"-Wl,-rpath,{library.parent}")
        done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
        expect(done.returncode == 0, "a LITE client links", done.stderr.decode())
        if done.returncode == 0:
            expect(subprocess.run([program], check=False).returncode == 0, "a LITE client runs")


def main():
    """Runs all checks."""
    ran = 0
    for language, standards in LANGUAGES.items():
        for compiler in filter(shutil.which, COMPILERS[language]):
            for standard in standards:
                check_modes(ran, compiler, language, standard)
                ran += 1
    check_choices()
    check_conflicts()
    check_lite_runs()
    print(f"tools_modes: {ran} languages and compilers, {len(failures)} failures")
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
