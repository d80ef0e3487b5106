# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as workers of a notebook: the cells of one notebook run on all ranks of a job.

    %load_ext tombolo.notebook
    %tombolo start -n 4

    %%tombolo
    a = job.zeros(10)
    a[(job.rank + 1) % job.size, 0] = job.rank

`%%tombolo 0,2-3` runs a cell on some ranks. `%tombolo pull NAME` gives a list of the ranks' values,
`%tombolo status`, `restart` and `stop` do what they say. An interrupt of the kernel interrupts the
ranks. Without IPython the class Cluster does the same. The ranks are on this host.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection, Listener, wait
from typing import Any, Callable

START_S = 120  # longest start of a job
GRACE_S = 2.0  # after an error on one rank the others get so long to end the cell
STOP_S = 2.0  # and so long to end when the cluster stops


class CellError(RuntimeError):
    """A cell has raised; `errors` has the traceback of each rank that did."""

    def __init__(self, errors: dict[int, str]) -> None:
        self.errors = errors
        texts: dict[str, list[int]] = {}
        for rank in sorted(errors):
            texts.setdefault(errors[rank], []).append(rank)
        super().__init__(
            "\n".join(f"[{label(r)}] {line}" for text, r in texts.items() for line in lines(text))
        )


def label(ranks: list[int]) -> str:
    """Ranks as people write them, such as 0-3,5."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and parts[-1][1] == rank - 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def lines(text: str) -> list[str]:
    """Lines without the last line's end."""
    return text.rstrip("\n").split("\n")


def read_ranks(text: str, size: int) -> list[int]:
    """Ranks of a list such as 0,2-3; all when it is empty."""
    if not text.strip():
        return list(range(size))
    found: set[int] = set()
    try:
        for part in text.replace(" ", "").split(","):
            first, dash, last = part.partition("-")
            found.update(range(int(first), int(last if dash else first) + 1))
    except ValueError:
        raise ValueError(f"ranks {text!r}: give a list such as 0,2-3") from None
    if not found or min(found) < 0 or max(found) >= size:
        raise ValueError(f"ranks {text!r}: the job has ranks 0 to {size - 1}")
    return sorted(found)


class Cluster:
    """A job whose ranks run what they are sent."""

    def __init__(
        self, ranks: int = 2, options: list[str] | None = None, show: Callable[[str], None] = print
    ) -> None:
        """Starts the ranks. options: of `tombolo run`; show: gets each line of their output."""
        self.size = ranks
        self.show = show
        self.count = 0
        self._running: set[int] = set()
        self._folder = tempfile.TemporaryDirectory(prefix="tombolo-")
        address = os.path.join(self._folder.name, "kernel")
        key = os.urandom(32)
        listener = Listener(address, "AF_UNIX", backlog=ranks, authkey=key)
        words = [sys.executable, "-m", "tombolo", "run", "-n", str(ranks), *(options or [])]
        self._process = subprocess.Popen(
            [*words, "-m", "tombolo._worker"],
            env={**os.environ, "TMBPY_WORKER": address, "TMBPY_KEY": key.hex()},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the ranks through interrupt() only
        )
        self._connections: dict[int, Connection] = {}
        self._pids: dict[int, int] = {}
        try:
            self._accept(listener)
        except BaseException:
            listener.close()
            self.stop()
            raise
        listener.close()
        atexit.register(self.stop)

    def _accept(self, listener: Listener) -> None:
        socket: Any = listener._listener._socket  # type: ignore[attr-defined]
        socket.settimeout(0.2)  # pyright: ignore[reportUnknownMemberType]
        limit = time.monotonic() + START_S
        while len(self._connections) < self.size:
            try:
                connection = listener.accept()
            except TimeoutError:
                code = self._process.poll()
                if code is not None:
                    raise RuntimeError(f"the job ended at its start, with code {code}") from None
                if time.monotonic() > limit:
                    raise TimeoutError(f"the ranks did not start in {START_S} s") from None
                continue
            rank, pid = connection.recv()
            self._connections[rank] = connection
            self._pids[rank] = pid

    # ---- running
    def run(self, code: str, ranks: list[int] | None = None) -> dict[int, str]:
        """Runs code on ranks, all by default; shows their output, each line with its rank.

        Returns the text of the last expression's value on each rank that has one. Raises CellError
        when a rank raises. KeyboardInterrupt interrupts the ranks, and is raised at their end.
        """
        self.count += 1
        return self._request(("run", code, f"<cell {self.count}>"), ranks)

    def pull(self, expression: str, ranks: list[int] | None = None) -> list[Any]:
        """Values of an expression on the ranks, in their order; they come with pickle."""
        found = self._request(("pull", expression, "<pull>"), ranks)
        return [pickle.loads(found[rank]) for rank in sorted(found)]  # type: ignore[arg-type]

    def push(self, **values: Any) -> None:
        """Sets variables on all ranks."""
        self._request(("push", pickle.dumps(values), "<push>"), None)

    def _request(self, message: tuple[str, Any, str], ranks: list[int] | None) -> dict[int, str]:
        if self._process.poll() is not None:
            raise RuntimeError(self._over())
        chosen = list(range(self.size)) if ranks is None else ranks
        for rank in chosen:
            self._connections[rank].send(message)
        self._running = set(chosen)
        results: dict[int, str] = {}
        errors: dict[int, str] = {}
        interrupted = False
        limit: float | None = None
        while self._running:
            try:
                self._receive(results, errors)
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                self.interrupt()
            if errors and limit is None:
                limit = time.monotonic() + GRACE_S
            if limit is not None and self._running and time.monotonic() > limit:
                late = ", ".join(map(str, sorted(self._running)))
                self.show(f"ranks {late} did not end the cell after an error elsewhere; interrupt")
                self.interrupt()
                limit = time.monotonic() + GRACE_S
        if interrupted:
            raise KeyboardInterrupt(str(CellError(errors)) if errors else "the cell had ended")
        if errors:
            raise CellError(errors)
        return results

    def _receive(self, results: dict[int, str], errors: dict[int, str]) -> None:
        """Takes what has come from the ranks that run."""
        ranks = {id(self._connections[r]): r for r in self._running}
        ready = wait([self._connections[r] for r in self._running], timeout=0.2)
        for connection in ready:
            assert isinstance(connection, Connection)
            rank = ranks[id(connection)]
            try:
                kind, value = connection.recv()
            except (EOFError, OSError):
                self._running.clear()
                raise RuntimeError(self._over()) from None
            if kind == "output":
                for line in lines(value):
                    self.show(f"[{rank}] {line}")
            elif kind == "result":
                results[rank] = value
            elif kind == "error":
                errors[rank] = value
            else:
                self._running.discard(rank)

    def _over(self) -> str:
        try:
            code = self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            return "a rank has ended, and the job has not yet; start a new one"
        return f"the job has ended with code {code}; start a new one"

    def interrupt(self) -> None:
        """Raises KeyboardInterrupt on the ranks that run a cell."""
        for rank in self._running:
            try:
                os.kill(self._pids[rank], signal.SIGINT)
            except ProcessLookupError:
                pass

    # ---- the end
    @property
    def alive(self) -> bool:
        """Whether the job runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends the ranks; what they are doing is interrupted."""
        atexit.unregister(self.stop)
        for connection in self._connections.values():
            try:
                connection.send(("stop", None, ""))
            except OSError:
                pass
            connection.close()
        self._connections.clear()
        for number in (0, signal.SIGTERM, signal.SIGKILL):
            if number:
                self._process.send_signal(number)
            try:
                self._process.wait(STOP_S)
                break
            except subprocess.TimeoutExpired:
                continue
        self._folder.cleanup()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *about: object) -> None:
        self.stop()


