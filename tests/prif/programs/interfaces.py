#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran interfaces of PRIF and the C functions behind them have the same arguments.

Compares prif/fortran/*.inc with prif/entry.h: names, order, VALUE, and the C type of each; and
counts the 109 procedures.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "prif"
PROCEDURES = 109
IN_MODULE = {"prif_register_stop_callback"}  # its C form has another name
C_TYPES = {
    "integer(c_int)": "int32_t", "integer(c_int64_t)": "int64_t", "integer(c_size_t)": "size_t",
    "integer(c_intptr_t)": "intptr_t", "logical(c_bool)": "bool", "type(c_ptr)": "void",
    "integer(PRIF_ATOMIC_INT_KIND)": "int64_t", "logical(PRIF_ATOMIC_LOGICAL_KIND)": "int64_t",
    "type(prif_coarray_handle)": "prif_handle", "type(prif_team_type)": "prif_team",
    "type(c_funptr)": "_fn",
}
STATUS = {"stat": "int32_t", "errmsg": "struct prif_desc", "errmsg_alloc": "struct prif_desc"}


def fortran_arguments(names, body):
    """Arguments of an interface: (name, C type, VALUE)."""
    found = dict.fromkeys(names)
    if "include 'status.inc'" in body:
        found.update({name: (kind, False) for name, kind in STATUS.items()})
    for line in body.splitlines():
        attributes, separator, variables = line.partition("::")
        if not separator:
            continue
        kind = re.match(r"\s*(\w+(?:\([^)]*\))?)", attributes).group(1)
        by_value = re.search(r"\bvalue\b", attributes) is not None
        for name, shape in re.findall(r"(\w+)(\([^)]*\))?", variables):
            described = shape or kind.startswith("character") or "allocatable" in attributes
            found[name] = ("struct prif_desc" if described else C_TYPES[kind], by_value)
    return [(name, *found[name]) for name in names]


def fortran_procedures():
    """C name: arguments, of all interfaces."""
    found = {}
    for path in sorted(ROOT.glob("fortran/*.inc")):
        text = re.sub(r"&\n\s*", "", path.read_text())
        pattern = r"subroutine (\w+)\(([^)]*)\) bind\(c, *name='(\w+)'\)\n(.*?)end subroutine"
        for _, names, c_name, body in re.findall(pattern, text, re.S):
            found[c_name] = fortran_arguments(re.findall(r"\w+", names), body)
    return found


def c_procedures():
    """C name: arguments, of entry.h."""
    found = {}
    lists, _, text = (ROOT / "entry.h").read_text().partition("visibility push")
    lists = re.sub(r"\\\n", "", lists)
    for name, argument, body in re.findall(r"#define (PRIF_\w+)(?:\((\w+)\))? (.*\*.*)", lists):
        if argument:
            body = re.sub(rf"\b{argument}$", r"\\1", body)
            text = re.sub(rf"{name}\((\w+)\)", body, text)
        else:
            text = re.sub(rf"\b{name}\b", body, text)
    for short, plain, parameters in re.findall(
        r"^void (?:PRIF\((\w+)\)|(\w+))\(([^;]*)\);", text, re.M
    ):
        arguments = []
        for parameter in re.sub(r"\s+", " ", parameters).split(","):
            if parameter.strip() == "void":
                continue
            kind, name = re.match(r"(.*?)(\w+)$", parameter.strip()).groups()
            base = re.sub(r"\bconst\b|\*", "", kind).strip()
            stars = kind.count("*")
            by_value = stars == (1 if base == "void" else 0)
            arguments.append((name, "_fn" if base.endswith("_fn") else base, by_value))
        found[f"tombolo_prif_{short}" if short else plain] = arguments
    return found


def main():
    """Prints each difference."""
    fortran, c = fortran_procedures(), c_procedures()
    for name in IN_MODULE:
        fortran.pop("tombolo_" + name, None)
    fortran.pop("tombolo_prif_set_stop_runner", None)
    runner = c.pop("tombolo_prif_set_stop_runner", None)
    wrong = [f"{name}: in one of the two only" for name in set(fortran) ^ set(c)]
    wrong += [
        f"{name}: Fortran {fortran[name]}, C {c[name]}"
        for name in set(fortran) & set(c)
        if fortran[name] != c[name]
    ]
    if runner is None or len(c) + len(IN_MODULE) != PROCEDURES:
        wrong.append(f"{len(c) + len(IN_MODULE)} procedures, not {PROCEDURES}")
    print("\n".join(sorted(wrong)) or f"{PROCEDURES} procedures have the same arguments")
    return 1 if wrong else 0


sys.exit(main())
