# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as workers of a notebook: cells, output, errors, interrupts; the magics with IPython."""

import os
import signal
import sys
import threading
import time

import pytest
from conftest import BUILD, HERE, environment


@pytest.fixture(scope="module", autouse=True)
def package():
    """The package of the build tree, here and in the ranks."""
    sys.path.insert(0, str(BUILD / "python"))
    before = dict(os.environ)
    os.environ.update(environment())
    yield
    os.environ.clear()
    os.environ.update(before)
    sys.path.remove(str(BUILD / "python"))


@pytest.fixture(scope="module")
def cluster():
    from tombolo.notebook import Cluster

    shown = []
    with Cluster(2, show=shown.append) as made:
        made.shown = shown
        yield made


def test_cells(cluster):
    cluster.shown.clear()
    cluster.run("a = job.zeros(3)\na[(job.rank + 1) % job.size] = job.rank + 1\njob.barrier()")
    assert cluster.run("a.local.tolist()") == {0: "[2.0, 2.0, 2.0]", 1: "[1.0, 1.0, 1.0]"}
    assert cluster.run("print('rank', job.rank); print('no end', end='')", [1]) == {}
    assert cluster.shown == ["[1] rank 1", "[1] no end"]
    assert cluster.run("x = 5") == {} and cluster.run("None") == {}
    assert cluster.pull("job.rank * 10 + x") == [5, 15] and cluster.pull("x", [1]) == [5]
    cluster.push(y=[1, 2])
    assert cluster.pull("sum(y)") == [3, 3]
    # functions of a cell can be called from other ranks, also from one that is between cells
    cluster.run("def twice(v): return 2 * v")
    assert cluster.run("job.call(1, twice, 4).wait()", [0]) == {0: "8"}


def test_errors(cluster):
    from tombolo.notebook import CellError, read_ranks

    with pytest.raises(CellError) as caught:
        cluster.run("def f():\n    return 1 / (job.rank - 1)\nf()")
    assert list(caught.value.errors) == [1]
    text = str(caught.value)
    assert "[1] ZeroDivisionError" in text and "line 2, in f" in text and "_worker" not in text
    assert "return 1 / (job.rank - 1)" in text  # the source line
    with pytest.raises(CellError, match="SyntaxError"):
        cluster.run("x = = 1")
    with pytest.raises(CellError, match="SystemExit"):
        cluster.run("raise SystemExit(3)", [0])
    assert cluster.run("job.rank") == {0: "0", 1: "1"} and cluster.alive
    assert read_ranks("0, 2-3", 4) == [0, 2, 3] and read_ranks(" ", 2) == [0, 1]
    for text in ("4", "x", "1-", "-1", "3-2"):
        with pytest.raises(ValueError, match="ranks"):
            read_ranks(text, 3)


def test_interrupt(cluster):
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt, match="KeyboardInterrupt"):
        cluster.run("job.signals(1).wait()")
    timer.join()
    assert cluster.run("job.allreduce(1)") == {0: "2", 1: "2"}


def test_a_rank_that_raises_does_not_leave_others_waiting(cluster, monkeypatch):
    from tombolo import notebook

    monkeypatch.setattr(notebook, "GRACE_S", 0.3)
    cluster.shown.clear()
    with pytest.raises(notebook.CellError) as caught:
        cluster.run("if job.rank == 0:\n    raise ValueError('here')\ns = job.poll(60)")
    assert "ValueError: here" in caught.value.errors[0]
    assert "KeyboardInterrupt" in caught.value.errors[1]
    assert "ranks 1 did not end the cell" in cluster.shown[0]


def test_a_job_that_ends():
    from tombolo.notebook import Cluster

    with Cluster(2, show=lambda line: None) as made:
        with pytest.raises(RuntimeError, match="has ended"):
            made.run("import os\nif job.rank: os._exit(3)\nelse: job.poll(60)")
        with pytest.raises(RuntimeError, match="the job has ended with code 3; start a new one"):
            made.run("1")
        assert not made.alive
    with pytest.raises(RuntimeError, match="the job ended at its start, with code 2"):
        Cluster(2, ["--no-such-option"])


def test_stop_while_a_cell_runs():
    from tombolo.notebook import Cluster

    made = Cluster(2, show=lambda line: None)
    for rank in (0, 1):
        made._connections[rank].send(("run", "while True: job.poll(1)", "<cell>"))
    begin = time.monotonic()
    made.stop()
    assert not made.alive and time.monotonic() - begin < 30


def test_magics():
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    with capture_output() as out:
        shell.run_cell("%load_ext tombolo.notebook")
        shell.run_cell("%tombolo start -n 2 --label")
        shell.run_cell("%%tombolo\nx = job.rank + 1\nx * 2")
        shell.run_cell("%%tombolo 1\nprint('one'); 1 / 0")
        shell.run_cell("values = %tombolo pull x")
        shell.run_cell("%tombolo status")
        shell.run_cell("%tombolo stop")
        shell.run_cell("%tombolo status")
    assert shell.user_ns["values"] == [1, 2], out.stdout + out.stderr
    for text in ("2 ranks run", "[0] 2\n[1] 4", "[1] one", "no ranks run"):
        assert text in out.stdout, out.stdout
    assert "[1] ZeroDivisionError" in out.stderr and "Cluster" not in out.stderr


def kernel(tmp_path):
    """A kernel of this Python, and its environment: what a Jupyter notebook talks to."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    manager = pytest.importorskip("jupyter_client.manager", reason="no jupyter_client")
    made = manager.KernelManager()
    env = environment(HOME=str(tmp_path), IPYTHONDIR=str(tmp_path))
    made.kernel_spec.argv[0] = sys.executable
    made.start_kernel(env=env)
    client = made.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return made, client


def test_interrupt_of_a_kernel(tmp_path):
    """Ctrl-C in a notebook: the kernel's interrupt ends the cell on all ranks, which live on."""
    manager, client = kernel(tmp_path)
    try:
        started = client.execute_interactive(
            "%load_ext tombolo.notebook\n%tombolo start -n 2",
            timeout=60,
            output_hook=lambda m: None,
        )
        assert started["content"]["status"] == "ok", started
        timer = threading.Timer(2, manager.interrupt_kernel)
        timer.start()
        cell = "%%tombolo\njob.signals(1).wait()"
        hit = client.execute_interactive(cell, timeout=60, output_hook=lambda m: None)
        timer.join()
        assert hit["content"]["ename"] == "KeyboardInterrupt", hit
        texts = []
        cell = "%%tombolo\njob.allreduce(job.rank + 1)"
        client.execute_interactive(
            cell, timeout=60, output_hook=lambda m: texts.append(m["content"].get("text", ""))
        )
        assert "[0] 3" in "".join(texts) and "[1] 3" in "".join(texts), texts
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=False)


def test_notebook_of_the_examples(tmp_path):
    """The notebook of the examples runs from its first cell to its last, as in Jupyter."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    book = nbformat.read(HERE.parent / "examples/heat.ipynb", as_version=4)
    before = dict(os.environ)
    os.environ.update(environment(HOME=str(tmp_path), IPYTHONDIR=str(tmp_path)))
    try:
        place = {"metadata": {"path": str(HERE.parent / "examples")}}
        nbclient.NotebookClient(book, timeout=120, resources=place).execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    outputs = [str(o) for cell in book.cells for o in cell.get("outputs", [])]
    assert any("image/png" in o for o in outputs) and any("ok: " in o for o in outputs), outputs
