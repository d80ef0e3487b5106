# SPDX-License-Identifier: BSD-3-Clause
"""A rank of a notebook: runs what tombolo.notebook sends, until it is asked to stop.

Variables live in a module __main__ of its own, where `job`, `tombolo` and `np` are defined.
Between cells the rank makes progress, so that others can use its memory and call its functions.
"""

from __future__ import annotations

import ast
import io
import linecache
import os
import pickle
import signal
import sys
import traceback
import types
from multiprocessing.connection import Client, Connection
from typing import Any

import numpy as np

import tombolo

IDLE_S = 0.01  # between two checks for a cell


class Output(io.TextIOBase):
    """Sends what is printed, whole lines at once where it can."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        if "\n" in text:
            whole, _, self.text = self.text.rpartition("\n")
            self.connection.send(("output", whole + "\n"))
        return len(text)

    def flush(self) -> None:
        if self.text:
            self.connection.send(("output", self.text))
            self.text = ""


def run_cell(code: str, name: str, variables: dict[str, Any]) -> str | None:
    """Runs a cell; returns the text of its last expression's value, if it ends in one."""
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    exec(compile(tree, name, "exec"), variables)
    if last is None:
        return None
    value = eval(compile(last, name, "eval"), variables)
    return None if value is None else repr(value)


def handle(kind: str, value: Any, name: str, variables: dict[str, Any]) -> Any:
    """Does what a message asks for; returns the result to be sent, or None."""
    if kind == "run":
        return run_cell(value, name, variables)
    if kind == "push":
        variables.update(pickle.loads(value))
        return None
    found = eval(value, variables)
    if isinstance(found, tombolo.Array):
        raise TypeError(f"{value} is shared by the ranks and stays there; pull {value}.local")
    return pickle.dumps(found, protocol=5)


def describe(error: BaseException) -> str:
    """Traceback of an error in a cell, without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


class Interrupts:
    """SIGINT raises KeyboardInterrupt while a cell runs, and is ignored between cells."""

    def __init__(self) -> None:
        self.active = False
        signal.signal(signal.SIGINT, self.arrive)

    def arrive(self, number: int, frame: types.FrameType | None) -> None:
        """The signal handler."""
        if self.active:
            self.active = False
            raise KeyboardInterrupt


def serve(job: tombolo.Job, connection: Connection, variables: dict[str, Any]) -> None:
    """Runs cells until the notebook stops or has ended."""
    interrupts = Interrupts()
    while True:
        try:
            while not connection.poll(0):
                job.poll(IDLE_S)
            kind, value, name = connection.recv()
        except (EOFError, OSError):
            return
        if kind == "stop":
            return
        try:
            interrupts.active = True
            result = handle(kind, value, name, variables)
            interrupts.active = False
            sys.stdout.flush()
            if result is not None:
                connection.send(("result", result))
        except BaseException as error:
            interrupts.active = False
            connection.send(("error", describe(error)))
        connection.send(("done", None))


def main() -> None:
    """Connects to the notebook, and serves it."""
    address, key = os.environ.pop("TMBPY_WORKER"), os.environ.pop("TMBPY_KEY")
    job = tombolo.init()
    module = types.ModuleType("__main__")
    vars(module).update(job=job, tombolo=tombolo, np=np)
    connection = Client(address, "AF_UNIX", authkey=bytes.fromhex(key))
    connection.send((job.rank, os.getpid()))
    sys.modules["__main__"] = module
    sys.stdout = sys.stderr = Output(connection)
    try:
        serve(job, connection, vars(module))
    finally:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    job.exit(0)


if __name__ == "__main__":
    main()
