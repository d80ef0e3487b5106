# SPDX-License-Identifier: BSD-3-Clause
"""How jobs end: exceptions, exits, signals, forks, interpreters that end early, reloads."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import command, environment

TRACE = r"\[1\]   File .*endings\.py., line \d+, in fall_over"


@pytest.mark.parametrize(
    "case, code, texts",
    [
        ("raise", 1, [TRACE, r"\[1\] KeyError: 'missing'"]),
        ("thread", 1, [r"\[1\] Exception in thread helper:", TRACE]),
        ("handler", 1, [r"\[0\] in a message from rank 1:", TRACE.replace("1", "0")]),
        ("exit-3", 3, []),
        ("exit-text", 1, ["so it ends"]),
        ("os-exit", 4, []),
        ("abort", 134, [r"File .*endings\.py., line \d+ in main"]),
        ("segv", 139, [r"File .*endings\.py., line \d+ in fault", r"rank 1: caught signal 11 "]),
        ("interrupt", 130, [r"\[1\] KeyboardInterrupt"]),
        ("job-exit", 6, []),
    ],
)
def test_one_rank_ends_the_job(ranks, case, code, texts):
    done = ranks(2, "programs/endings.py", case)
    assert done.returncode == code, done.stdout
    for text in texts:
        assert re.search(text, done.stdout), done.stdout


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_rank_that_ends_early_keeps_its_memory(ranks, where):
    done = ranks(2, "programs/endings.py", "early", where=where)
    assert done.returncode == 0, done.stdout
    assert "rank 1 has ended; it runs no functions any more" in done.stdout


def test_forgotten(ranks):
    done = ranks(2, "programs/endings.py", "forgotten")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("ForgottenWait: a put, which") == 2, done.stdout
    assert done.stdout.count("ForgottenWait: 1 futures that still exist") == 2, done.stdout
    done = ranks(1, "-m", "endings", "forgotten", PYTHONWARNINGS="error", PYTHONPATH=path())
    assert done.returncode == 0 and "ForgottenWait" in done.stdout, done.stdout


def path():
    programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
    return environment()["PYTHONPATH"] + os.pathsep + programs


@pytest.mark.parametrize("where", ["near", "far"])
def test_daemon_threads(ranks, where):
    done = ranks(2, "programs/endings.py", "daemon", where=where)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("n, where", [(3, "near"), (2, "far")])
def test_others_go_on_without_a_lost_rank(ranks, n, where):
    done = ranks(n, "programs/losses.py", where=where)
    assert done.returncode == 137, done.stdout  # the code of the rank that was killed
    assert done.stdout.count(f"went on with {n - 1}") == n - 1, done.stdout


def test_forks(ranks):
    done = ranks(2, "programs/endings.py", "forked")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("refused: this process is a fork of rank") == 4, done.stdout


def test_interrupts_end_waits(ranks):
    done = ranks(2, "programs/endings.py", "interrupted")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("interrupted rank") == 2, done.stdout


def test_interrupts_end_sends(ranks):
    done = ranks(2, "programs/endings.py", "flooded")
    assert done.returncode == 0 and "interrupted rank 0" in done.stdout, done.stdout


WAITS = """
import tombolo
signals = tombolo.init().signals(1)
print("begun", flush=True)
signals.wait()
"""


def test_interrupt_of_the_launcher():
    job = subprocess.Popen(
        command(2, "-c", WAITS),
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    begun = [job.stdout.readline() for _ in range(2)]  # before, SIGINT would end an import
    assert begun == ["begun\n"] * 2, begun
    job.send_signal(signal.SIGINT)
    output, _ = job.communicate(timeout=60)
    assert job.returncode == 130, output


def test_why_names_the_call_and_the_line():
    text = "import tombolo, time\nj = tombolo.init()\nif j.rank: time.sleep(60)\nj.barrier()"
    job = subprocess.Popen(command(2, "-c", text), env=environment(), stderr=subprocess.PIPE)
    try:
        limit = time.monotonic() + 40
        said = ""
        while "barrier" not in said and time.monotonic() < limit:
            time.sleep(0.5)
            why = [sys.executable, "-m", "tombolo", "why", str(job.pid)]
            done = subprocess.run(why, env=environment(), capture_output=True, text=True)
            said = done.stdout
        assert re.search(r"rank 0.*waits.*barrier.*<string>:4", said), said
    finally:
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=60)


def alone(text, *flags, **more):
    """Runs a text without a launcher."""
    return subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(text)],
        env=environment(**more), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_alone_reloaded_and_not_started():
    done = alone("""
        import importlib, sys
        import tombolo
        try:
            tombolo._job.Team.barrier(tombolo._core.Team)
        except Exception:
            pass
        assert tombolo._core.state() == "new"
        try:
            tombolo._core.heap()
        except RuntimeError as error:
            assert "call tombolo.init() first" in str(error)
        job = tombolo.init(heap_bytes=1 << 20)
        a = job.array([1.5])
        importlib.reload(tombolo)
        assert tombolo.init() is job and a[0, 0] == 1.5
        for name in [n for n in sys.modules if n.startswith("tombolo")]:
            del sys.modules[name]
        import tombolo as again
        try:
            again.init()
        except RuntimeError as error:
            assert "has been started before" in str(error), error
        a[0, 0] = 2
        job.barrier()
        print(a[0, 0], again is not tombolo)
    """)
    assert done.returncode == 0 and done.stdout == "2.0 True\n", done.stdout + done.stderr


@pytest.mark.parametrize(
    "text, error",
    [
        ("import tombolo; tombolo.init(heap_bytes=-1)", "ValueError: heap_bytes is -1"),
        ("import tombolo; tombolo.init(heap_bytes=1 << 60)", "GASNET_MAX_SEGSIZE"),
    ],
)
def test_refused_starts(text, error):
    done = alone(text)
    assert done.returncode == 1 and error in done.stderr, done.stderr


def test_atexit_and_subinterpreter():
    done = alone("""
        import atexit
        import tombolo
        atexit.register(lambda: print("client's handler", tombolo._core.state()))
        job = tombolo.init()
        atexit.register(job.barrier)
        try:
            import _xxsubinterpreters as sub
        except ImportError:
            sub = None
        if sub:
            other = sub.create()
            text = f"import importlib.util as u; p = {tombolo._core.__file__!r}; " + (
                "s = u.spec_from_file_location('tombolo._core', p); m = u.module_from_spec(s); "
                "s.loader.exec_module(m)"
            )
            try:
                sub.run_string(other, text)
            except Exception as error:
                assert "main interpreter" in str(error), error
            else:
                raise SystemExit("a second interpreter has imported tombolo")
            sub.destroy(other)
    """)
    assert done.returncode == 0 and done.stdout == "client's handler closed\n", done.stderr


def test_no_conduit(ranks):
    """A start that fails for want of a conduit is no MemoryError."""
    program = """
import tombolo
try:
    tombolo.init()
except RuntimeError as error:
    print("refused:", error)
"""
    done = ranks(2, "-c", program, where="far", TOMBOLO_NET_PLUGIN="/no/such.so")
    assert "TOMBOLO_NET_PLUGIN=/no/such.so cannot be loaded" in done.stdout, done.stdout
    assert "refused: gexx_Client_Join failed: GASNET_ERR_RESOURCE" in done.stdout, done.stdout


def test_no_memory_for_the_heap(ranks):
    """A system that refuses the heap that was asked for is a MemoryError, which may be caught."""
    program = """
import resource, tombolo
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (200 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    tombolo.init()
except MemoryError as error:
    print("refused:", error)
"""
    done = ranks(1, "-c", program, GASNET_MAX_SEGSIZE="1GB")
    assert "refused: gex_Segment_Attach failed: GASNET_ERR_RESOURCE" in done.stdout, done.stdout
    assert done.returncode == 0 and "RLIMIT_AS" in done.stdout, done.stdout
