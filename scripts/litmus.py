#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the memory orders of lock-free structures by their core patterns, tests/litmus/*.litmus.

Usage: litmus.py [--check | --table] [NAME]...
Of each pattern all executions are tried that the memory model of C allows (litmus_model.py). The
outcome `forbidden` must not be among them, nor a race of plain accesses; each outcome `sometimes`
must be. Then each order is weakened by one step, one at a time: the forbidden outcome must become
possible, or the statement says `spare`. So the file says which orders a structure needs.
Statements quote the source (@ FILE FUNCTION: TEXT). The text must stand in that function, in the
same sequence, with an operation of the same name and order. `--check` looks only at that;
`--table` prints docs/MEMORY_ORDERS.md's table.
docs/MEMORY_ORDERS.md describes the files.
"""

import argparse
import itertools
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from litmus_model import READS, WRITES, Event, Frame
from litmus_read import Wrong, all_statements, compiled, read_pattern

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "litmus"
PAGE = ROOT / "docs" / "MEMORY_ORDERS.md"
UPDATES = {
    "xchg": lambda old, new: new,
    "fetch_add": lambda old, new: old + new,
    "fetch_sub": lambda old, new: old - new,
    "fetch_or": lambda old, new: old | new,
    "fetch_and": lambda old, new: old & new,
}
WEAKER = {  # of accesses
    ("load", "seq"): ["acq"],
    ("store", "seq"): ["rel"],
    (None, "seq"): ["acq_rel"],
    (None, "acq_rel"): ["acq", "rel"],
    (None, "acq"): ["rlx"],
    (None, "rel"): ["rlx"],
}


class Registers:
    """What the registers of a thread hold at the end; None: never set."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        return None


# ---- the traces of a thread


@dataclass
class Trace:
    """What a thread has done so far."""

    events: tuple
    registers: dict
    origin: dict  # register -> indices of the loads that its value comes from
    control: frozenset  # indices of the loads that conditions have looked at
    barriers: tuple = ()  # position of each membarrier's first fence
    ends: bool = True  # False: an `assume` was false; it only gives values


class Machine:
    """Runs the statements of one thread; a load gives each value that its place may have."""

    def __init__(self, thread, domain):
        self.thread, self.domain = thread, domain

    def run(self, statements, trace):
        """All traces that go on from `trace`."""
        if not statements:
            yield trace
            return
        first, rest = statements[0], statements[1:]
        if first.verb in ("if", "assume"):
            value, sources = self.value(first.values[0], trace)
            trace = replace(trace, control=trace.control | sources)
            if first.verb == "assume":
                yield from self.run(rest, trace) if value else [replace(trace, ends=False)]
            else:
                yield from self.run((first.body if value else first.other) + rest, trace)
            return
        for after in self.step(first, trace):
            yield from self.run(rest, after)

    @staticmethod
    def value(expression, trace):
        """Value of an expression, and the loads that it depends on."""
        code, names = expression
        sources = frozenset().union(*(trace.origin.get(name, ()) for name in names))
        return int(eval(code, {"__builtins__": {}}, trace.registers)), sources

    def add(self, trace, *events):
        """The trace with further events."""
        return replace(trace, events=trace.events + events)

    def set(self, trace, register, value, sources):
        """The trace with another value of a register."""
        if not register:
            return trace
        return replace(
            trace,
            registers={**trace.registers, register: value},
            origin={**trace.origin, register: sources},
        )

    def step(self, s, trace):
        """All traces after one statement."""
        if s.verb == "set":
            value, sources = self.value(s.values[0], trace)
            yield self.set(trace, s.to, value, sources)
        elif s.verb == "fence":
            yield self.add(trace, Event(self.thread, 0, s.order))
        elif s.verb == "membarrier":
            here = len(trace.events)
            fences = [Event(self.thread, 0, "seq", barrier=True) for _ in range(2)]
            yield replace(self.add(trace, *fences), barriers=trace.barriers + (here,))
        elif s.verb == "store":
            value, sources = self.value(s.values[0], trace)
            after = tuple(sources | trace.control)
            yield self.add(trace, Event(self.thread, WRITES, s.order, s.place, 0, value, after))
        elif s.verb == "futex_wait":
            yield from self.futex_wait(s, trace)
        elif s.verb == "futex_wake":  # the kernel's fence, then its look whether somebody sleeps
            trace = self.add(trace, Event(self.thread, 0, "seq"))
            yield from self.access(replace(s, verb="load", place="~" + s.place), trace)
        else:
            yield from self.access(s, trace)

    def futex_wait(self, s, trace):
        """The kernel says that somebody sleeps, and then compares the word."""
        expected, sources = self.value(s.values[0], trace)
        count = replace(s, verb="fetch_add", place="~" + s.place, to="", values=(COUNT_ONE,))
        for counted in self.access(count, trace):
            for after in self.access(replace(s, verb="load", to="~seen"), counted):
                seen = after.registers["~seen"]
                yield self.set(after, s.to, int(seen == expected), sources)

    def access(self, s, trace):
        """A load, an update, or a compare and swap."""
        here = len(trace.events)
        values = [self.value(expression, trace) for expression in s.values]
        sources = frozenset().union(trace.control, *(from_ for _, from_ in values))
        for old in self.domain[s.place]:
            order, kind, new = s.order, READS | WRITES, 0
            if s.verb == "load" or (s.verb == "cas" and old != values[0][0]):
                kind = READS
                if s.verb == "cas":
                    order = {"rel": "rlx", "acq_rel": "acq", "acq": "rlx"}.get(order, order)
            elif s.verb == "cas":
                new = values[1][0]
            else:
                new = UPDATES[s.verb](old, values[0][0])
            after = tuple(sources) if kind & WRITES else ()
            event = Event(self.thread, kind, order, s.place, old, new, after)
            yield self.set(self.add(trace, event), s.to, old, frozenset({here}))


