# SPDX-License-Identifier: BSD-3-Clause
# nightly: yes
"""shmem.h declares the routines and constants of OpenSHMEM 1.6, and no others; each routine is
defined, as a weak alias of its pshmem_ name; the headers compile alone in each language level, with
and without inline code; the library exports nothing else."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ["TMB_BUILD"])
ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "shmem/include"
OLD = {"start_pes", "_my_pe", "_num_pes", "num_pes", "shmalloc", "shrealloc", "shmemalign"}
OLD |= {"shfree"}
INLINE = {"shmem_inline_table_", "shmem_inline_wake_"}
# The tables of types of the specification, by TYPENAME.
AMO = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff".split()
AMO_EXT = [*AMO, "float", "double"]
AMO_BIT = "uint ulong ulonglong int32 int64 uint32 uint64".split()
RMA = "longdouble char schar short uchar ushort int8 int16 uint8 uint16".split() + AMO_EXT
WAIT = [*AMO, "short", "ushort"]
TEAM_BIT = "uchar ushort int8 int16 uint8 uint16 size".split() + AMO_BIT
COMPLEX = ["complexf", "complexd"]
ASET_BIT = ["short", "int", "long", "longlong"]
ASET = [*ASET_BIT, "float", "double", "longdouble"]
OLD_AMO = ["int", "long", "longlong"]
SIZES = ["8", "16", "32", "64", "128"]
PLAIN = """init init_thread finalize global_exit query_thread query_initialized query_finalized
my_pe n_pes pe_accessible addr_accessible ptr team_ptr info_get_version info_get_name pcontrol
malloc calloc align malloc_with_hints realloc free team_my_pe team_n_pes team_get_config
team_translate_pe team_split_strided team_split_2d team_destroy ctx_create team_create_ctx
ctx_destroy ctx_get_team ctx_session_start ctx_session_stop fence quiet pe_quiet ctx_fence
ctx_quiet ctx_pe_quiet signal_fetch signal_set signal_add ctx_signal_set ctx_signal_add
signal_wait_until barrier_all sync_all team_sync set_lock test_lock clear_lock broadcastmem
collectmem fcollectmem alltoallmem alltoallsmem barrier sync finalized swap wait wait_until
set_cache_inv clear_cache_inv udcflush set_cache_line_inv clear_cache_line_inv
udcflush_line""".split()
MOVES = ["put", "get", "put_nbi", "get_nbi", "put_signal", "put_signal_nbi"]
STRIDED = ["iput", "iget", "ibput", "ibget"]
CONSTANTS = """THREAD_SINGLE THREAD_FUNNELED THREAD_SERIALIZED THREAD_MULTIPLE TEAM_NUM_CONTEXTS
CTX_SERIALIZED CTX_PRIVATE CTX_NOSTORE CTX_SESSION_TOTAL_OPS CTX_SESSION_BATCH
CTX_SESSION_SAME_AMO MALLOC_ATOMICS_REMOTE MALLOC_SIGNAL_REMOTE SIGNAL_SET SIGNAL_ADD""".split()
OLD_CONSTANTS = """SYNC_VALUE SYNC_SIZE BARRIER_SYNC_SIZE BCAST_SYNC_SIZE COLLECT_SYNC_SIZE
REDUCE_SYNC_SIZE ALLTOALL_SYNC_SIZE ALLTOALLS_SYNC_SIZE REDUCE_MIN_WRKDATA_SIZE MAJOR_VERSION
MINOR_VERSION MAX_NAME_LEN CMP_EQ CMP_NE CMP_GT CMP_GE CMP_LT CMP_LE""".split()
HANDLES = ["CTX_INVALID", "CTX_DEFAULT", "TEAM_INVALID", "TEAM_WORLD", "TEAM_SHARED"]
LEVELS = [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++20")]
COMPILERS = {"c": ["cc", "clang"], "c++": ["c++", "clang++"]}
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Wundef -Werror".split()
HEADERS = ["shmem.h", "shmemx.h", "mpp/shmem.h", "mpp/shmemx.h", "pshmem.h"]

def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def with_types(types, *forms):
    return {f"{t}_{form}" for t in types for form in forms}


def sized(form, size):
    """put_signal of 32 bits is put32_signal."""
    head, *tail = form.split("_")
    return "_".join([head + size, *tail])


def with_contexts():
    """Routines that exist with a context, too."""
    names = with_types(RMA, *MOVES, *STRIDED, "p", "g")
    names |= {sized(form, size) for form in MOVES for size in [*SIZES, "mem"]}
    names |= {sized(form, size) for form in STRIDED for size in SIZES}
    fetching = with_types(AMO_EXT, "atomic_fetch", "atomic_swap")
    fetching |= with_types(AMO, "atomic_compare_swap", "atomic_fetch_inc", "atomic_fetch_add")
    fetching |= with_types(AMO_BIT, "atomic_fetch_and", "atomic_fetch_or", "atomic_fetch_xor")
    names |= fetching | {f"{name}_nbi" for name in fetching}
    names |= with_types(AMO_EXT, "atomic_set") | with_types(AMO, "atomic_inc", "atomic_add")
    return names | with_types(AMO_BIT, "atomic_and", "atomic_or", "atomic_xor")


def specified():
    names = with_contexts()
    names |= {f"ctx_{name}" for name in names} | set(PLAIN)
    names |= with_types(WAIT, "wait_until", "test", *(f"{call}_{many}{vector}"
                        for call in ("wait_until", "test") for many in ("all", "any", "some")
                        for vector in ("", "_vector")))
    names |= with_types(RMA, "broadcast", "collect", "fcollect", "alltoall", "alltoalls")
    names |= with_types(TEAM_BIT, "and_reduce", "or_reduce", "xor_reduce")
    names |= with_types(RMA, "max_reduce", "min_reduce")
    names |= with_types([*RMA, *COMPLEX], "sum_reduce", "prod_reduce", "sum_inscan", "sum_exscan")
    names |= with_types(ASET_BIT, "and_to_all", "or_to_all", "xor_to_all")
    names |= with_types(ASET, "max_to_all", "min_to_all")
    names |= with_types([*ASET, *COMPLEX], "sum_to_all", "prod_to_all")
    names |= {f"{call}{bits}" for bits in ("32", "64")
              for call in ("broadcast", "collect", "fcollect", "alltoall", "alltoalls")}
    names |= with_types(OLD_AMO, "cswap", "finc", "fadd", "inc", "add")
    names |= with_types([*OLD_AMO, "float", "double"], "fetch", "set", "swap")
    return {f"shmem_{name}" for name in names | with_types([*OLD_AMO, "short"], "wait")}


def declared():
    text = run("cc", "-E", "-P", "-DSHMEM_NO_GENERIC_", str(INCLUDE / "shmem.h"))
    names = set(re.findall(r"\b(shmem_\w+) ?\([^()]*\)\s*(?:__attribute__.*)?;", text))
    return names | {"shmem_global_exit"}


def exported():
    rows = run("nm", "-D", "--defined-only", str(BUILD / "lib/libshmem_tombolo.so")).split("\n")
    return {row.split()[2]: row.split()[1] for row in rows if row}


def check_names():
    wanted, there = declared(), exported()
    assert wanted == specified(), sorted(wanted ^ specified())[:9]
    missing = sorted(n for n in wanted if n not in there or "p" + n not in there)
    assert not missing, f"declared, not defined: {missing[:9]}"
    strong = sorted(n for n in wanted if there[n] != "W")
    assert not strong, f"not weak: {strong[:9]}"
    known = wanted | OLD | INLINE
    extra = sorted(n for n in there if n not in known and n[1:] not in wanted)
    assert not extra, f"exported, not declared: {extra[:9]}"


def uses():
    """Constants are integer constant expressions, and handles begin static variables."""
    names = [f"SHMEM_{name}" for name in CONSTANTS + OLD_CONSTANTS]
    names += [f"_SHMEM_{name}" for name in OLD_CONSTANTS]
    rows = [f"extern int c{i}[{name} + 1];" for i, name in enumerate(names)]
    for i, name in enumerate(HANDLES):
        kind = "ctx" if name.startswith("CTX") else "team"
        rows.append(f"shmem_{kind}_t h{i} = SHMEM_{name};")
    rows.append("char name[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;")
    rows.append("shmem_team_config_t team = {1};")
    return "\n".join([*rows, "shmem_ctx_session_config_t session = {1};\n"])


def calls(level):
    """A function whose arguments convert: constants of type int, or double, to others."""
    rows = ["extern short s; extern float f; extern long l; void call(int pe, int n);",
            "void call(int pe, int n) {", " shmem_short_p(&s, 3, pe); shmem_float_p(&f, 1, pe);",
            " shmem_long_put(&l, &l, (size_t)n, pe); shmem_long_atomic_add(&l, 1, pe);"]
    if level != "c99":
        rows += [" shmem_p(&s, 3, pe); shmem_p(&f, 1.5f, pe); shmem_put(&l, &l, 1, pe);",
                 " shmem_iput(&f, &f, 1, 2, 3, pe); shmem_atomic_add(&l, 1, pe);",
                 " shmem_wait_until(&l, SHMEM_CMP_GE, 1);"]
    return "\n".join([*rows, "}\n"])


def check_headers(folder):
    for language, level in LEVELS:
        text = "".join(f"#include <{header}>\n" for header in HEADERS) + uses() + calls(level)
        source = folder / "all.txt"
        source.write_text(text)
        for compiler in COMPILERS[language]:
            for optimise in ["-O0", "-O2"] if shutil.which(compiler) else []:
                run(compiler, "-x", language, f"-std={level}", optimise, *WARNINGS, f"-I{INCLUDE}",
                    f"-I{BUILD}/generated", "-S", "-o", "/dev/null", str(source))


def main():
    check_names()
    with tempfile.TemporaryDirectory() as name:
        check_headers(Path(name))
    print("names: passed")
    return 0


sys.exit(main())
