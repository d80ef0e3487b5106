# SPDX-License-Identifier: BSD-3-Clause
"""What study/simulate.py asks `tombolo sim`: {set: {key: words of the command line}}.

A key is a tuple that says what varies; study/sim_specs.py and the tables of simulate.py find the
results by it. `quick`: fewer sizes. Nothing is run here.
"""
MACHINES = ("torus", "fat-tree", "dragonfly", "ethernet")
NOTICES = ("sync-all", "sync-images", "queue", "flag", "atomic", "signal", "message")
STRONG = "2048x1024x1024"
WEAK = {256: "1024x512x512", 512: "1024x1024x512", 1024: "1024x1024x1024", 2048: "2048x1024x1024",
        4096: "2048x2048x1024", 8192: "2048x2048x2048", 16384: "4096x2048x2048"}
FT_WAYS = ("slabs", "collective", "packed", "slabs2", "packed2")


def powers(first, last, step=2):
    out = []
    while first <= last:
        out.append(first)
        first *= step
    return out


def ft(machine, ranks, points, way, *more):
    return ["ft", "--machine", machine, "--ranks", ranks, "--points", points, "--way", way,
            "--flows", "share", *more]


def strong_set(quick):
    ranks = (256, 1024, 4096) if quick else powers(256, 16384)
    return {(way, n): ft("torus", n, STRONG, way) for n in ranks for way in (*FT_WAYS, "signal")}


def weak_set(quick):
    return {(way, n): ft("torus", n, points, way) for n, points in WEAK.items() for way in FT_WAYS
            if not quick or n in (256, 16384)}


def bounds_set(quick):
    """The estimate that results depend on most, the speed of a core's transforms, is varied."""
    ranks = (256, 4096) if quick else powers(256, 4096)
    return {(f, way, n): ft("torus", n, STRONG, way, "--set", f"fft_fraction={f}") for n in ranks
            for way in ("slabs", "slabs2", "packed2") for f in (0.1, 0.3)}


def links_set(quick):
    sizes = (512, 8192, 1 << 20) if quick else powers(64, 1 << 20)
    counts = (1, 2, 4, 6) if quick else (1, 2, 3, 4, 5, 6)
    return {(way, links, size): ["links", "--machine", "torus", "--ranks", 2048, "--links", links,
                                 "--bytes", size, "--way", way, "--count", 128]
            for size in sizes for links in counts for way in ("put", "message")}


def native(kind, net, ranks, size):
    return ["native", "--machine", "torus", "--ranks", ranks, "--bytes", size, "--kind", kind,
            "--algorithm", net]


def collective(kind, ranks, size, *more):
    return ["collective", "--machine", "torus", "--kind", kind, "--ranks", ranks, "--bytes", size,
            *more]


P2P = ("--way", "message", "--levels", "1", "--algorithm")


def collective_set(quick):
    """By size, on one number of ranks."""
    size, sizes = (256, (8, 8192)) if quick else (1024, (8, 64, 512, 4096, 8192, 65536))
    asked = {}
    for n in sizes:
        for kind, algorithm in (("broadcast", "knomial:2"), ("allreduce", "doubling")):
            for net in ("tree", "torus"):
                asked[kind, net, n] = native(kind, net, size, n)
            asked[kind, "point-to-point", n] = collective(kind, size, n, *P2P, algorithm)
            asked[kind, "this library", n] = collective(kind, size, n)
    for n in (512, 8192) if quick else (8, 64, 512, 2048, 8192):
        ranks = 64 if quick else 128
        asked["exchange", "native", n] = collective("exchange", ranks, n, "--native")
        asked["exchange", "point-to-point", n] = collective("exchange", ranks, n, *P2P, "pairwise")
        asked["exchange", "this library", n] = collective("exchange", ranks, n)
    return asked


def rank_set(quick):
    """Broadcast and all-reduce of 8 bytes and 32 KiB by ranks; exchange of 512 bytes."""
    asked = {}
    for n in (64, 256) if quick else powers(16, 4096, 4):
        for size in (8, 32768):
            for kind, algorithm in (("broadcast", "knomial:2"), ("allreduce", "doubling")):
                for net in ("tree", "torus"):
                    asked[kind, net, size, n] = native(kind, net, n, size)
                asked[kind, "point-to-point", size, n] = collective(kind, n, size, *P2P, algorithm)
                asked[kind, "this library", size, n] = collective(kind, n, size)
    for n in (16, 64) if quick else powers(8, 128):
        asked["exchange", "native", 512, n] = collective("exchange", n, 512, "--native")
        asked["exchange", "point-to-point", 512, n] = collective("exchange", n, 512, *P2P,
                                                                 "pairwise")
        asked["exchange", "this library", 512, n] = collective("exchange", n, 512)
    return asked


def trip_set(quick):
    sizes = (8, 8192) if quick else (8, 512, 8192, 65536)
    return {(m, way, n): ["message", "--machine", m, "--ranks", 256, "--bytes", n, "--way", way]
            for m in MACHINES for n in sizes
            for way in ("put", "message", "signal", "put-then-signal")}


def change_set(quick):
    """Results with and without put with signal, two levels, grids and rails, on every machine."""
    ranks, asked = 1024, {}
    for m in MACHINES:
        for way in ("slabs", "signal", "packed", "slabs2", "packed2"):
            asked[m, "ft", way] = ft(m, ranks, "1024x1024x1024", way)
        asked[m, "ft", "1d"] = ft(m, ranks, "1024x1024x1024", "slabs", "--grid", "1d")
        for rails in (2, 4):
            asked[m, "ft", f"rails{rails}"] = ft(m, ranks, "1024x1024x1024", "slabs", "--set",
                                                 f"rails={rails}")
        for kind, n in (("sync", 1), ("allreduce", 8), ("broadcast", 8192)):
            for levels in (1, 2):
                asked[m, kind, levels] = ["collective", "--machine", m, "--ranks",
                                          256 if quick else ranks, "--kind", kind, "--bytes", n,
                                          "--levels", levels, "--times", 5]
    return asked


