# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays in files: those of numpy.save, HDF5 and Zarr; `Files` is a base of DistArray.

The folder is one that all members see. Every call is collective: where a member fails, all raise.
Each member reads and writes its own rows: at the same time, but for the writing of HDF5, whose
library permits one writer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ._errors import package

if TYPE_CHECKING:
    from ._job import Team

T = TypeVar("T")
Path = str | os.PathLike[str]

open_memmap: Any = vars(np.lib.format)["open_memmap"]  # NumPy has no types for it


def together(team: Team, step: Callable[[], T]) -> T:
    """Runs a step on every member; where one fails, all raise."""
    error, result = None, None
    try:
        result = step()
    except Exception as raised:
        error = raised
    texts = team.allgather_object(None if error is None else f"{type(error).__name__}: {error}")
    if error is not None:
        raise error
    for rank, text in enumerate(texts):
        if text is not None:
            raise OSError(f"rank {rank}: {text}")
    return result  # type: ignore[return-value]


class Files:
    """What distributed arrays do with files."""

    team: Team
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __init__(self, team: Team, shape: Any, dtype: Any, halo: int) -> None:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    @property
    def rows(self) -> range:
        """Rows that this rank owns."""
        raise NotImplementedError

    @property
    def local(self) -> np.ndarray[Any, Any]:
        """This rank's rows, without a copy."""
        raise NotImplementedError

    @classmethod
    def _read(cls, team: Team, halo: int, source: Any) -> Self:
        """A new array with the elements of a file, which is open as an array."""
        made = cls(team, tuple(source.shape), source.dtype, halo)

        def read() -> None:
            made.local[...] = source[made.rows.start : made.rows.stop]

        together(team, read)
        return made

    def save(self, path: Path) -> None:
        """Writes a file of numpy.save, every member its rows; collective."""

        def create() -> None:
            if self.team.rank == 0:
                open_memmap(path, "w+", self.dtype, self.shape)

        def write() -> None:
            if self.local.size:
                target = open_memmap(path, "r+")
                target[self.rows.start : self.rows.stop] = self.local
                target.flush()

        together(self.team, create)
        together(self.team, write)

    @classmethod
    def load(cls, team: Team, path: Path, halo: int = 0) -> Self:
        """Reads a file of numpy.save, every member its rows; collective."""
        source = together(team, lambda: np.load(path, mmap_mode="r"))
        return cls._read(team, halo, source)

    def save_hdf5(self, path: Path, name: str = "data") -> None:
        """Writes a dataset of a new HDF5 file, the members in turn (package h5py); collective."""
        h5py = together(self.team, lambda: package("h5py", "save_hdf5"))

        def write() -> None:
            with h5py.File(path, "w" if turn == 0 else "r+") as file:
                if turn == 0:
                    file.create_dataset(name, self.shape, self.dtype)
                file[name][self.rows.start : self.rows.stop] = self.local

        for turn in range(self.team.size):
            together(self.team, write if turn == self.team.rank else lambda: None)

    @classmethod
    def load_hdf5(cls, team: Team, path: Path, name: str = "data", halo: int = 0) -> Self:
        """Reads a dataset of an HDF5 file, every member its rows (package h5py); collective."""
        h5py = together(team, lambda: package("h5py", "load_hdf5"))
        file = together(team, lambda: h5py.File(path, "r"))
        with file:
            return cls._read(team, halo, together(team, lambda: file[name]))

    def save_zarr(self, path: Path) -> None:
        """Writes a Zarr array, every member one chunk (package zarr); collective."""
        zarr = together(self.team, lambda: package("zarr", "save_zarr"))
        most = max(1, -(-self.shape[0] // self.team.size))
        chunks = (most, *(max(1, n) for n in self.shape[1:]))

        def create() -> None:
            if self.team.rank == 0:
                zarr.open(
                    str(path), mode="w", shape=self.shape, chunks=chunks, dtype=self.dtype
                )

        def write() -> None:  # a chunk has rows of one member, or also some of the next one
            begin = self.team.rank * most
            rows = self[begin : begin + most]
            if rows.size:
                zarr.open(str(path), mode="r+")[begin : begin + len(rows)] = rows

        together(self.team, create)
        together(self.team, write)

    @classmethod
    def load_zarr(cls, team: Team, path: Path, halo: int = 0) -> Self:
        """Reads a Zarr array, every member its rows (package zarr); collective."""
        zarr = together(team, lambda: package("zarr", "load_zarr"))
        return cls._read(team, halo, together(team, lambda: zarr.open(str(path), mode="r")))