COUNT_ONE = compiled("1", 0)


def traces_of(pattern):
    """For each thread its possible traces, by growing the sets of values until all are there."""
    initial = dict(pattern.initial)
    for statements in pattern.threads.values():
        for s in all_statements(statements):
            if s.verb.startswith("futex"):
                initial["~" + s.place] = 0
    # How many stores a value comes through; a place has no more than its statements make.
    depth = {(place, value): 0 for place, value in initial.items()}
    most = dict.fromkeys(initial, 0)
    for statements in pattern.threads.values():
        for s in all_statements(statements):
            for place in (s.place, "~" + s.place):
                if place in most:
                    most[place] += 1
    while True:
        domain = {place: [] for place in initial}
        for place, value in sorted(depth):
            domain[place].append(value)
        traces = [
            list(Machine(i, domain).run(statements, Trace((), {}, {}, frozenset())))
            for i, statements in enumerate(pattern.threads.values())
        ]
        before = dict(depth)
        for event in (e for lines in traces for trace in lines for e in trace.events):
            if event.kind & WRITES:
                at = 1 + (before[event.place, event.read] if event.kind & READS else 0)
                key = event.place, event.written
                if at <= most[event.place] and at < depth.get(key, at + 1):
                    depth[key] = at
        if depth == before:
            return [[t for t in lines if t.ends] for lines in traces], initial


def has_sources(combination, initial):
    """Whether each value that is read is one that is written."""
    written = set(initial.items())
    reads = set()
    for trace in combination:
        for e in trace.events:
            if e.kind & WRITES:
                written.add((e.place, e.written))
            if e.kind & READS:
                reads.add((e.place, e.read))
    return reads <= written


# ---- executions


def frames_of(combination, initial):
    """The frames of one trace for each thread: one for each placement of membarriers' fences."""
    calls = [(t, at) for t, trace in enumerate(combination) for at in trace.barriers]
    choices = []
    for thread, _ in calls:
        others = [t for t in range(len(combination)) if t != thread]
        ranges = [range(len(combination[t].events) + 1) for t in others]
        choices.append([dict(zip(others, where)) for where in itertools.product(*ranges)])
    for chosen in itertools.product(*choices):
        traces = [[replace(e) for e in trace.events] for trace in combination]
        yield Frame(traces, initial, list(zip(calls, chosen)))


