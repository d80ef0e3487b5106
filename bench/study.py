#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# study.py: what this library does beside its floors and its peers, in one report.
#
# Runs the measuring programs of this folder one after the other, keeps what they print and their
# raw JSON, and writes FOLDER/report.md and FOLDER/report.html (self-contained, with drawings). A
# part that cannot run here (a peer or root is missing) is named with the reason; one that has spent
# its time (--timeout) keeps what it has measured, and what it has not is named. With --only the
# report also has what the other parts have measured before in that folder, with the date. Ratios in
# one run mean something, absolute times little: machine, processors and load are in the report.
#   bench/study.py [--quick] [--build build] [--out study] [--only PART]...
import argparse
import functools
import html
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import plots

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MARGIN_S, GRACE_S = 30, 8  # of a part that does not stop by itself: to be asked, to be killed


def part_seconds(options):
    """What a part may take."""
    return options.timeout or (300 if options.quick else 3600)


def parts(options):
    """{name: (title, command, function that makes rows of its JSON)}; {json} is replaced."""
    quick, few = options.quick, ["--rounds", "2" if options.quick else "5"]
    size = "W" if quick else "A"
    bench = [options.build / "bin" / "tombolo", "bench", "--json={json}",
             *(["--quick", "p2p", "am", "notify"] if quick else ["all"])]

    def script(name, *words):
        return [sys.executable, HERE / "compare" / name, "--build", options.build, *few, "--budget",
                part_seconds(options), "--json", "{json}", *words]

    less = ["--quick"] if quick else []
    short = ["--timeout", "30"] if quick else []  # between hosts a peer that hangs costs minutes
    ranks = "2,8" if quick else "2,4,8,16,32,64"
    return {
        "bench": ("Operations beside their floors", bench, bench_rows),
        "ops": ("Overhead, gap, latency and overlap by size, one host", script("ops.py"), ops_rows),
        "opsfar": ("Overhead, gap, latency and overlap by size, ranks that share no memory",
                   script("ops.py", "--far"), ops_rows),
        "forms": ("Barrier, broadcast, all-reduce and exchange in each form",
                  script("forms.py", "--ranks", ranks), forms_rows),
        "coll": ("Collectives beside MPI, 2 ranks", script("compare.py"), coll_rows),
        "apps": ("Applications beside MPI and ScaLAPACK, 2 ranks", script("apps.py", *less),
                 app_rows),
        "apps4": ("Applications beside MPI and ScaLAPACK, 4 ranks",
                  script("apps.py", "--ranks", "4", *less), app_rows),
        "caf": ("Applications in coarray Fortran beside OpenCoarrays, 2 ranks",
                script("caf_apps.py"), caf_rows),
        "ft1": ("NAS FT on this machine, 2 ranks: flavours of put, MPI, FFTW's transform over MPI",
                script("ft.py", "--class", size), ft_rows),
        "net": ("Two ranks on two hosts, beside MPI over TCP", script("net.py"), net_rows),
        "ft": ("NAS FT on four hosts, 1 Gbit/s, beside MPI",
               script("net.py", "--ft", "--ft-class", size, *short),
               functools.partial(ft_rows, far=True)),
        "apps4hosts": ("matmul and cholesky on four hosts, 1 Gbit/s, beside ScaLAPACK",
                       script("net.py", "--apps", "--problem", "1000" if quick else "4000",
                              *short),
                       app_rows),
        "sim": ("At scale, simulated, beside the published figures of the original study",
                [sys.executable, HERE / "simulate.py", *less, "--build", options.build, "--out",
                 options.out / "simulation", "--json", "{json}"], sim_rows),
    }


def side(value, unit, samples=()):
    """(median, unit, least, most)"""
    return value, unit, min(samples, default=value), max(samples, default=value)


# A row is (what, {side: (median, unit, least, most)}, ratio or None, target or None, whether it is
# met or None).
def bench_rows(data):
    """Figures of `tombolo bench` that have a target."""
    for f in data["figures"]:
        if f["target"] is None:
            continue
        name = f"{f['group']} {f['name']}" + (f", {f['bytes']} B" if f["bytes"] else "")
        sides = {"tombolo": (f["median"], f["unit"], f["min"], f["max"])}
        if f["floor_median"] is not None:
            sides[f["floor"] or "floor"] = side(f["floor_median"], f["unit"], [f["floor_min"]])
        yield name, sides, f["ratio"], f["target"], f["ok"]


def coll_rows(data):
    for r in data["records"]:
        samples = r.get("samples", {})
        yield (f"{r['collective']}, {r['bytes']} B",
               {s: side(v, "us", samples.get(s, ())) for s, v in r["us"].items()},
               r["ratio"], r["target"], r["ok"])


