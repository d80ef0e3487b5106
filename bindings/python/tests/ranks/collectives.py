# SPDX-License-Identifier: BSD-3-Clause
"""Collectives against NumPy's answers, on every type and operator; teams; any object."""

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
REDUCED = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def parts(dtype, shape=(5,)):
    """What each rank gives; every rank can compute all of it."""
    rng = np.random.default_rng(7)
    return [rng.integers(1, 5, shape).astype(dtype) for _ in range(size)]


def fold(ufunc, arrays):
    result = arrays[0]
    for other in arrays[1:]:
        result = ufunc(result, other).astype(arrays[0].dtype)
    return result


@pytest.mark.parametrize("dtype", TYPES + ["c8", "c16"])
def test_reductions(dtype):
    given = parts(dtype, (3, 2))
    for op, ufunc in REDUCED.items():
        if dtype[0] == "c" and op not in ("sum", "prod"):
            continue
        if dtype[0] == "f" and op in ("and", "or", "xor"):
            continue
        want = fold(ufunc, given)
        got = job.allreduce(given[me], op)
        assert got.dtype == want.dtype and (got == want).all(), op
        root = size - 1
        got = job.reduce(given[me], op, root)
        assert (got is None) == (me != root)
        assert me != root or (got == want).all()
        assert (job.scan(given[me], op) == fold(ufunc, given[: me + 1])).all()
    got = job.exscan(given[me])
    assert (got == (fold(np.add, given[:me]) if me else 0)).all()


def test_bool_and_numbers():
    assert job.allreduce(True, "and") is True
    assert job.allreduce(me == 0, "or") is True and job.allreduce(False, "max") is False
    assert job.allreduce(me + 0.5) == size * (size - 1) / 2 + size / 2
    assert job.allreduce(me, "max") == size - 1 and type(job.allreduce(1)) is int
    with pytest.raises(TypeError, match="op sum of bool"):
        job.allreduce(True)


def test_own_operators():
    given = parts("f8")
    want = np.logaddexp.reduce(given)
    assert np.allclose(job.allreduce(given[me], np.logaddexp), want)
    # not commutative: the order of ranks is kept
    text = np.array([10.0 ** me * (me + 1)])
    assert job.allreduce(text, lambda x, y: x)[0] == 1
    assert job.scan(text, lambda x, y: y)[0] == text[0]
    if size > 1:
        with pytest.raises(ZeroDivisionError):
            job.allreduce(given[me], lambda x, y: 1 // 0)
        with pytest.raises(ValueError, match="returned shape"):
            job.allreduce(given[me], lambda x, y: x[:1])


def test_moves():
    given = parts("i4", (2, 3))
    root = size // 2
    data = given[root].copy() if me == root else np.empty((2, 3), np.int32)
    assert job.bcast(data, root) is data and (data == given[root]).all()
    assert (job.allgather(given[me]) == np.array(given)).all()
    got = job.gather(given[me], root)
    assert (got is None) == (me != root) and (got is None or (got == np.array(given)).all())
    out = np.empty((2, 3), np.int32)
    job.scatter(np.array(given) if me == root else None, out, root)
    assert (out == given[me]).all()
    rows = np.arange(size * 2).reshape(size, 2) + 100 * me
    want = np.array([np.arange(2) + 2 * me + 100 * r for r in range(size)])
    assert (job.alltoall(rows) == want).all()
    total = job.reduce_scatter(rows)
    assert (total == size * (np.arange(2) + 2 * me) + 100 * sum(range(size))).all()
    assert (job.allgather(given[me].T) == np.array([g.T for g in given])).all()  # not contiguous


def test_out_and_errors():
    out = np.empty(3)
    assert job.allreduce(np.ones(3), out=out) is out and (out == size).all()
    with pytest.raises(ValueError, match=r"out has shape .*; give \(3,\)"):
        job.allreduce(np.ones(3), out=np.empty(4))
    with pytest.raises(ValueError, match="op is 'mean'; give one of"):
        job.allreduce(np.ones(3), "mean")
    with pytest.raises(TypeError, match="bcast_object"):
        job.bcast([1, 2])
    with pytest.raises(TypeError, match="allgather_object"):
        job.allgather(["a", object()])
    with pytest.raises(ValueError, match="first axis must be"):
        job.alltoall(np.zeros((size + 1, 2)))
    with pytest.raises(IndexError, match=f"rank {size}; the team has"):
        job.gather(np.zeros(2), size)


def test_futures_of_collectives():
    first = job.allreduce_nb(np.full(4, me))
    second = job.allgather_nb(np.array([me]))
    third = job.barrier_nb()
    assert (second.wait()[:, 0] == np.arange(size)).all()
    assert (first.wait() == sum(range(size))).all()
    assert third.wait() is None and third.done()


def test_large():
    data = np.arange(200_000, dtype=float) * (me + 1)
    want = np.arange(200_000, dtype=float) * sum(range(1, size + 1))
    assert np.allclose(job.allreduce(data), want)


def test_objects():
    assert job.bcast_object({"from": me, "x": [1, 2]}, size - 1) == {"from": size - 1, "x": [1, 2]}
    assert job.allgather_object("r" * me) == ["r" * r for r in range(size)]


def test_teams():
    team = job.split(me % 2, -me)  # in falling order
    members = [r for r in range(size) if r % 2 == me % 2][::-1]
    assert team.size == len(members) and members[team.rank] == me
    assert [team.job_rank(r) for r in range(team.size)] == members
    assert team.allreduce(me) == sum(members)
    a = team.zeros(2, np.int64)
    a[(team.rank + 1) % team.size, 0] = me + 1
    team.barrier()
    assert a.local[0] == members[team.rank - 1] + 1
    assert a.fetch_add(0, 1, 1) < team.size
    team.barrier()
    assert a.load(0, 1) == team.size
    team.barrier()
    none = job.split(-1 if me == 0 else 1)
    assert (none is None) == (me == 0)
    a.free()
    team.free()
    with pytest.raises(ValueError, match="the team has been freed"):
        team.barrier()
    with pytest.raises(ValueError, match="cannot be freed"):
        job.free()