def executions(frame):
    """Each allowed execution of a frame: its happens-before."""
    orders = list(frame.store_orders())
    for rf in frame.sources():
        hb = frame.happens_before(rf)
        if hb is None:
            continue
        for mo in orders:
            if frame.is_allowed(rf, mo, hb):
                yield hb


def find(pattern, outcome, races):
    """Looks for an execution with an outcome, and for one with a race if `races`. Returns a name
    for what was found, or None."""
    traces, initial = traces_of(pattern)
    races = races and any(
        s.order == "na" for body in pattern.threads.values() for s in all_statements(body)
    )
    code = compiled(outcome, 0)[0]
    for combination in itertools.product(*traces):
        names = {
            name: Registers(trace.registers) for name, trace in zip(pattern.threads, combination)
        }
        try:
            hit = bool(eval(code, {"__builtins__": {}}, names))
        except TypeError:  # of a register that is not set
            hit = False
        if not hit and not races or not has_sources(combination, initial):
            continue
        for frame in frames_of(combination, initial):
            for hb in executions(frame):
                if hit:
                    return "outcome"
                if frame.races(hb):
                    return "race"
    return None


def weakened(pattern):
    """Each pattern that is weaker in one place: (statement, what is left of it, pattern)."""

    def changed(statements, line, new):
        out = []
        for s in statements:
            if s.line == line:
                out += [new] if new else []
                continue
            body, other = changed(s.body, line, new), changed(s.other, line, new)
            out.append(replace(s, body=body, other=other))
        return tuple(out)

    for thread, statements in pattern.threads.items():
        for s in all_statements(statements):
            steps = []
            if s.verb in ("fence", "membarrier"):
                steps = [("none", None)]
                if s.verb == "fence" and s.order == "seq":
                    steps.append(("acq_rel", replace(s, order="acq_rel")))
            elif s.verb in UPDATES or s.verb in ("load", "store", "cas"):
                orders = WEAKER.get((s.verb, s.order)) or WEAKER.get((None, s.order), [])
                steps = [(order, replace(s, order=order)) for order in orders]
            for order, new in steps:
                threads = {**pattern.threads, thread: changed(statements, s.line, new)}
                yield s, order, replace(pattern, threads=threads)


def try_pattern(pattern):
    """Runs one pattern. Returns what is wrong with it, as lines."""
    races = True
    found = find(pattern, pattern.forbidden, races)
    if found == "race":
        return ["two plain accesses of one place are not ordered: a data race"]
    if found:
        return [f"the forbidden outcome is possible: {pattern.forbidden}"]
    wrong = [f"never: {text}" for text in pattern.sometimes if not find(pattern, text, False)]
    for s, order, weaker in weakened(pattern):
        is_spare = "all" in s.spare or order in s.spare
        reached = find(weaker, weaker.forbidden, races) is not None
        if reached and is_spare:
            wrong.append(f"line {s.line}: '{s.text}' is needed: with {order} the outcome happens")
        if not reached and not is_spare:
            wrong.append(
                f"line {s.line}: '{s.text}' is stronger than needed: {order} does as well; weaken "
                f"the code, or say 'spare {order}'"
            )
    return wrong


# ---- quotes


def find_source(name):
    """The path of a quoted file."""
    tops = (ROOT / top for top in ("src", "include", "upc", "coarray"))
    found = [p for top in tops for p in top.rglob(Path(name).name) if p.match(name)]
    if len(found) != 1:
        raise Wrong(f"{len(found)} files are called {name}; put their folder before it")
    return found[0]


def body_of(path, function):
    """The text of a function's definition, its white space reduced. A function that a macro defines
    has one blank before its head and its end, and no ## in its name."""
    text = path.read_text(encoding="utf-8")
    rest = rf"[^\n]*\b{function}\((?:[^;{{}}]*)\{{(.*?)^"
    match = re.search(rf"^(?![ \t#/*}}]){rest}\}}", text, re.M | re.S) or re.search(
        rf"^ (?! ){rest} \}}", text.replace("##", ""), re.M | re.S
    )
    if not match:
        raise Wrong(f"{path.name} defines no function {function}")
    return " ".join(match[1].replace("\\\n", " ").split())


