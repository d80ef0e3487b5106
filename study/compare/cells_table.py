# SPDX-License-Identifier: BSD-3-Clause
"""The cells: what each figure stands beside, what is wanted of it, and whether that is met.

`cells.py` measures; here are the rows, the verdicts and the table. A figure is a list of one value
for each round. A cell compares ours with the best of its peers, round by round, and takes the
median of the ratios. Without a peer its limit is a time."""
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One row. ours, peers: names of figures; unit: of both; at most `wanted`, a ratio where there
    are peers, else a value in `unit`."""
    group: str
    what: str
    ours: str
    peers: tuple
    wanted: float
    unit: str = "us"


def _sized(group, text, figure, peers, wanted, sizes):
    return [Cell(group, text.format(size // 1024), f"{figure} {size}",
                 tuple(f"{peer} {size}" for peer in peers), wanted) for size in sizes]


# Hand-offs that 0.76 us were, on the machine where the wish was written: its hand-off took 280 ns.
SLEEPER = 2.72
# Both sides make the same copy: equal within the spread of the rounds.
SAME = 1.05
HAND = ("hand-off",)
MPI_PUT = ("openmpi put_overhead", "mpich put_overhead")
MPI_MESSAGE = ("openmpi message_trip", "mpich message_trip")


# Ranks on two pretended hosts, half of them on each.
HOSTS_RANKS = (8, 16)
# Ranks there of which only the barrier is a cell.
HOSTS_BARRIER = 32
# Ranks there that exchange long blocks.
BLOCKS_RANKS = 8
# Ranks of which the waits of languages are cells.
WAITS_RANKS = (2, 4, 8)


def _hosts():
    """Collectives over hosts beside two levels by hand and MPI. By hand a split is only the
    all-gather that it needs: no team is made."""
    kinds = {"barrier": "barrier", "broadcast": "broadcast", "reduce": "reduce",
             "allreduce": "all-reduce", "gather": "gather", "allgather": "all-gather",
             "exchange": "exchange", "scan": "scan", "split": "split"}
    for ranks in HOSTS_RANKS:
        for kind, text in kinds.items():
            for size in (0,) if kind in ("barrier", "split") else (8, 1024):
                name, of = f"{kind} {size} {ranks}", f" of {size} B" if size else ""
                yield Cell("hosts", f"{text}{of}, {ranks} ranks on 2 hosts, by hand and MPI",
                           f"library {name}", (f"hand {name}", f"openmpi {name}"),
                           1.25 if kind == "split" else SAME)
    barrier = f"barrier 0 {HOSTS_BARRIER}"
    yield Cell("hosts", f"barrier, {HOSTS_BARRIER} ranks on 2 hosts, by hand and MPI",
               f"library {barrier}", (f"hand {barrier}", f"openmpi {barrier}"), SAME)
    # udp copies what has come to its place, and both sides check it.
    for conduit, wanted in (("udp", 1.2), ("ofi", SAME)):
        for size, text in ((256 << 10, "256 KiB"), (1 << 20, "1 MiB")):
            what = f"exchange of {text} in segments, {BLOCKS_RANKS} ranks on 2 hosts, {conduit}"
            yield Cell("hosts", f"{what}, processor time of all, beside MPI over TCP",
                       f"{conduit} long exchange {size}",
                       (f"openmpi long exchange {size}",), wanted)


def _waits():
    """Waits of languages beside the C calls that do the same, by turns in one job. Python makes the
    C call, too: in a function that does nothing else."""
    names = {"sync_all": "SYNC ALL", "sync_images": "SYNC IMAGES", "event_wait": "EVENT WAIT",
             "co_sum": "CO_SUM", "upc_barrier": "upc_barrier", "cxx_barrier": "C++ barrier",
             "python_barrier": "Python barrier"}
    for ranks in WAITS_RANKS:
        for name, text in names.items():
            yield Cell("waits", f"{text}, {ranks} ranks, beside C", f"{name} {ranks}",
                       (f"C of {name} {ranks}",), 1.2)


# Sizes in bytes that a put and a get by each form has in a variable.
ARRAYS = {"put": (("", "blocking", 8192), ("_nb", "NB", 1024), ("_nbi", "NBI", 2048)),
          "get": (("", "blocking", 256), ("_nb", "NB", 4096), ("_nbi", "NBI", 512))}


def _sizes():
    """Words and arrays whose size is in a variable, in ns. Fortran, which calls no inline function,
    has a limit of its own."""
    for name in ("put", "get"):
        forms = {"": "blocking", "_val": "of a value", "_nb": "NB", "_nbi": "NBI"}
        if name == "put":
            forms |= {"_nb_val": "of a value, NB", "_nbi_val": "of a value, NBI"}
        for form, of in forms.items():
            yield Cell("sizes", f"{name} {of}, size in a variable, beside memcpy",
                       f"{name}_any{form}", (f"memcpy {name}_any{form}",), SAME, "ns")
        for language, figure, text in (("shmem", f"{name}_sized_as_C", f"shmem_long_{name} of n"),
                                       ("upc", f"{name}_n", f"upc_mem{name} of n")):
            yield Cell("sizes", f"{text}, beside C", f"{language} {figure}",
                       (f"C of {language} {figure}",), 1.1, "ns")
        for form, of, size in ARRAYS[name]:
            figure = f"{name}_any{form} {size}"
            yield Cell("sizes", f"{name} of {size} B {of}, size in a variable, beside memcpy",
                       figure, (f"memcpy {figure}",), 1.1, "ns")
        yield Cell("sizes", f"{name} of a scalar, Fortran", f"fortran {name}_scalar", (), 25, "ns")
        yield Cell("sizes", f"{name} of an element, Python, beside an empty call",
                   f"python {name}", ("python call",), 2.5, "ns")


def _rates():
    """Threads beyond the processors: at most a tenth slower than the best of 1 and 2. Words beside
    copies by as many threads."""
    names = {"message": "short message", "medium_64": "medium message of 64 B",
             "put_64": "put of 64 B", "atomic": "fetch-and-add", "signal": "put with signal"}
    for name, text in names.items():
        for threads in (4, 8, 16):
            yield Cell("threads", f"{text}, {threads} threads beside 1 and 2",
                       f"{name}_{threads}", (f"{name}_1", f"{name}_2"), 1.1, "ns")
    for name in ("put", "get"):
        for threads in (2, 4):
            yield Cell("threads", f"{name} of a word, size in a variable, {threads} threads beside "
                       "memcpy", f"{name}_word_{threads}", (f"copy_word_{threads}",), SAME, "ns")


def _shmem():
    """OpenSHMEM beside that of Open MPI."""
    for figure, text in (("put 8", "put of 8 B, complete"), ("get 8", "get of 8 B"),
                         ("put 4096", "put of 4 KiB, complete"), ("get 4096", "get of 4 KiB"),
                         ("rate 8", "put of 8 B, from one to the next"),
                         ("bandwidth 1048576", "put of 1 MiB"),
                         ("get_bandwidth 1048576", "get of 1 MiB"),
                         ("fetch_add 8", "fetch-and-add"), ("compare_swap 8", "compare-and-swap"),
                         ("trip 8", "put, fence and flag there and back"), ("barrier 0", "barrier"),
                         ("broadcast 8", "broadcast of 8 B"),
                         ("broadcast 4096", "broadcast of 4 KiB"),
                         ("collect 8", "collect of 8 B"), ("sum 8", "sum of 8 B"),
                         ("sum 4096", "sum of 4 KiB")):
        yield Cell("shmem", f"SHMEM: {text}, beside Open MPI", figure, (f"oshmem {figure}",), SAME,
                   "ns")


# Ranks that rank 0 addresses in turn.
SEVERAL_PEERS = 3


def _several(conduit, put):
    """Operations to several peers in turn beside those to one: the processor time of their sender.
    in put: what is wanted of short puts."""
    for figure, text, wanted in (("put 8", "put of 8 B", put), ("message 0", "short message", 1.3),
                                 ("put 65536", "put of 64 KiB", 1.3),
                                 ("long 1048576", "long message of 1 MiB", 1.3)):
        yield Cell(conduit, f"{text} over {conduit}, to {SEVERAL_PEERS} peers in turn beside one",
                   f"{conduit} {figure} to {SEVERAL_PEERS}", (f"{conduit} {figure} to 1",), wanted)


CELLS = [
    Cell("first", "a round trip, mean of the first 20,000 of a job; beside messages by hand",
         "first", ("message by hand",), 1.25),
    Cell("first", "the same, beside those of a settled job", "first", ("settled",), 1.1),
    *_sized("medium", "medium request and reply, {} KiB, beside copies by hand", "medium_return",
            ("copies",), 1.15, (16384, 32768, 65536)),
    *_sized("medium", "medium messages one way that are copied out, {} KiB, beside copies by hand",
            "medium_flood_read", ("stream",), 1.25, (8192, 32768)),
    *_sized("medium", "medium messages both ways, copied out, {} KiB, beside copies by hand",
            "medium_both_read", ("turns",), 1.1, (8192, 16384, 32768)),
    *_sized("ops", "messages of {} KiB there and back, beside MPI", "message_trip", MPI_MESSAGE,
            0.8, (16384, 32768, 65536)),
    *_sized("ops", "starting a put of {} KiB, beside MPI_Put", "put_overhead", MPI_PUT, SAME,
            (8192, 16384, 32768, 65536, 131072)),
    Cell("barrier", "barrier of 16 ranks beside a turn of all ranks", "barrier_16", ("turn 16",),
         1.3),
    Cell("barrier", "barrier of 16 ranks beside MPI", "barrier_16",
         ("openmpi barrier_16", "mpich barrier_16"), 0.9),
    Cell("barrier", "barrier of 4 ranks beside a turn of all ranks", "barrier_4", ("turn 4",), 1.1),
    Cell("barrier", "barrier of 4 ranks beside MPI", "barrier_4",
         ("openmpi barrier_4", "mpich barrier_4"), 0.8),
    *[Cell("sleepers", f"round trip to {n} thread{'s' if n > 1 else ''} in BLOCKUNTIL, "
           "beside a hand-off", f"pingpong_1_{n}", HAND, SLEEPER) for n in (1, 2, 3, 4)],
    Cell("team", "split and destroy, 4 ranks, beside a turn of all ranks", "split", ("turn 4",), 2),
    Cell("team", "split and destroy, 4 ranks, beside MPI", "library split 0 4",
         ("openmpi split 0 4",), 0.5),
    *[Cell("coll", f"{kind} of 4 KiB, 2 ranks, beside MPI", kind,
           (f"openmpi {kind}", f"mpich {kind}"), 0.67)
      for kind in ("broadcast", "allgather", "exchange")],
    *_hosts(),
    *_waits(),
    *_sizes(),
    *_shmem(),
    Cell("udp", "put of 8 B, from one to the next", "put_gap", (), 0.15),
    Cell("udp", "put with signal of 8 B, from one to the next", "signal_gap", (), 0.3),
    Cell("udp", "round trip, beside bare UDP", "udp round_trip", ("bare UDP round_trip",), 1.25),
    Cell("udp", "round trip, beside MPI over TCP", "udp round_trip",
         ("openmpi round_trip", "mpich round_trip"), 1),
    *[Cell("udp", f"put of {size} MiB, beside bare UDP", f"stream {size << 20}",
           (f"bare UDP stream {size << 20}",), 1.3) for size in (1, 4)],
    *[Cell("udp", f"put of {size} MiB without a hash of it, beside bare UDP",
           f"open stream {size << 20}", (f"bare UDP open stream {size << 20}",), 1.1)
      for size in (1, 4)],
    *_several("udp", 1.3),
    Cell("ofi", "round trip of ofi over TCP, beside libfabric's own", "ofi round_trip",
         ("libfabric round_trip",), 1.15),
    Cell("ofi", "the same, beside MPI over TCP", "ofi round_trip",
         ("openmpi round_trip", "mpich round_trip"), 1),
    *[Cell("ofi", f"{text} of ofi over TCP, one way, beside MPI over TCP", f"ofi {name}",
           (f"openmpi {name}", f"mpich {name}"), 0.9)
      for name, text in (("flood", "short messages"), ("put", "puts of 8 B"))],
    *_several("ofi", 2),
    *_rates(),
    *[Cell("python", f"{name} from Python, 2 ranks, beside mpi4py", f"tombolo {name}",
           (f"mpi4py {name}",), wanted)
      for name, wanted in (("all-to-all 8 MiB", 0.9), ("all-to-all 8 MiB, new array", 0.9),
                           ("all-reduce 1 MiB", SAME), ("all-reduce 8 B", SAME),
                           ("barrier", SAME))],
    Cell("growth", "1024 ranks: start to the first barrier", "grow start", (), 1.0, "s"),
    Cell("growth", "1024 ranks: end", "grow end", (), 0.3, "s"),
]


def _per_round(figures, cell):
    """[(ours, best peer or None, ratio or value)] of the complete rounds."""
    rounds = []
    for index, ours in enumerate(figures.get(cell.ours, ())):
        peers = [figures[p][index] for p in cell.peers
                 if index < len(figures.get(p, ())) and figures[p][index]]
        if ours is None or (cell.peers and not peers):
            continue
        rounds.append((ours, min(peers, default=None), ours / min(peers) if peers else ours))
    return rounds


def judge(cell, figures):
    """The record of a cell. figures: {group: {name: [value or None of each round]}}."""
    rounds = _per_round(figures.get(cell.group, {}), cell)
    record = {"group": cell.group, "what": cell.what, "unit": cell.unit, "wanted": cell.wanted,
              "is": "ratio" if cell.peers else "value", "rounds": len(rounds), "ours": None,
              "peer": None, "found": None, "least": None, "most": None, "met": None}
    if not rounds:
        return record
    ratios = [r for _, _, r in rounds]
    found = statistics.median(ratios)
    peers = [p for _, p, _ in rounds if p is not None]
    record.update(ours=statistics.median(o for o, _, _ in rounds), found=found, least=min(ratios),
                  most=max(ratios), peer=statistics.median(peers) if peers else None,
                  met=found <= cell.wanted)
    return record


def judge_all(figures, groups=None):
    return [judge(cell, figures) for cell in CELLS if not groups or cell.group in groups]


def number(value):
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def words_of(record):
    """The cells of a row of the table, as text."""
    unit = record["unit"]
    ratio, limit = number(record["found"]), f"<= {number(record['wanted'])}"
    spread = f" ({number(record['least'])} to {number(record['most'])})" \
        if record["rounds"] > 1 else ""
    verdict = {None: "not measured", True: "met", False: "missed"}[record["met"]]
    if record["is"] == "value":
        limit += f" {unit}"
        ratio = "" if record["met"] is None else "-"
    ours = "-" if record["ours"] is None else f"{number(record['ours'])} {unit}"
    peer = "-" if record["peer"] is None else f"{number(record['peer'])} {unit}"
    return [record["what"], ours, peer, ratio + (spread if record["is"] == "ratio" else ""), limit,
            verdict]


HEADS = ("what", "ours", "peer", "ratio", "wanted", "")


def summary(records):
    met, missed = (sum(r["met"] is state for r in records) for state in (True, False))
    left = len(records) - met - missed
    return f"{met} met, {missed} missed" + (f", {left} not measured" if left else "")


def text_table(records):
    """For a terminal."""
    rows = [list(HEADS), *map(words_of, records)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows) + f"\n\n{summary(records)}"


def markdown(data):
    """The section of study/RESULTS.md."""
    about = data["about"]
    lines = [f"`make cells`, {about['date']}, revision {about['revision']}; {about['machine']}; "
             f"hand-off {number(data['handoff_ns'])} ns, load {about['load']}, "
             f"{data['rounds']} rounds: **{summary(data['records'])}.**", "",
             "| what | ours | peer | ratio, least to most | wanted | |",
             "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(words_of(r)) + " |" for r in data["records"]]
    return "\n".join(lines) + "\n"
