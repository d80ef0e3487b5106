#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# study.py: what this library does beside its floors and its peers, in one report.
#
# Runs the measuring programs of this folder one after the other, keeps what they print and their
# raw JSON, and writes FOLDER/report.md and FOLDER/report.html (self-contained, with bars). A part
# that cannot run here (a peer or root is missing) is named with the reason. Ratios in one run mean
# something, absolute times little: machine, processors and load are in the report.
#   bench/study.py [--quick] [--build build] [--out study] [--only PART]...
import argparse
import html
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def parts(options):
    """{name: (title, command, function that makes rows of its JSON)}; {json} is replaced."""
    python, rounds = sys.executable, "2" if options.quick else "7"
    bench = [options.build / "bin" / "tombolo", "bench", "--json={json}",
             *(["--quick", "p2p", "am", "notify"] if options.quick else ["all"])]
    compare = HERE / "compare"
    return {
        "bench": ("Operations beside their floors", bench, bench_rows),
        "coll": ("Collectives beside MPI, 2 ranks",
                 [python, compare / "compare.py", "--build", options.build, "--rounds", rounds,
                  "--json", "{json}"], coll_rows),
        "apps": ("Applications beside MPI and ScaLAPACK, 2 ranks",
                 [python, compare / "apps.py", "--build", options.build, "--rounds", rounds,
                  "--json", "{json}"], app_rows),
        "apps4": ("The same, 4 ranks",
                  [python, compare / "apps.py", "--build", options.build, "--rounds", rounds,
                   "--ranks", "4", "--json", "{json}"], app_rows),
        "ft1": ("NAS FT on this machine, 2 ranks, beside MPI and FFTW's transform over MPI",
                [python, compare / "ft.py", "--class", "W" if options.quick else "A", "--build",
                 options.build, "--rounds", rounds, "--json", "{json}"], ft_rows),
        "net": ("Two ranks on two hosts, beside MPI over TCP",
                [python, compare / "net.py", "--build", options.build, "--rounds", rounds,
                 "--json", "{json}"], net_rows),
        "ft": ("NAS FT on four hosts, 1 Gbit/s, beside MPI",
               [python, compare / "net.py", "--ft", "--ft-class", "W" if options.quick else "A",
                "--build", options.build, "--rounds", rounds, "--json", "{json}"], ft_rows),
        "sim": ("At scale, simulated, beside the published figures of the original study",
                [python, HERE / "simulate.py", *(["--quick"] if options.quick else []), "--build",
                 options.build, "--out", options.out / "simulation", "--json", "{json}"], sim_rows),
    }


# A row is (what, {side: (value, unit)}, ratio or None, target or None, whether it is met or None).
def bench_rows(data):
    """Figures of `tombolo bench` that have a target."""
    for f in data["figures"]:
        if f["target"] is None:
            continue
        name = f"{f['group']} {f['name']}" + (f", {f['bytes']} B" if f["bytes"] else "")
        sides = {"tombolo": (f["median"], f["unit"])}
        if f["floor_median"] is not None:
            sides[f["floor"] or "floor"] = (f["floor_median"], f["unit"])
        yield name, sides, f["ratio"], f["target"], f["ok"]


def coll_rows(data):
    for r in data["records"]:
        yield (f"{r['collective']}, {r['bytes']} B", {s: (v, "us") for s, v in r["us"].items()},
               r["ratio"], r["target"], r["ok"])


def app_rows(data):
    for r in data["records"]:
        sides = {side: (statistics.median(values), "M/s") for side, values in r["mflops"].items()}
        met = r["ratio"] >= r["target"] if r["ratio"] else None
        yield f"{r['application']} {r['problem']}", sides, r["ratio"], r["target"], met


def net_rows(data):
    for r in data["records"]:
        met = r["ratio"] <= r["target"] if r["ratio"] and r["target"] else None
        yield (f"{r['name']}, {r['bytes']} B", {s: (v, "us") for s, v in r["us"].items()},
               r["ratio"], r["target"], met)


def ft_rows(data):
    yield "NAS FT", {way: (value, "s") for way, value in data["records"].items()}, None, None, None


def sim_rows(data):
    for r in data["records"]:
        if r["simulated"]:
            yield (r["what"], {"tombolo (simulated)": (r["simulated"], r["unit"]),
                               "published": (r["published"], r["unit"])},
                   r["simulated"] / r["published"], None, None)


def run_part(name, command, folder, limit):
    """Runs one part. Returns (JSON or None, reason why not)."""
    raw = folder / f"{name}.json"
    raw.unlink(missing_ok=True)
    command = [str(c).replace("{json}", str(raw)) for c in command]
    print(f"study: {name}: {' '.join(command)}", flush=True)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"not done after {limit} s"
    (folder / f"{name}.txt").write_text(done.stdout)
    if done.returncode == 77:
        return None, "skipped: " + (done.stdout.strip().splitlines() or ["?"])[-1]
    if not raw.exists():
        return None, f"exit code {done.returncode}: " + (done.stdout.splitlines() or ["?"])[-1]
    return json.loads(raw.read_text()), None