def app_rows(data):
    for r in data["records"]:
        sides = {name: side(statistics.median(values), "M/s", values)
                 for name, values in r["mflops"].items()}
        met = r["ratio"] >= r["target"] if r["ratio"] else None
        yield f"{r['application']} {r['problem']}", sides, r["ratio"], r["target"], met


def caf_rows(data):
    for r in data["records"]:
        sides = {name: side(statistics.median(values), "ms", values)
                 for name, values in r["ms"].items()}
        met = r["ratio"] <= r["target"] if r["ratio"] else None
        yield f"{r['application']} {r['problem']}", sides, r["ratio"], r["target"], met


def net_rows(data):
    for r in data["records"]:
        met = r["ratio"] <= r["target"] if r["ratio"] and r["target"] else None
        samples = r.get("samples", {})
        yield (f"{r['name']}, {r['bytes']} B",
               {s: side(v, "us", samples.get(s, ())) for s, v in r["us"].items()},
               r["ratio"], r["target"], met)


def ft_rows(data, far=False):
    """far: on several hosts, where ratios are meant to be reached."""
    samples = data.get("seconds", {})
    sides = {way: side(value, "s", samples.get(way, ())) for way, value in data["records"].items()}
    if sides:
        yield "NAS FT", sides, None, None, None
    best = min((v for way, v in data["records"].items() if way.startswith("tombolo")), default=None)
    slabs, packed = (data["records"].get(f"tombolo {w}") for w in ("slabs", "packed"))
    mpi = data["records"].get("openmpi alltoall")
    if slabs and packed:
        yield ("slabs over packed", {}, packed / slabs,
               *((1.2, packed / slabs >= 1.2) if far else (None, None)))
    if best and mpi:
        yield ("our best over Open MPI's MPI_Alltoall", {}, mpi / best,
               *((1.4, mpi / best >= 1.4) if far else (None, None)))


def measured(r):
    unit = "" if r["name"].endswith("overlap") else "us"
    return {s: (v[0], unit, v[1], v[2]) for s, v in r["sides"].items()}


def ops_rows(data):
    for r in data["records"]:
        yield f"{r['name']}, {r['bytes']} B", measured(r), None, None, None


def forms_rows(data):
    for job in data["jobs"]:
        for r in job["records"]:
            size = f", {r['bytes']} B" if r["bytes"] else ""
            yield f"{r['name']}{size}, {job['ranks']} ranks", measured(r), None, None, None


def by_size(records, x):
    """{side: [(x, median, least, most)]}"""
    series = {}
    for r in records:
        for name, values in r["sides"].items():
            series.setdefault(name, []).append((x(r), *values))
    return series


def curves(title, x, y, series):
    return plots.draw(title, plots.Lines(x, y, series))


def bars(sides):
    """One bar a side on a common scale; sides: {side: (value, unit, least, most)}."""
    top = max(value for value, *_ in sides.values()) or 1
    return "".join(f'<div class="bar"><span>{html.escape(side)}</span><i style="width:'
                   f'{240 * value / top:.0f}px"></i>{cell(value, unit, least, most)}</div>'
                   for side, (value, unit, least, most) in sides.items())


def ops_plots(data):
    """A drawing a figure; for latencies, one of all ways of ours to hand over data."""
    records = data["records"]
    for name in dict.fromkeys(r["name"] for r in records):
        one = [r for r in records if r["name"] == name]
        fraction = name.endswith("overlap")
        yield curves(name.replace("_", ", "), plots.Axis("size", "bytes", scale="bytes"),
                     plots.Axis("part hidden" if fraction else "time", "" if fraction else "us",
                                log=not fraction), by_size(one, lambda r: r["bytes"]))
    handing = {}
    for r in records:
        way, _, figure = r["name"].partition("_")
        for who, values in r["sides"].items():
            if figure == "latency" and way not in ("put", "get"):
                handing.setdefault(f"{who} {way}", []).append((r["bytes"], *values))
    yield curves("data and notice, one way", plots.Axis("size", "bytes", scale="bytes"),
                 plots.Axis("time", "us", log=True), handing)