def operations_in(text):
    """The atomic operations that a piece of source has, as patterns spell them: those of
    src/base/atomic.h, and those of the compiler, which clients of the public headers use."""
    names = {name.replace("_weak", "") for name in re.findall(r"\btmb_(\w+)\(", text)}
    verbs = {"exchange": "xchg", "compare_exchange": "cas", "thread_fence": "fence"}
    orders = {"RELAXED": "rlx", "ACQUIRE": "acq", "RELEASE": "rel", "SEQ_CST": "seq"}
    for verb, order in re.findall(r"\b__atomic_(\w+?)(?:_n)?\((?:.*?)__ATOMIC_(\w+)", text):
        names.add(f"{verbs.get(verb, verb)}_{orders.get(order, order.lower())}")
    return names


def check_quote(s, last):
    """Checks one quote. in last: for each function, where its quote before ended."""
    file, function, text = s.quote
    body = body_of(find_source(file), function)
    at = body.find(text, last.get((file, function), 0))
    if at < 0:
        where = "behind the quote before" if text in body else "there"
        raise Wrong(f"line {s.line}: {file}, {function}: '{text}' does not stand {where}")
    last[file, function] = at
    if s.order in ("", "na"):
        return
    want = {"membarrier": "membarrier"}.get(s.verb, f"{s.verb}_{s.order}")
    if s.verb.startswith("futex"):
        want = s.verb
    if want not in operations_in(text):
        raise Wrong(f"line {s.line}: '{text}' has no tmb_{want}")


def check_quotes(pattern):
    """What is wrong with the quotes of a pattern, as lines."""
    wrong = []
    for thread, statements in pattern.threads.items():
        last = {}
        for s in all_statements(statements):
            try:
                if s.quote:
                    check_quote(s, last)
                elif s.order not in ("", "na", "rlx") and thread not in pattern.outside:
                    raise Wrong(f"line {s.line}: '{s.text}' quotes no source")
            except Wrong as error:
                wrong.append(str(error))
    return wrong


# ---- the page


def table(patterns):
    """The lines of the page's table."""
    lines = [
        "| structure | files | what must not happen | orders that it needs |",
        "|---|---|---|---|",
    ]
    for p in patterns:
        files, orders = [], []
        for s in (s for body in p.threads.values() for s in all_statements(body)):
            if not s.quote:
                continue
            files += [s.quote[0]] if s.quote[0] not in files else []
            operation = "membarrier" if s.verb == "membarrier" else f"{s.verb}_{s.order}"
            needed = s.order not in ("", "na", "rlx") and "all" not in s.spare
            if needed and "futex" not in s.verb and operation not in orders:
                orders.append(operation)
        head, _, rest = p.title.partition(": ")
        lines.append(
            f"| {head} (`{p.name}`) | {', '.join(f'`{f}`' for f in files)} | {rest} | "
            f"{', '.join(f'`{o}`' for o in orders)} |"
        )
    return lines


def check_page(patterns):
    """What is missing on the page, as lines."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    missing = [line for line in table(patterns) if line not in page]
    return [f"{PAGE.name} lacks this line (litmus.py --table): {line}" for line in missing]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="check only quotes and the page")
    parser.add_argument("--table", action="store_true", help="print the table of the page")
    parser.add_argument("names", nargs="*", metavar="NAME", help="patterns; default: all")
    options = parser.parse_args()
    paths = [FOLDER / f"{n}.litmus" for n in options.names] or sorted(FOLDER.glob("*.litmus"))
    patterns, failed = [], 0
    for path in paths:
        try:
            pattern = read_pattern(path)
            patterns.append(pattern)
            wrong = check_quotes(pattern)
            if not wrong and not options.check and not options.table:
                wrong = try_pattern(pattern)
        except Wrong as error:
            wrong = [str(error)]
        if not options.table:
            print(f"{path.stem}: " + ("; ".join(wrong) if wrong else "ok"), flush=True)
        failed += bool(wrong)
    if options.table:
        print("\n".join(table(patterns)))
        return 0
    missing = [] if options.names else check_page(patterns)
    print("\n".join(missing) if missing else f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed or missing or not patterns else 0


if __name__ == "__main__":
    sys.exit(main())
