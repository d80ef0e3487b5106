#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""Puts and gets through tombolo::global_ptr, of 8 bytes and of a number of elements that is known
at run time only, have no more instructions than those in C. In a loop, constants that the compiler
loads from the stack again do not count: registers are assigned differently by each version.

Compiles the same functions against gasnetex.h and tombolo.hpp with -O2 and counts the instructions
that objdump finds. What a function does before and after its loop is not counted. Run alone, it
prints the counts: study/RESULTS.md has them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

RELOAD = re.compile(r"mov\s+[0-9a-fx]*\(%rsp\),%r")
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))

C_TEXT = """
#include <gasnetex.h>
gex_TM_t world;
void put8(uint64_t *addr, gex_Rank_t rank, uint64_t value) {
  gex_RMA_PutBlocking(world, rank, addr, &value, sizeof value, 0);
}
uint64_t get8(uint64_t *addr, gex_Rank_t rank) {
  uint64_t value;
  gex_RMA_GetBlocking(world, &value, rank, addr, sizeof value, 0);
  return value;
}
void put_n(uint64_t *addr, gex_Rank_t rank, uint64_t *from, size_t n) {
  gex_RMA_PutBlocking(world, rank, addr, from, n * sizeof *from, 0);
}
void get_n(uint64_t *addr, gex_Rank_t rank, uint64_t *to, size_t n) {
  gex_RMA_GetBlocking(world, to, rank, addr, n * sizeof *to, 0);
}
void put_loop(uint64_t *addr, gex_Rank_t rank, size_t n) {
  for (uint64_t i = 0; i < n; i++)
    gex_RMA_PutBlocking(world, rank, addr + i, &i, sizeof i, 0);
}
void put_n_loop(uint64_t *addr, gex_Rank_t rank, uint64_t *from, size_t n, size_t times) {
  for (size_t i = 0; i < times; i++)
    gex_RMA_PutBlocking(world, rank, addr + i, from + i, n * sizeof *from, 0);
}
void get_n_loop(uint64_t *addr, gex_Rank_t rank, uint64_t *to, size_t n, size_t times) {
  for (size_t i = 0; i < times; i++)
    gex_RMA_GetBlocking(world, to + i, rank, addr + i, n * sizeof *to, 0);
}
void future_loop(uint64_t *addr, gex_Rank_t rank, size_t n, uint64_t *from) {
  for (uint64_t i = 0; i < n; i++)
    gex_Event_Wait(gex_RMA_PutNB(world, rank, addr + i, from + i, sizeof i, GEX_EVENT_DEFER, 0));
}
"""

CXX_TEXT = """
#include <tombolo.hpp>
using place = tombolo::global_ptr<uint64_t>;
extern "C" void put8(uint64_t *addr, gex_Rank_t rank, uint64_t value) {
  put(place(rank, addr), value);
}
extern "C" uint64_t get8(uint64_t *addr, gex_Rank_t rank) { return get(place(rank, addr)); }
extern "C" void put_n(uint64_t *addr, gex_Rank_t rank, uint64_t *from, size_t n) {
  put(place(rank, addr), from, n);
}
extern "C" void get_n(uint64_t *addr, gex_Rank_t rank, uint64_t *to, size_t n) {
  get(place(rank, addr), to, n);
}
extern "C" void put_n_loop(uint64_t *addr, gex_Rank_t rank, uint64_t *from, size_t n,
                           size_t times) {
  const place p(rank, addr);
  for (size_t i = 0; i < times; i++) put(p + ptrdiff_t(i), from + i, n);
}
extern "C" void get_n_loop(uint64_t *addr, gex_Rank_t rank, uint64_t *to, size_t n, size_t times) {
  const place p(rank, addr);
  for (size_t i = 0; i < times; i++) get(p + ptrdiff_t(i), to + i, n);
}
extern "C" void put_loop(uint64_t *addr, gex_Rank_t rank, size_t n) {
  const place p(rank, addr);
  for (uint64_t i = 0; i < n; i++) put(p + ptrdiff_t(i), i);
}
extern "C" void future_loop(uint64_t *addr, gex_Rank_t rank, size_t n, uint64_t *from) {
  const place p(rank, addr);
  for (uint64_t i = 0; i < n; i++) rput(p + ptrdiff_t(i), from + i, 1).wait();
}
"""


def instructions(compiler, ending, text, folder):
    """(address, instruction) of each function of `text`, by its name, without padding."""
    source = os.path.join(folder, "cost" + ending)
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    std = ["-std=c++17"] if ending == ".cc" else []
    include = os.path.join(ROOT, "include")
    command = [compiler, *std, "-O2", "-DGASNET_SEQ=1", "-I", include, "-c", source]
    subprocess.run(command + ["-o", source + ".o"], check=True)
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", source + ".o"], check=True,
                             capture_output=True, text=True).stdout
    functions, name = {}, None
    for line in listing.splitlines():
        head = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
        step = re.match(r"\s+([0-9a-f]+):\s+(?!nop|data16|cs nop|xchg +%ax,%ax)(\S.*)", line)
        if head:
            name = head.group(1)
            functions[name] = []
        elif name and step:
            functions[name].append((int(step.group(1), 16), step.group(2)))
    return functions


def round_of(function):
    """Instructions of one round of the loop for mapped memory, and those of them that only load
    from the stack: the shortest way from where a conditional jump back leads, to it."""
    rounds = []
    for address, step in function:
        jump = re.match(r"j(?!mp)\w+\s+([0-9a-f]+)", step)
        if jump and int(jump.group(1), 16) < address:
            steps = [s for at, s in function if int(jump.group(1), 16) <= at <= address]
            rounds.append((len(steps), sum(bool(RELOAD.match(s)) for s in steps)))
    return min(rounds)


def counts(compiler, ending, text):
    """Instructions of puts and gets, and of a round of the loops of them; and reloads in these."""
    with tempfile.TemporaryDirectory() as folder:
        found = instructions(compiler, ending, text, folder)
    return {"put": (len(found["put8"]), 0), "get": (len(found["get8"]), 0),
            "put of n": (len(found["put_n"]), 0), "get of n": (len(found["get_n"]), 0),
            "round of a loop of puts of n": round_of(found["put_n_loop"]),
            "round of a loop of gets of n": round_of(found["get_n_loop"]),
            "round of a loop of puts": round_of(found["put_loop"]),
            "round of a loop of puts with futures": round_of(found["future_loop"])}


def main():
    c_compiler, cxx_compiler = os.environ.get("CC", "gcc"), os.environ.get("CXX", "g++")
    for tool in (c_compiler, cxx_compiler, "objdump"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            return 77
    in_c, in_cxx = counts(c_compiler, ".c", C_TEXT), counts(cxx_compiler, ".cc", CXX_TEXT)
    for name in in_c:
        print(f"{name}: {in_c[name][0]} instructions in C, {in_cxx[name][0]} in C++")
    return 1 if any(in_cxx[n][0] - in_cxx[n][1] > in_c[n][0] - in_c[n][1] for n in in_c) else 0


if __name__ == "__main__":
    sys.exit(main())
