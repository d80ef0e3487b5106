# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a plate: rows are dealt out, and edges go to the neighbours by put with signal.

    python -m tombolo run -n 4 halo.py [--steps 200] [--rows 96] [--animate plate.png]

No barrier in the loop: a rank waits for the edges of its two neighbours only. The result is
compared with the same computation on one rank. --animate writes an animated PNG, which any browser
shows.
"""

import argparse
import struct
import zlib

import numpy as np

import tombolo

COLUMNS = 64
EDGE, READ = 0, 2  # signals: an edge has come from above (0) or below (1); it was read (2, 3)


def step(u):
    """One step of the heat equation on the inner points of u, which has a border of one."""
    inner = u[1:-1, 1:-1]
    return inner + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner)


def start(rows):
    plate = np.zeros((rows + 2, COLUMNS + 2))
    plate[rows // 4 : rows // 2, COLUMNS // 4 : COLUMNS // 2] = 100.0
    plate[:, 0] = 25.0
    return plate


def alone(rows, steps):
    plate = start(rows)
    for _ in range(steps):
        plate[1:-1, 1:-1] = step(plate)
    return plate[1:-1, 1:-1]


class Slab:
    """The rows of one rank, with a row of each neighbour above and below."""

    def __init__(self, job, rows):
        self.job = job
        self.rows = rows // job.size
        self.u = job.zeros((self.rows + 2, COLUMNS + 2))
        self.signals = job.signals(4)
        first = job.rank * self.rows
        self.u.local[...] = start(rows)[first : first + self.rows + 2]
        self.above = job.rank - 1 if job.rank > 0 else None
        self.below = job.rank + 1 if job.rank < job.size - 1 else None
        job.barrier()
        for side, rank in ((0, self.above), (1, self.below)):
            if rank is not None:
                self.signals.signal(rank, READ + 1 - side)  # its first edge may come

    def exchange(self):
        """Sends my edges, and waits for those of the neighbours."""
        u = self.u.local
        for side, rank, mine, there in (
            (0, self.above, 1, self.rows + 1),
            (1, self.below, self.rows, 0),
        ):
            if rank is not None:
                self.signals.consume(READ + side)  # the neighbour has used the last one
                self.u.put_signal(rank, there, u[mine], self.signals, EDGE + 1 - side)
        for side, rank in ((0, self.above), (1, self.below)):
            if rank is not None:
                self.signals.consume(EDGE + side)

    def advance(self):
        """One step. Afterwards the neighbours may send their next edges."""
        self.exchange()
        u = self.u.local
        u[1:-1, 1:-1] = step(u)
        for side, rank in ((0, self.above), (1, self.below)):
            if rank is not None:
                self.signals.signal(rank, READ + 1 - side)

    def whole(self):
        """The plate on rank 0; None elsewhere."""
        parts = self.job.gather(self.u.local[1:-1, 1:-1])
        return None if parts is None else parts.reshape(-1, COLUMNS)


def chunk(name, data):
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def write_animation(path, frames):
    """An animated PNG of gray pictures, 25 a second."""
    height, width = frames[0].shape
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    out += chunk(b"acTL", struct.pack(">II", len(frames), 0))
    number = 0
    for i, frame in enumerate(frames):
        gray = np.clip(frame * 2.55, 0, 255).astype(np.uint8)
        rows = b"".join(b"\0" + row.tobytes() for row in gray)
        place = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, 1, 25, 0, 0)
        out += chunk(b"fcTL", place)
        number += 1
        data = zlib.compress(rows)
        if i == 0:
            out += chunk(b"IDAT", data)
        else:
            out += chunk(b"fdAT", struct.pack(">I", number) + data)
            number += 1
    with open(path, "wb") as file:
        file.write(out + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument("--animate", metavar="FILE", help="write an animated PNG")
    options = parser.parse_args()
    job = tombolo.init()
    if options.rows % job.size:
        parser.error(f"--rows {options.rows}: give a multiple of the {job.size} ranks")
    slab = Slab(job, options.rows)
    frames = []
    for i in range(options.steps):
        if options.animate and i % 4 == 0:
            frames.append(slab.whole())
        slab.advance()
    plate = slab.whole()
    if job.rank == 0:
        assert np.array_equal(plate, alone(options.rows, options.steps))
        print(f"{options.steps} steps of {plate.shape} points on {job.size} ranks: as on one rank")
        if options.animate:
            write_animation(options.animate, frames)
            print(f"{len(frames)} pictures in {options.animate}")
    job.barrier()


main()
