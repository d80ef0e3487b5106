#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that reference.py --check sees what it is for: each change in a copy draws its line."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import reference_forms as forms

ROOT = Path(__file__).resolve().parent.parent
# (file, text, what it becomes, words of the line that the check must print)
CASES = (
    (
        "include/gasnet_coll.h",
        "#ifdef __cplusplus\n}",
        "GEXX_API int gex_Coll_New(int much);\n#ifdef __cplusplus\n}",
        ("no word about gex_Coll_New", "parameter much is not explained"),
    ),
    (
        "include/gasnet_mk.h",
        " * Cost: the first kind",
        " * The first kind",
        ("page gex_MK_Create has no section `Cost: `",),
    ),
    (
        "include/tombolo/ext/ext_client.h",
        "/* Page gexx_Client_Join: ",
        "/* About: ",
        ("gexx_Client_Join stands above any page",),
    ),
    (
        "upc/include/upc.h",
        "/* Sets n bytes of shared memory to c. */",
        "",
        ("no word about upc_memset, page upc_memput",),
    ),
    (
        "upc/include/upc_castable.h",
        " * Threads: any; not collective.\n",
        "",
        ("page upc_cast has no section `Threads: `",),
    ),
    (
        "include/tombolo/cxx/future.hpp",
        "/* Waits for all of them. */",
        "",
        ("no word about tombolo::wait_all, page tombolo::future",),
    ),
    (
        "bindings/python/src/tombolo/_array.py",
        '"""Reads an element atomically."""',
        "",
        ("no word about tombolo.Array.load",),
    ),
    (
        "bindings/python/src/tombolo/_core.pyi",
        '"""Waits until all members are here; collective. Handlers of messages run meanwhile."""',
        "...",
        ("no word about tombolo.Team.barrier",),
    ),
    (
        "bindings/python/examples/atomics.py",
        "a.swap(",
        "a.store(",
        ("no example uses tombolo.Array.swap",),
    ),
    (
        "examples/futures_cxx.cc",
        "tombolo::wait_all(many)",
        "many.clear()",
        ("no example uses tombolo::wait_all",),
    ),
    (
        "examples/ring.c",
        " * Compile: tombolo cc",
        " * Compile: cc",
        ("shows examples/ring.c, whose head has no command",),
    ),
    (
        "include/tombolo/am/am_cxx.h",
        "inline int gex_AM_RequestShort(",
        "inline int gex_AM_RequestNone(",
        ("no prototype of gex_AM_RequestShort",),
    ),
    ("include/gasnet_fwd.h", "GEX_DT_FLT: float;", "", ("no word about GEX_DT_FLT",)),
    (
        "tests/data/symbols.txt",
        "gex_TM_Dup\t",
        "gex_TM_Copy\tfunction\tgasnetex.h\t01\ngex_TM_Dup\t",
        ("gex_TM_Copy is on no page",),
    ),
)


def check(root):
    """(exit code, what is printed) of the check of a tree."""
    done = subprocess.run(
        ["python3", str(ROOT / "scripts/reference.py"), "--root", str(root), "--check"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def copy(folder):
    """The parts of the tree that the check reads."""
    for name in (
        "include",
        "examples",
        "prif/fortran",
        "upc/include",
        "shmem/include",
        "bindings/python/src",
        "bindings/python/examples",
        "coarray/fortran",
        "tests/data",
        "src/base",
    ):
        shutil.copytree(ROOT / name, folder / name)


def check_forms():
    """Lines about routines that are not shown once for all types and sizes."""
    texts = [f"void shmem_ctx_{word}_put({type_} *dest, const {type_} *source, size_t n, int pe);"
             for word, type_ in (("int", "int"), ("longlong", "long long"), ("double", "double"))]
    texts += [f"void shmem_put{bits}(void *dest, int pe);" for bits in (8, 128)]
    items = [(re.search(r"shmem_\w+", text)[0], "function", text, "") for text in texts]
    items.append(("shmem_quiet", "function", "void shmem_quiet(void);", ""))
    page = SimpleNamespace(folder="shmem/include", entries=[SimpleNamespace(items=items)])
    found = forms.Forms(ROOT, page)
    wanted = [["void shmem_ctx_TYPE_put(TYPE *dest, const TYPE *source, size_t n, int pe);",
               "void shmem_putSIZE(void *dest, int pe);", "void shmem_quiet(void);"]]
    if found.synopses(page.entries, str) != wanted:
        yield f"forms: {found.synopses(page.entries, str)} instead of {wanted}"
    names = ["shmem_put", "shmem_ctx_TYPE_put", "shmem_putSIZE", "shmem_quiet"]
    if found.names([item[0] for item in items]) != names:
        yield f"forms: names {found.names([item[0] for item in items])} instead of {names}"


def main():
    """Runs the cases."""
    if faults := list(check_forms()):
        print("\n".join(faults))
        return 1
    if not shutil.which("clang"):
        print("reference_test: skipped: clang is missing")
        return 77
    failed = False
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        copy(root)
        for file, text, other, _ in CASES:
            path = root / file
            before = path.read_text()
            assert before.count(text) >= 1, f"{file} has no `{text}`"
            path.write_text(before.replace(text, other, 1))
        code, said = check(root)
        for file, _, _, wanted in CASES:
            for words in wanted:
                if code != 1 or words not in said:
                    print(f"{file}: `{words}` is not reported ({code}):\n{said}")
                    failed = True
    print("reference_test: " + ("FAILED" if failed else f"{len(CASES)} changes are seen"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