def forms_plots(data):
    """Over the number of ranks for some sizes, then over size for each number of ranks."""
    flat = [{**r, "ranks": job["ranks"]} for job in data["jobs"] for r in job["records"]]
    for name, size in dict.fromkeys((r["name"], r["bytes"]) for r in flat):
        if size in (0, 8, 8192):
            one = [r for r in flat if (r["name"], r["bytes"]) == (name, size)]
            yield curves(f"{name}, {size} B", plots.Axis("ranks"), plots.Axis("time", "us"),
                         by_size(one, lambda r: r["ranks"]))
    for job in data["jobs"]:
        for name in dict.fromkeys(r["name"] for r in job["records"] if r["bytes"]):
            one = [r for r in job["records"] if r["name"] == name]
            yield curves(f"{name}, {job['ranks']} ranks",
                         plots.Axis("size", "bytes", scale="bytes"), plots.Axis("time", "us"),
                         by_size(one, lambda r: r["bytes"]))


PLOTS = {"ops": ops_plots, "opsfar": ops_plots, "forms": forms_plots}


def sim_rows(data):
    for r in data["records"]:
        if r["simulated"]:
            yield (r["what"], {"tombolo (simulated)": side(r["simulated"], r["unit"], ()),
                               "published": side(r["published"], r["unit"], ())},
                   r["simulated"] / r["published"], None, None)


class Watch:
    """Ends a part with all that it has started, if it is not done in time; `late` says so. A part
    stops by itself when its budget is spent: this is for one that cannot, so it has more time."""

    def __init__(self, child, limit):
        self.child, self.late, self.limit = child, False, limit + max(MARGIN_S, limit / 10)
        self.timer = threading.Timer(self.limit, self.end)
        self.timer.start()

    def end(self):
        self.late = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, number)
                self.child.wait(GRACE_S)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def follow(name, child, log):
    """Keeps what a part prints; its lines of progress ("... WHAT") and what was not done are shown
    with the time since the part began. Returns the last line that is no progress."""
    begin, last = time.monotonic(), "?"
    for line in child.stdout:
        log.write(line)
        log.flush()
        progress = line.startswith("... ")
        if progress or "not done after" in line or "not run:" in line:
            print(f"study: {name}: {time.monotonic() - begin:4.0f} s: {line.strip()}", flush=True)
        if line.strip() and not progress:
            last = line.strip()
    child.wait()
    return last


def run_part(name, command, folder, limit):
    """Runs one part. Returns (JSON or None, reason why not, or what was cut)."""
    raw = folder / f"{name}.json"
    raw.unlink(missing_ok=True)
    command = [str(c).replace("{json}", str(raw)) for c in command]
    print(f"study: {name}: at most {limit:.0f} s: {' '.join(command)}", flush=True)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    watch = Watch(child, limit)
    try:
        with open(folder / f"{name}.txt", "w", encoding="utf-8") as log:
            last = follow(name, child, log)
    except BaseException:  # it leads a session, which no terminal interrupts
        watch.end()
        raise
    finally:
        watch.timer.cancel()
    cut = f"ended after {watch.limit:.0f} s" if watch.late else None
    if child.returncode == 77:
        return None, "skipped: " + last
    if not raw.exists():
        return None, f"{cut + ': ' if cut else ''}exit code {child.returncode}: {last}"
    if child.returncode and not cut:
        cut = f"exit code {child.returncode}: {last}"
    return json.loads(raw.read_text()), cut


def unfinished(data, cut):
    """Lines for the report: what of a part was not measured, and why."""
    if not data:
        return []
    reasons = {}
    for who, why in data.get("unfinished", {}).items():
        reasons.setdefault(why, []).append(who)
    lines = [f"{'; '.join(who)}: {why}" for why, who in reasons.items()]
    if data.get("cut"):
        lines.append(f"the part's {data['cut']:.0f} s were spent: fewer rounds or problems")
    return lines + ([f"the part was cut off: {cut}"] if cut else [])


def earlier(name, folder):
    """What a part has measured before in this folder, and when; (None, None) if nothing."""
    raw = folder / f"{name}.json"
    if not raw.exists():
        return None, None
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(raw.stat().st_mtime))
    return json.loads(raw.read_text()), when