def machine():
    """What the figures depend on, as (name, text) pairs."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), "?")
    revision = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    versions = []
    for package in ("libopenmpi3", "libmpich12", "libopenblas0-pthread", "libscalapack-openmpi2.2"):
        if shutil.which("dpkg-query"):
            said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            versions += [f"{package} {said}"] if said else []
    return [("date", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())), ("processor", model),
            ("processors", str(len(os.sched_getaffinity(0)))),
            ("load before", f"{os.getloadavg()[0]:.1f}"), ("kernel", platform.release()),
            ("revision", revision or "?"), ("peers", ", ".join(versions) or "none")]


def cell(value, unit):
    return f"{value:.4g} {unit}"


def verdict(ratio, target, met):
    if ratio is None:
        return ""
    text = f"{ratio:.2f}"
    if target is not None and met is not None:
        text += f" (target {target:.3g}: {'ok' if met else 'missed'})"
    return text


def markdown(facts, sections):
    lines = ["# Study", "", *(f"* {name}: {text}" for name, text in facts), ""]
    for title, rows, reason in sections:
        lines += [f"## {title}", ""]
        if reason:
            lines += [f"Not measured: {reason}.", ""]
            continue
        lines += ["| what | medians | ratio |", "|---|---|---|"]
        for what, sides, ratio, target, met in rows:
            values = "; ".join(f"{side} {cell(*value)}" for side, value in sides.items())
            lines.append(f"| {what} | {values} | {verdict(ratio, target, met)} |")
        lines.append("")
    return "\n".join(lines)


def bars(sides):
    """One bar a side as SVG, on a common scale."""
    most = max(value for value, _ in sides.values()) or 1
    out = []
    for i, (side, (value, unit)) in enumerate(sides.items()):
        colour = "#2a6f97" if side.startswith("tombolo") else "#b0b0b0"
        out.append(f'<text x="0" y="{i * 16 + 11}">{html.escape(side)}</text>'
                   f'<rect x="150" y="{i * 16 + 2}" width="{240 * value / most:.1f}" height="11" '
                   f'fill="{colour}"/><text x="395" y="{i * 16 + 11}">{cell(value, unit)}</text>')
    return f'<svg width="480" height="{16 * len(sides)}" font-size="11">{"".join(out)}</svg>'


def page(facts, sections):
    body = ["<h1>Study</h1><ul>"]
    body += [f"<li>{html.escape(name)}: {html.escape(text)}</li>" for name, text in facts]
    body.append("</ul>")
    for title, rows, reason in sections:
        body.append(f"<h2>{html.escape(title)}</h2>")
        if reason:
            body.append(f"<p>Not measured: {html.escape(reason)}.</p>")
            continue
        body.append("<table><tr><th>what</th><th>medians</th><th>ratio</th></tr>")
        for what, sides, ratio, target, met in rows:
            kind = "" if met is None else "ok" if met else "missed"
            body.append(f'<tr><td>{html.escape(what)}</td><td>{bars(sides)}</td>'
                        f'<td class="{kind}">{verdict(ratio, target, met)}</td></tr>')
        body.append("</table>")
    style = ("body{font:14px sans-serif;margin:2em}td{border-top:1px solid #ddd;"
             "padding:4px 1em 4px 0;vertical-align:top}.missed{color:#b00}.ok{color:#060}")
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Study</title>'
            f"<style>{style}</style><body>{''.join(body)}</body></html>\n")


def main():
    parser = argparse.ArgumentParser(description="Measure everything and write one report.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and figures")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--out", type=Path, default=ROOT / "study", help="folder of the report")
    parser.add_argument("--only", action="append", metavar="PART", help="this part; repeatable")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one part")
    options = parser.parse_args()
    options.build, options.out = options.build.resolve(), options.out.resolve()
    known = parts(options)
    wanted = options.only or list(known)
    if set(wanted) - set(known):
        parser.error(f"--only {', '.join(set(wanted) - set(known))}: expected {', '.join(known)}")
    options.out.mkdir(parents=True, exist_ok=True)
    facts, sections = machine(), []
    for name in wanted:
        title, command, rows = known[name]
        data, reason = run_part(name, command, options.out, options.timeout)
        sections.append((title, list(rows(data)) if data else [], reason))
        (options.out / "report.md").write_text(markdown(facts, sections))
        (options.out / "report.html").write_text(page(facts, sections))
    missed = sum(row[4] is False for _, rows, _ in sections for row in rows)
    met = sum(row[4] is True for _, rows, _ in sections for row in rows)
    print(f"study: {met} targets met, {missed} missed; {options.out / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
