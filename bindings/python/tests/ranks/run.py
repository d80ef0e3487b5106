# SPDX-License-Identifier: BSD-3-Clause
"""Runs files of tests on every rank of a job: run.py FILE... All ranks run the same tests.

A rank whose test fails ends the job with the traceback; ranks meet after each test, so that none
is ahead of a failure. `pytest.mark.parametrize` is understood, fixtures are not.
"""

import importlib.util
import os
import sys

import tombolo


def cases(function):
    """The argument lists of a test."""
    marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
    if not marks:
        return [()]
    several = "," in marks[0].args[0]
    return [value if several else (value,) for value in marks[0].args[1]]


def load(path):
    """A test file as a module that other ranks find by the same name."""
    name = os.path.basename(path)[: -len(".py")]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run_file(path, job):
    """Runs the tests of a file; returns how many there were."""
    count = 0
    for name, function in list(vars(load(path)).items()):
        if name.startswith("test_") and callable(function):
            for arguments in cases(function):
                function(*arguments)
                job.barrier()
                count += 1
    return count


def main():
    job = tombolo.init()
    for path in sys.argv[1:]:
        count = run_file(path, job)
        if job.rank == 0:
            print(f"{os.path.basename(path)}: {count} tests on {job.size} ranks")


main()