def pipeline_set(quick):
    """(way, grid, ranks): strong scaling of the published grid; all grids on some ranks."""
    def words(way, grid, ranks):
        return ["pipeline", "--machine", "aries", "--rows", grid, "--columns", grid, "--ranks",
                ranks, "--way", way]

    asked = {(way, 32768, n): words(way, 32768, n) for way in NOTICES
             for n in ((64, 1024) if quick else powers(32, 16384))}
    for grid in (400, 3200) if quick else (400, 800, 1600, 3200, 6400, 12800, 32768):
        asked |= {(way, grid, 128): words(way, grid, 128) for way in NOTICES}
    return asked


def event_set(quick):
    """(way, machine, bytes)"""
    sizes = (8, 8192) if quick else powers(8, 1 << 20)
    return {(way, m, n): ["event", "--machine", m, "--ranks", 256, "--bytes", n, "--way", way]
            for way in NOTICES[2:] for m in ("torus", "aries", "dragonfly", "ethernet")
            for n in (sizes if m == "aries" else (8,))}


def stencil_set(quick):
    """(strong, alone or weak, way, overlap, ranks); alone: strong with one rank a node."""
    asked = {}
    for way in ("signal", "flag", "queue", "message"):
        for overlap in (1, 0):
            for n in (64, 1024) if quick else powers(32, 16384):
                words = ["stencil", "--machine", "aries", "--ranks", n, "--width", 1, "--times", 4,
                         "--way", way, "--overlap", overlap, "--rows"]
                asked["strong", way, overlap, n] = [*words, 65536, "--columns", 65536, "--grid",
                                                    "1d"]
                if n <= 2048:
                    asked["alone", way, overlap, n] = [*asked["strong", way, overlap, n], "--set",
                                                       "cores_per_node=1"]
                # A square of 512 x 512 points a rank.
                side = 1 << ((n.bit_length() - 1) // 2)
                asked["weak", way, overlap, n] = [*words, 512 * side, "--columns",
                                                  512 * (n // side)]
    return asked


def hydro_set(quick):
    """(way, ranks): the published input bm32, 7680 x 3840 cells."""
    return {(way, n): ["hydro", "--machine", "aries-manycore", "--rows", 3840, "--columns", 7680,
                       "--times", 4, "--ranks", n, "--way", way]
            for way in NOTICES[:6] for n in ((64, 512) if quick else powers(16, 16384))}


def atomic_set(quick):
    """(machine, executor, place, ranks)"""
    asked = {}
    for m, means in (("aries", "nic"), ("aries", "owner"), ("torus", "owner")):
        for place in ("hot", "spread"):
            for n in (1, 64, 1024) if quick else powers(1, 8192):
                asked[m, means, place, n] = ["fetch-add", "--machine", m, "--ranks", n, "--kind",
                                             place, "--algorithm", means, "--count", 16]
    # One between nodes: two nodes of one rank.
    return asked | {("aries", means, "next", 2): [
        "fetch-add", "--machine", "aries", "--ranks", 2, "--kind", "next", "--algorithm", means,
        "--set", "cores_per_node=1"] for means in ("nic", "owner")}


def barrier_set(quick):
    """(machine, algorithm, ranks)"""
    asked = {}
    for m, names in (("torus", ("interrupt", "torus", "nodes", "dissemination", "binomial")),
                     ("aries", ("nodes", "dissemination", "binomial"))):
        for name in names:
            for n in (4, 256, 4096) if quick else powers(4, 16384):
                asked[m, name, n] = ["barrier", "--machine", m, "--ranks", n, "--algorithm", name]
    return asked


# This machine by study/GROWTH.md: all ranks share two processors, without a network between them.
ONE_HOST = ["--set", "shared_processors=2", "--set", "join_s=0.44e-3", "--set",
            "join_peer_s=0.49e-6", "--set", "peer_bytes=61", "--set", "cores_per_node=4096"]


def start_set(quick):
    """(machine, ranks)"""
    asked = {("one host", n): ["start", "--machine", "ethernet", "--ranks", n, *ONE_HOST]
             for n in powers(1, 1024, 16 if quick else 2)}
    return asked | {("ethernet", n): ["start", "--machine", "ethernet", "--ranks", n]
                    for n in powers(16, 16384, 4 if quick else 2)}


def dense_set(quick):
    """(application, way, order)"""
    return {(app, way, n): [app, "--machine", "torus", "--ranks", 256, "--rows", n, "--block", 64,
                            "--way", way]
            for app in ("matmul", "cholesky") for way in ("collective", "hand", "library")
            for n in ((4096, 8192) if quick else powers(2048, 32768))}


def machine_set(_quick):
    return {("torus",): ["machine", "--machine", "torus"]}


SETS = {"machine": machine_set,
        "pipeline": pipeline_set, "events": event_set, "stencil": stencil_set,
        "hydro": hydro_set, "atomics": atomic_set, "barriers": barrier_set, "dense": dense_set,
        "start": start_set,
        "strong": strong_set, "weak": weak_set, "bounds": bounds_set, "links": links_set,
        "collectives": collective_set, "byranks": rank_set, "trips": trip_set,
        "changes": change_set}
