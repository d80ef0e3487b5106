# SPDX-License-Identifier: BSD-3-Clause
"""Messages with Python handlers, calls with answers, threads."""

import threading
import time
import warnings

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size
inbox = []
barrier = 0  # in which this rank is


def note(*args):
    inbox.append((job.sender, *args))


def note_barrier(turn):
    """Whether it runs in the barrier behind which it was sent."""
    inbox.append(turn == barrier)


def double(x):
    return 2 * x


def fail(text):
    raise KeyError(text)


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


def fail_oddly():
    raise Odd(1, 2)


def ask_back(x):
    """A handler that itself calls the rank that waits for it."""
    return job.call(job.sender, double, x).wait() + 1


def until(condition):
    limit = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < limit, "no message"
        job.poll(0.1)


def test_send_keeps_order():
    inbox.clear()
    job.barrier()
    for i in range(100):
        job.send(right, note, i)
    until(lambda: len(inbox) == 100)
    assert inbox == [(left, i) for i in range(100)]
    with pytest.raises(RuntimeError, match="no handler is running"):
        job.sender


def test_a_barrier_runs_no_message_that_was_sent_behind_it():
    """Near, and with two ranks: elsewhere a rank may hear it before it knows that all have come."""
    global barrier
    inbox.clear()
    for turn in range(1, 301):
        if turn % size == me:  # the last one sends while the others wake up
            time.sleep(turn % 8 * 0.0004)
        barrier = turn
        job.barrier()
        barrier = 0
        job.send(right, note_barrier, turn)
    until(lambda: len(inbox) == 300)
    assert size > 2 or not job.is_near(right) or not any(inbox)
    job.barrier()


def test_large_messages():
    inbox.clear()
    job.barrier()
    data = np.arange(300_000) + me
    job.send(right, note, data, "end")
    until(lambda: inbox)
    source, got, word = inbox[0]
    assert source == left and word == "end" and (got == np.arange(300_000) + left).all()


def test_call():
    futures = [job.call(r, double, r + 0.5) for r in range(size)]
    assert [f.wait() for f in futures] == [2 * r + 1 for r in range(size)]
    assert job.call(right, ask_back, 5).wait() == 11
    big = job.call(right, double, np.arange(100_000)).wait()
    assert (big == 2 * np.arange(100_000)).all()


def test_call_that_raises():
    with pytest.raises(KeyError, match="word") as caught:
        job.call(right, fail, "word").wait()
    cause = caught.value.__cause__
    assert isinstance(cause, tombolo.RemoteError) and f"on rank {right}" in str(cause)
    assert "messages.py" in str(cause) and "in fail" in str(cause)
    with pytest.raises(tombolo.RemoteError, match="Odd: 1 2"):
        job.call(right, fail_oddly).wait()  # this exception cannot be pickled back
    with pytest.raises(IndexError, match="the team has ranks"):
        job.call(size, double, 1)


def test_call_of_what_is_not_there_yet():
    """The message says that the name is missing there, and what to do."""
    mine = f"late_{me}"
    exec(f"def {mine}(): return 7", globals())
    job.barrier()
    if size > 1:
        with pytest.raises(AttributeError, match=mine) as caught:
            job.call(right, globals()[mine]).wait()
        assert f"Rank {right} knows no such name" in str(caught.value.__cause__)
        assert any("before the first one" in note for note in caught.value.__notes__)
    assert job.call(me, globals()[mine]).wait() == 7


def test_poll_times_out():
    job.barrier()
    begin = time.monotonic()
    while job.poll(0.05):
        pass
    assert time.monotonic() - begin >= 0.04


def test_threads():
    a = job.zeros(400, np.int64)
    counter = job.zeros(1, np.int64)
    failed = []

    def work(t):
        try:
            for i in range(100):
                a[right, 100 * t + i] = 1000 * t + i + me
                counter.add(0, 0, 1)
                assert job.call(left, double, i).wait() == 2 * i
                assert a.get_nb(right, 100 * t + i).wait() == 1000 * t + i + me
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        job.poll(0.01)
    assert not failed
    job.barrier()
    want = [1000 * t + i + left for t in range(4) for i in range(100)]
    assert a.local.tolist() == want and counter.load(0, 0) == 400 * size
    job.barrier()


def test_threads_share_objects():
    """Several threads use one future, one semaphore, one request and one array at once."""
    a = job.array(np.full(20_000, float(me)))
    b = job.zeros((4, 50))
    posts = job.semaphore()
    failed = []

    def together(function):
        def run(t):
            try:
                function(t)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=(t,)) for t in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    for _ in range(5):
        got = a.get_nb(right)
        together(lambda t: got.wait()[t] == right or failed.append("get"))
        assert got.wait()[-1] == right
        notice = job.notification(left, 3, 4)
        together(lambda t: b.put_list(right, [t, (t, 5)], [np.full(50, t), 9]))
        together(lambda t: b.put_notify(right, (t, 0), float(t), 3))
        together(lambda t: notice.wait(30).tag == 3 or failed.append("tag"))
        together(lambda t: posts.post())
        together(lambda t: posts.wait(timeout=30))
        assert not failed and b.local[3, 5] == 9 and b.local[:, 0].tolist() == [0, 1, 2, 3]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tombolo.ForgottenWait)
            together(lambda t: [a.get_nb(right) for _ in range(5)])
        job.barrier()
    assert not posts.try_wait()
    job.barrier()


def test_other_threads_run_while_this_one_waits():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    s = job.signals(1)
    begin = len(ticks)
    with pytest.raises(TimeoutError):
        s.wait(timeout=0.2)
    assert len(ticks) > begin
    stop.set()
    thread.join()
    job.barrier()
