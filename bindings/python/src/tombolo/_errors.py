# SPDX-License-Identifier: BSD-3-Clause
"""What happens to exceptions, forgotten futures, missing packages, and the end of the program.

An exception that nobody catches prints its traceback, each line with the rank, and ends the job
with code 1. A rank whose program is over waits, without Python, until all others are there.
"""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import os
import sys
import threading
import traceback
import warnings
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

from . import _core

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
CODE_INTERRUPTED = 130  # 128 + SIGINT, as a shell says it


class ForgottenWait(ResourceWarning):
    """A future was dropped, and nobody had waited for it or found it done."""


class RemoteError(RuntimeError):
    """A function that was called on another rank has raised; the text holds its traceback."""


class LostError(RuntimeError):
    """An operation met a rank that is lost; data may or may not have moved. `rank`: in the job."""

    def __init__(self, text: str, rank: int) -> None:
        super().__init__(text)
        self.rank = rank


class Peer(NamedTuple):
    """What has become of a rank."""

    state: str  # alive, stopped (ended in good order), failed or suspended
    lost: bool  # operations towards it raise LostError
    code: int  # lost: its exit code
    signal: int  # lost: the signal that ended it, else 0


def peer(rank: int) -> Peer:
    """What has become of a rank of the job."""
    state, is_lost, code, signal = _core.peer(rank)
    return Peer(("alive", "stopped", "failed", "suspended")[state], bool(is_lost), code, signal)


def package(name: str, what: str) -> Any:
    """The package, or ModuleNotFoundError that names it and what needs it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # the package is there, and lacks one that it needs itself
        raise ModuleNotFoundError(
            f"{what} needs the package {name}, which {sys.executable} does not have: "
            f"pip install {name}",
            name=name,
        ) from error


def lost(what: str, rank: int) -> NoReturn:
    """Called by the extension for an operation that has met a loss."""
    raise LostError(f"{what}: rank {rank} is lost; see job.peer({rank}) and shrink()", rank)


def forgotten(what: str, done: bool) -> None:
    """Called by the extension for each future that is dropped without a wait."""
    state = "which is complete" if done else "which was still in progress"
    warnings.warn(
        f"a {what}, {state}, was never waited for: call wait() on its future, await it, or call "
        "quiet() on the job",
        ForgottenWait,
        stacklevel=2,
    )


def place() -> str:
    """File and line of the program that has called the package; for `tombolo why`."""
    frame = sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)[-50:]}:{frame.f_lineno}"


def flush() -> None:
    """Writes what the program has printed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def write_labelled(text: str, rank: int) -> None:
    """Writes lines to the error output in one piece, each with the rank before it."""
    lines = "".join(f"[{rank}] {line}\n" for line in text.rstrip("\n").split("\n"))
    flush()
    os.write(2, lines.encode(errors="backslashreplace"))


def end_with(error: BaseException, rank: int, where: str = "") -> NoReturn:
    """Prints an exception's traceback, and ends the job."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    write_labelled(f"{where}{text}", rank)
    _core.end_job(CODE_INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)


def install(rank: int) -> None:
    """Installs the hooks of this process; called once, when the job has started."""
    before = sys.excepthook
    before_thread = threading.excepthook

    def hook(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        interactive = hasattr(sys, "ps1") or sys.flags.interactive
        if interactive or _core.state() != "started":
            before(kind, error, trace)
        else:
            end_with(error.with_traceback(trace), rank)

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        if _core.state() != "started" or args.exc_value is None:
            before_thread(args)
            return
        name = args.thread.name if args.thread else "unknown"
        end_with(args.exc_value, rank, f"Exception in thread {name}:\n")

    sys.excepthook = hook
    threading.excepthook = thread_hook
    if not faulthandler.is_enabled() and sys.stderr is sys.__stderr__ is not None:
        faulthandler.enable(all_threads=False)  # before the library's report, lines of Python
    if not sys.warnoptions:
        warnings.simplefilter("default", ForgottenWait)
    atexit.register(at_exit)


def at_exit() -> None:
    """The program is over: from now on nothing of this rank runs Python."""
    if _core.state() != "started":
        return
    left = _core.quiet()
    if left:
        warnings.warn(
            f"{left} futures that still exist were never waited for", ForgottenWait, stacklevel=2
        )
    _core.closing()
