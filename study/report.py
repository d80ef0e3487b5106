# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the study: report.html, self-contained, and the Markdown page of the kept figures.

Knows figures only as pairs of figures.Figure and figures.Shown, and sections as dictionaries of
study/study.py. Beside each drawing: what is shown, what one sees, the command that repeats it, the
raw JSON, the machine, its mode, the load, the spread, and what was not measured."""
import collections
import html

import kept
import plots

NAMED = 6  # measurements that the report names for one reason; the JSON has all of them
STYLE = ("body{font:15px/1.45 sans-serif;margin:2em auto;max-width:900px;padding:0 1em;"
         "color:#1c1c1c;background:#fff}td,th{border-top:1px solid #ddd;padding:4px 1em 4px 0;"
         "vertical-align:top;text-align:left}.missed{color:#b00}.ok{color:#060}"
         "svg{max-width:100%;height:auto}.bar span{display:inline-block;width:12em}"
         ".bar i{display:inline-block;height:.7em;background:#0072b2;margin-right:.5em}"
         "dl{display:grid;grid-template-columns:7em auto;font-size:13px;margin:.5em 0}"
         "dt{color:#555}dd{margin:0;overflow-wrap:anywhere}figure{margin:1em 0 2.5em}"
         "h2{margin-top:2em}")


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


# ---- the text beside a drawing
def more(who):
    return f" and {len(who) - NAMED} more" if len(who) > NAMED else ""


def missing_of(part):
    """The missing measurements of a part, a line for each reason."""
    reasons = {}
    for who, why in part.get("unfinished", {}).items():
        reasons.setdefault(why, []).append(who)
    lines = [f"{'; '.join(who[:NAMED])}{more(who)}: {why}" for why, who in reasons.items()]
    lines += part.get("absent", [])
    if part.get("cut"):
        lines.append(f"stopped at the limit of {part['cut']:.0f} s: fewer rounds or problems")
    return lines


def runs_text(parts):
    """How many runs the points of some parts have."""
    found = sum(map(kept.runs_of_points, parts), collections.Counter())
    if set(found) <= {kept.ENOUGH}:
        return f"{kept.ENOUGH} or more" if found else "1"
    names = {kept.ENOUGH: f"{kept.ENOUGH} or more"}
    return ", ".join(f"{names.get(runs, runs)} ({count} of {found.total()} points)"
                     for runs, count in sorted(found.items(), reverse=True))


def facts_of(figure, data):
    """[(name, text)] that let a reader repeat and judge a figure."""
    parts = [(name, data[name]) for name in figure.parts if data.get(name)]
    said = [(name, part.get("study", {})) for name, part in parts]
    machines = dict.fromkeys(s.get("machine", "?") for _, s in said)
    facts = [("repeat", figure.repeat or f"study/study.py {' '.join(name for name, _ in said)}"),
             ("raw JSON", ", ".join(f"{name}.json" for name, _ in said)),
             ("machine", "; ".join(machines)),
             ("measured", "; ".join(dict.fromkeys(
                 f"{s.get('date', '?')}, revision {s.get('revision', '?')}" for _, s in said))),
             ("mode", ", ".join(f"{name}: {s.get('mode', '?')}, load {s.get('load', '?')}"
                                for name, s in said)),
             ("spread", figure.spread),
             ("runs of a point", runs_text(part for _, part in parts))]
    lost = list(dict.fromkeys(line for _, part in parts for line in missing_of(part)))
    return facts + ([("not measured", " | ".join(lost))] if lost else [])


def said_lines(says):
    """The sentence of a figure as lines of Markdown; a list where there are many panels."""
    items = getattr(says, "items", ())
    if len(items) < 3:
        return [f"**{says}**", ""]
    return [f"**{says.begin or 'What one sees'}:**", "", *(f"* {item}" for item in items), ""]


def html_said(says):
    items = getattr(says, "items", ())
    if len(items) < 3:
        return f"<p><b>{html.escape(says)}</b></p>"
    return f"<p><b>{html.escape(says.begin or 'What one sees')}:</b></p><ul>" + "".join(
        f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"


def html_table(heads, rows):
    head = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
                   for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def html_figure(figure, one, data, svg):
    facts = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>"
                    for name, text in facts_of(figure, data))
    picture = f"<figure>{svg}</figure>" if svg else "<p>Not drawn.</p>"
    table = html_table(one.heads, one.rows) if one.rows else ""
    return (f'<h2 id="{figure.name}">{html.escape(figure.title)}</h2><p>{html.escape(figure.about)}'
            f"</p>{picture}{html_said(one.says)}{table}<dl>{facts}</dl>")


# ---- sections of rows: medians, spread, ratio, target
def bars(sides):
    """One bar a side on a common scale; sides: {side: (value, unit, least, most)}."""
    top = max(value for value, *_ in sides.values()) or 1
    return "".join(f'<div class="bar"><span>{html.escape(side)}</span><i style="width:'
                   f'{240 * value / top:.0f}px"></i>{cell(value, unit, least, most)}</div>'
                   for side, (value, unit, least, most) in sides.items())


def html_rows(section):
    out = ["<table><tr><th>what</th><th>medians (least..most)</th><th>ratio</th></tr>"]
    for what, sides, ratio, target, met in section["rows"]:
        kind = "" if met is None else "ok" if met else "missed"
        out.append(f'<tr><td>{html.escape(what)}</td><td>{bars(sides) if sides else ""}</td>'
                   f'<td class="{kind}">{verdict(ratio, target, met)}</td></tr>')
    return "".join(out) + "</table>"


def html_section(section):
    out = f"<h2>{html.escape(section['title'])}</h2>"
    if section["reason"]:
        return out + f"<p>Not measured: {html.escape(section['reason'])}.</p>"
    out += "".join(f'<p class="missed">not done: {html.escape(line)}</p>'
                   for line in section["unfinished"])
    return out + f"<details><summary>all figures</summary>{html_rows(section)}</details>"


def page(facts, figures, sections, data):
    """report.html. figures: [(Figure, Shown, SVG text or None)]."""
    body = ["<h1>Study</h1><ul>"]
    body += [f"<li>{html.escape(name)}: {html.escape(text)}</li>" for name, text in facts]
    body.append("</ul><p>" + " · ".join(f'<a href="#{f.name}">{html.escape(f.title)}</a>'
                                        for f, *_ in figures) + "</p>")
    body += [html_figure(figure, one, data, svg) for figure, one, svg in figures]
    body += [html_section(section) for section in sections]
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width"><title>Study</title><style>{STYLE}</style>'
            f"<body>{''.join(body)}</body></html>\n")


def markdown(facts, figures, sections, data):
    """report.md: the same without drawings."""
    lines = ["# Study", "", *(f"* {name}: {text}" for name, text in facts), ""]
    for figure, one, _ in figures:
        lines += [f"## {figure.title}", "", figure.about, "", *said_lines(one.says)]
        lines += [f"* {name}: {text}" for name, text in facts_of(figure, data)] + [""]
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


# ---- study/FIGURES.md
HEAD = """# Figures