# ---- IPython
class Magics:
    """What %tombolo and %%tombolo do."""

    def __init__(self) -> None:
        self.cluster: Cluster | None = None
        self.last: list[str] = ["-n", "2"]

    def need(self) -> Cluster:
        """The running cluster; one of two ranks is started when there is none."""
        if self.cluster is None:
            self.start(self.last)
        assert self.cluster is not None
        return self.cluster

    def start(self, words: list[str]) -> None:
        """start [-n RANKS] [options of tombolo run]"""
        if self.cluster is not None and self.cluster.alive:
            raise RuntimeError("the ranks run already; %tombolo restart, or %tombolo stop")
        self.last = list(words)
        ranks, i = 2, 0
        options: list[str] = []
        while i < len(words):
            if words[i] in ("-n", "--ranks") and i + 1 < len(words):
                ranks = int(words[i + 1])
                i += 1
            else:
                options.append(words[i])
            i += 1
        self.cluster = Cluster(ranks, options)
        print(f"{ranks} ranks run; begin cells with %%tombolo")

    def stop(self) -> None:
        """Ends the ranks."""
        if self.cluster is not None:
            self.cluster.stop()
            self.cluster = None

    def line(self, text: str) -> Any:
        """%tombolo start|stop|restart|status|pull"""
        words = shlex.split(text) or ["status"]
        if words[0] == "start":
            self.start(words[1:])
        elif words[0] == "stop":
            self.stop()
        elif words[0] == "restart":
            self.stop()
            self.start(words[1:] or self.last)
        elif words[0] == "status":
            alive = self.cluster is not None and self.cluster.alive
            print(f"{self.cluster.size} ranks run" if alive and self.cluster else "no ranks run")
        elif words[0] == "pull" and len(words) == 2:
            return self.need().pull(words[1])
        else:
            raise ValueError(f"%tombolo {text}: give start, stop, restart, status or pull NAME")
        return None

    def cell(self, text: str, body: str) -> None:
        """%%tombolo [RANKS]"""
        cluster = self.need()
        results = cluster.run(body, read_ranks(text, cluster.size))
        for rank in sorted(results):
            for line in lines(results[rank]):
                print(f"[{rank}] {line}")


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics; called by %load_ext tombolo.notebook."""
    magics = Magics()

    def show_error(
        self: Any, kind: Any, error: BaseException, trace: Any, tb_offset: Any = None
    ) -> None:
        print(error, file=sys.stderr)

    shell.register_magic_function(magics.line, "line", "tombolo")
    shell.register_magic_function(magics.cell, "cell", "tombolo")
    shell.set_custom_exc((CellError,), show_error)
