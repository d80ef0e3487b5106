#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""OpenSHMEM in C++: names without types by overloading; they are those of C11, and those of
docs/SHMEM.md."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["TMB_BUILD"])
SOURCE = r"""
#include <shmem.h>
#include <cstdio>
#include <cstdint>
#include <vector>
static long word, words[4], sum, old_word;
static double real, reals[2];
static unsigned bits;
static std::uint64_t sig;
template <typename T> static bool ring(T *object, T value, int right) { // the type is a parameter
  shmem_p(object, value, right);
  shmem_barrier_all();
  return shmem_g(object, shmem_my_pe()) == value;
}
int main() {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n;
  int wrong = 0;
  wrong += !ring(&word, 5L, right) + !ring(&real, 0.5, right) + !ring(&bits, 7u, right);
  long two[2] = {1, 2};
  shmem_put(words, two, 2, right);
  shmem_put_signal(SHMEM_CTX_DEFAULT, words + 2, two, 2, &sig, 1, SHMEM_SIGNAL_ADD, right);
  shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
  wrong += words[3] != 2;
  shmem_wait_until_all(words, 2, NULL, SHMEM_CMP_GT, 0);
  shmem_wait_until(&words[1], SHMEM_CMP_EQ, 2);
  wrong += shmem_test_any(words, 4, NULL, SHMEM_CMP_EQ, 2) > 3;
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  shmem_atomic_add(ctx, &sum, 3, right);
  shmem_ctx_quiet(ctx);
  shmem_sync(SHMEM_TEAM_WORLD);
  wrong += shmem_atomic_fetch(&sum, me) != 3 || shmem_atomic_fetch_add(&sum, 1, me) != 3;
  wrong += shmem_atomic_compare_swap(&sum, 4, 9, me) != 4;
  shmem_atomic_or(&bits, 8u, me);
  wrong += bits != 15;
  shmem_signal_set(ctx, &sig, 9, me);
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
  wrong += shmem_max_reduce(SHMEM_TEAM_WORLD, reals + 1, reals, 1) != 0;
  wrong += shmem_sum_reduce(SHMEM_TEAM_WORLD, words, words + 1, 1) != 0 || words[0] != 2 * n;
  wrong += shmem_broadcast(SHMEM_TEAM_WORLD, words, words + 2, 1, 0) != 0;
  wrong += shmem_fadd(&old_word, 1, me) != 0 || shmem_swap(&old_word, 2, me) != 1;
  std::printf("%s\n", wrong ? "wrong" : "right");
  shmem_finalize();
  return wrong;
}
"""
UNFIT = """
#include <shmem.h>
struct pair { int a, b; };
static pair x;
void f() { shmem_put(&x, &x, 1, 0); }
"""
OWN = """
#define SHMEM_NO_OVERLOAD 1
#include <shmem.h>
template <typename T> void shmem_put(T *, const T *, size_t, int) {}
static int x;
void f() { shmem_put(&x, &x, 1, 0); }
"""


def compiled(folder, name, text, *options):
    """Whether oshc++ takes it."""
    (folder / f"{name}.cc").write_text(text)
    done = subprocess.run([str(BUILD / "bin/oshc++"), "-Wall", "-Wextra", "-Werror", *options,
                           f"{name}.cc", "-o", name], cwd=folder, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode == 0, done.stderr


def check_programs(folder):
    taken, why = compiled(folder, "names", SOURCE, "-std=c++11", "-O2")
    if not taken:
        sys.exit(f"cxx: names: {why}")
    for settings in {}, {"TOMBOLO_CONDUIT": "loop", "TOMBOLO_PLACES": "cyclic:2"}:
        done = subprocess.run([str(BUILD / "bin/oshrun"), "-np", "3", "./names"], cwd=folder,
                              env=dict(os.environ, **settings), capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode or done.stdout.count("right") != 3:
            sys.exit(f"cxx: {settings}: {done.returncode}\n{done.stdout}{done.stderr}")
    if compiled(folder, "unfit", UNFIT, "-c")[0]:
        sys.exit("cxx: a type without routines is taken")
    taken, why = compiled(folder, "own", OWN, "-c")
    if not taken:
        sys.exit(f"cxx: names of the program's own: {why}")


def documented():
    """Names of the table in docs/SHMEM.md."""
    text = (ROOT / "docs/SHMEM.md").read_text()
    section = text.split("## Names without types")[1].split("\n## ")[0]
    rows = (line.split("|")[1] for line in section.splitlines() if line.startswith("| "))
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def check_names():
    include = BUILD / "include/tombolo-shmem/shmem"
    text = (include / "generic.h").read_text()
    c11 = set(re.findall(r"^#define shmem_(\w+)\(\.\.\.\)", text, re.M))
    text = (include / "overload.h").read_text()
    text = re.sub(r"\s*\\\n\s*", " ", text)
    each = re.findall(r"SHMEM_EACH_\d_\((SHMEM_\w+_), N, T, ([\w, ]+)\)", text)
    each += re.findall(r" (SHMEM_(?:BY_\w+|BOTH)_)\(([a-z]\w*), N,", text)
    cxx = {name for _, names in each for name in names.split(", ")}
    both = ", ".join(names for by, names in each if by == "SHMEM_BOTH_")
    cxx |= {f"{name}_nbi" for name in both.split(", ")}
    cxx |= set(re.findall(r"^inline \w+ shmem_(\w+)\(", text, re.M))
    plain = {re.sub("_(nbi|vector)$", "", name) for name in c11}
    missing = plain - documented()
    if cxx != c11 or missing:
        sys.exit(f"cxx: only in C11: {c11 - cxx}; only in C++: {cxx - c11}; "
                 f"not in docs/SHMEM.md: {missing}")


def main():
    check_names()
    with tempfile.TemporaryDirectory() as folder:
        check_programs(Path(folder))
    print("cxx: passed")


main()