Drawn by `make figures` (Matplotlib {version}) from the JSON in `study/data`;
`make study STUDY=docs` measures them again. Each figure has the command that repeats it, the
machine, and the spread. Times of two machines say little beside each other; compare the lines of
one figure. "mode" is that of the machine, by the hand-off of a cache line between two processors
([BENCHMARKS.md](../docs/BENCHMARKS.md)): fast below 300 ns, else slow. Where ranks outnumber
processors, a method that waits without yielding shows the scheduler.
"""


# Questions, and the figures that answer them: (question, measured, simulated).
COMPARED = [
    ("applications beside the best MPI", ("applications",), ()),
    ("pipeline, strong scaling, by grid", ("pipeline", "pipeline-fortran", "hosts",
                                            "hosts-fortran"),
     ("sim-pipeline", "sim-pipeline-grids")),
    ("who works when", ("diagrams",), ()),
    ("events by four methods", ("events", "hosts-fortran"), ("sim-events", "sim-events-machines")),
    ("stencil, strong and weak, overlap", ("stencil", "hosts"),
     ("sim-stencil-strong", "sim-stencil-weak")),
    ("hydrodynamics", ("hydro", "hosts", "hosts-fortran"), ("sim-hydro",)),
    ("FT: schedules, phases, messages", ("ft",), ("sim-ft-breakdown",)),
    ("FT: strong and weak scaling, bounds", (), ("sim-ft-strong", "sim-ft-weak")),
    ("FT: exchange as a collective", ("ft",), ("sim-ft-collective",)),
    ("operations by size and depth", ("latency", "depth", "bandwidth"), ()),
    ("UPC: data and notification", ("upc",), ()),
    ("share hidden by a computation", ("overlap",), ()),
    ("several links", ("links",), ("sim-links",)),
    ("barrier", ("barrier",), ("sim-barrier",)),
    ("collectives by size and by ranks", ("collectives", "collectives-ranks"),
     ("sim-collectives", "sim-collectives-ranks")),
    ("matrix product, Cholesky", ("linear",), ("sim-dense",)),
    ("fetch-and-add", ("fetchadd",), ("sim-fetch-add",)),
    ("start, memory, silent peers", ("start", "silent"), ("sim-start",)),
    ("simulated over measured", ("sim-real",), ()),
]


def compared(figures, data):
    """COMPARED as a table; "missing" stands for a figure without data."""
    titles = {figure.name: (figure.title, "") for figure, _ in figures}
    titles |= {name: (one["title"].replace(" (simulated)", ""), "FIGURES_SIMULATION.md")
               for name, one in data.items() if name.startswith("sim-")}

    def cell_of(names):
        links = [f"[{name}]({titles[name][1]}#{anchor(titles[name][0])})" if name in titles else
                 f"missing: {name}" for name in names]
        return ", ".join(links) or "-"

    return ["", "| compared | measured here | simulated, to 16,384 ranks |", "|---|---|---|",
            *(f"| {what} | {cell_of(real)} | {cell_of(simulated)} |"
              for what, real, simulated in COMPARED)]


def figures_page(figures, data, folder):
    """The Markdown page; folder: of the SVGs, as seen from the page."""
    lines = [HEAD.format(version=plots.load().__version__)]
    lines += [f"* [{figure.title}](#{anchor(figure.title)})" for figure, _ in figures]
    lines += compared(figures, data)
    for figure, one in figures:
        lines += ["", f"## {figure.title}", "", figure.about, "",
                  f"![{figure.title}]({folder}/{figure.name}.svg)", "", *said_lines(one.says)]
        if one.rows:
            lines += ["| " + " | ".join(one.heads) + " |", "|" + "---|" * len(one.heads)]
            lines += ["| " + " | ".join(row) + " |" for row in one.rows] + [""]
        lines += [f"* {name}: {text}" for name, text in facts_of(figure, data)]
    return "\n".join(lines) + "\n"


def anchor(title):
    """The anchor that GitHub makes of a heading."""
    letters = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return letters.replace(" ", "-")