def machine():
    """What the figures depend on, as (name, text) pairs."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), "?")
    revision = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    versions = []
    for package in ("libopenmpi3", "libmpich12", "libopenblas0-pthread", "libscalapack-openmpi2.2",
                    "libcoarrays-openmpi-dev", "libfabric1", "libfftw3-mpi3", "gfortran"):
        if shutil.which("dpkg-query"):
            said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            versions += [f"{package} {said}"] if said else []
    return [("date", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())), ("processor", model),
            ("processors", str(len(os.sched_getaffinity(0)))),
            ("load before", f"{os.getloadavg()[0]:.1f}"), ("kernel", platform.release()),
            ("revision", revision or "?"), ("peers", ", ".join(versions) or "none")]


def cell(value, unit, least, most):
    spread = f" ({least:.3g}..{most:.3g})" if least != most else ""
    return f"{value:.4g} {unit}{spread}"


def verdict(ratio, target, met):
    if ratio is None:
        return ""
    text = f"{ratio:.2f}"
    if target is not None and met is not None:
        text += f" (target {target:.3g}: {'ok' if met else 'missed'})"
    return text


def markdown(facts, sections):
    lines = ["# Study", "", *(f"* {name}: {text}" for name, text in facts), ""]
    for section in sections:
        lines += [f"## {section['title']}", ""]
        if section["reason"]:
            lines += [f"Not measured: {section['reason']}.", ""]
            continue
        lines += [f"* not done: {line}" for line in section["unfinished"]]
        lines += ["", "| what | medians (least..most) | ratio |", "|---|---|---|"]
        for what, sides, ratio, target, met in section["rows"]:
            values = "; ".join(f"{name} {cell(*value)}" for name, value in sides.items())
            lines.append(f"| {what} | {values} | {verdict(ratio, target, met)} |")
        lines.append("")
    return "\n".join(lines)


def table(section):
    """Rows with bars; where there are curves, numbers that open on demand."""
    out = ["<table><tr><th>what</th><th>medians (least..most)</th><th>ratio</th></tr>"]
    for what, sides, ratio, target, met in section["rows"]:
        kind = "" if met is None else "ok" if met else "missed"
        if section["plots"] or not sides:
            values = html.escape("; ".join(f"{n} {cell(*v)}" for n, v in sides.items()))
        else:
            values = bars(sides)
        out.append(f'<tr><td>{html.escape(what)}</td><td>{values}</td>'
                   f'<td class="{kind}">{verdict(ratio, target, met)}</td></tr>')
    text = "".join(out) + "</table>"
    return f"<details><summary>figures</summary>{text}</details>" if section["plots"] else text


def page(facts, sections):
    body = ["<h1>Study</h1><ul>"]
    body += [f"<li>{html.escape(name)}: {html.escape(text)}</li>" for name, text in facts]
    body.append("</ul>")
    for section in sections:
        body.append(f"<h2>{html.escape(section['title'])}</h2>")
        if section["reason"]:
            body.append(f"<p>Not measured: {html.escape(section['reason'])}.</p>")
            continue
        body += [f'<p class="missed">not done: {html.escape(line)}</p>'
                 for line in section["unfinished"]]
        body += section["plots"]
        body.append(table(section))
    style = ("body{font:14px sans-serif;margin:2em}td{border-top:1px solid #ddd;"
             "padding:4px 1em 4px 0;vertical-align:top}.missed{color:#b00}.ok{color:#060}"
             ".bar span{display:inline-block;width:12em}.bar i{display:inline-block;height:.7em;"
             "background:#2a6f97;margin-right:.5em}svg{margin:4px 12px 4px 0}")
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Study</title>'
            f"<style>{style}</style><body>{''.join(body)}</body></html>\n")


def main():
    parser = argparse.ArgumentParser(description="Measure everything and write one report.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and figures")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--out", type=Path, default=ROOT / "study", help="folder of the report")
    parser.add_argument("--only", action="append", metavar="PART", help="this part; repeatable")
    parser.add_argument("--timeout", type=float,
                        help="seconds for one part (3600; quick: 300); it keeps what it has then")
    options = parser.parse_args()
    options.build, options.out = options.build.resolve(), options.out.resolve()
    known = parts(options)
    wanted = options.only or list(known)
    if set(wanted) - set(known):
        parser.error(f"--only {', '.join(set(wanted) - set(known))}: expected {', '.join(known)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    facts, sections = machine(), []
    undrawn = plots.missing()
    if undrawn:
        facts.append(("drawings", f"none: {undrawn}"))
    for name, (title, command, rows) in known.items():
        reason = None
        if name in wanted:
            data, reason = run_part(name, command, options.out, part_seconds(options))
        else:
            data, when = earlier(name, options.out)
            if not data:
                continue
            title = f"{title} (measured {when})"
        found = list(rows(data)) if data else []
        missing = unfinished(data, reason if data else None)
        if data and not found:
            reason = "; ".join(missing) or "no figures"
        drawn = list(PLOTS[name](data)) if found and name in PLOTS and not undrawn else []
        sections.append({"title": title, "rows": found, "plots": drawn, "unfinished": missing,
                         "reason": None if found else reason})
        (options.out / "report.md").write_text(markdown(facts, sections))
        (options.out / "report.html").write_text(page(facts, sections))
    every = [row for section in sections for row in section["rows"]]
    missed = sum(row[4] is False for row in every)
    met = sum(row[4] is True for row in every)
    print(f"study: {met} targets met, {missed} missed; {options.out / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
