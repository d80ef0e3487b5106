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
SCALE = 4  # pixels of a point in pictures
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


def palette():
    """256 colours from black over violet and orange to white; the last one is that of lines."""
    stops = [(0, 0, 4), (80, 18, 123), (183, 55, 121), (252, 137, 97), (252, 253, 191)]
    at = np.linspace(0, len(stops) - 1, 256)
    colours = [np.interp(at, range(len(stops)), [s[c] for s in stops]) for c in range(3)]
    table = np.array(colours).T.astype(np.uint8)
    table[255] = (90, 200, 200)
    return table.tobytes()


def picture(frame, ranks):
    """A temperature as numbers of colours, SCALE times as large, with a line between two ranks."""
    numbers = np.clip(frame * 2.54, 0, 254).astype(np.uint8)
    large = numbers.repeat(SCALE, 0).repeat(SCALE, 1)
    for rank in range(1, ranks):
        large[rank * len(large) // ranks, ::4] = 255
    return large


def animation(frames, ranks):
    """The bytes of an animated PNG, 15 pictures a second."""
    height, width = (SCALE * n for n in frames[0].shape)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", palette())
    out += chunk(b"acTL", struct.pack(">II", len(frames), 0))
    number = 0
    for i, frame in enumerate(frames):
        rows = b"".join(b"\0" + row.tobytes() for row in picture(frame, ranks))
        place = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, 1, 15, 0, 0)
        out += chunk(b"fcTL", place)
        number += 1
        data = zlib.compress(rows)
        if i == 0:
            out += chunk(b"IDAT", data)
        else:
            out += chunk(b"fdAT", struct.pack(">I", number) + data)
            number += 1
    return out + chunk(b"IEND", b"")


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
            with open(options.animate, "wb") as file:
                file.write(animation(frames, job.size))
            print(f"{len(frames)} pictures in {options.animate}")
    job.barrier()


if __name__ == "__main__":
    main()
