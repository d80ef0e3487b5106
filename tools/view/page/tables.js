// SPDX-License-Identifier: BSD-3-Clause
// Tables of the page: ranks, waits, collectives, late receivers, pairs, the critical path.
// A table shows its first rows and a button for the others; a heading with a button sorts by it.

const FIRST_ROWS = 12;

// columns: [{title, cls, cell(row) -> node or text, value(row) -> number or text, for sorting}]
function table(place, columns, data, empty) {
  const box = document.getElementById(place);
  let order = data, all = false, sorted = -1, up = false;
  if (!data.length) { box.replaceChildren(el("p", {class: "empty"}, empty)); return; }
  const heading = (c, i) => {
    if (!c.value) return el("th", {class: c.cls || "", scope: "col"}, c.title);
    const state = sorted !== i ? "none" : up ? "ascending" : "descending";
    const button = el("button", {type: "button"}, c.title + (sorted !== i ? "" : up ? " \u2191" : " \u2193"));
    button.addEventListener("click", () => {
      up = sorted === i && !up;
      sorted = i;
      order = [...data].sort((a, b) => (c.value(a) < c.value(b) ? -1 : c.value(a) > c.value(b) ? 1 : 0) * (up ? 1 : -1));
      fill(i);
    });
    return el("th", {class: c.cls || "", scope: "col", "aria-sort": state}, button);
  };
  const fill = (focus) => {
    const rows = (all ? order : order.slice(0, FIRST_ROWS)).map((row) =>
      el("tr", {}, ...columns.map((c) => el("td", {class: c.cls || ""}, c.cell(row)))));
    const parts = [el("table", {}, el("thead", {}, el("tr", {}, ...columns.map(heading))), el("tbody", {}, ...rows))];
    if (data.length > FIRST_ROWS) {
      const more = el("button", {type: "button", class: "more"}, all ? "Show fewer" : `Show all ${data.length}`);
      more.addEventListener("click", () => { all = !all; fill(); box.querySelector(".more").focus(); });
      parts.push(more);
    }
    box.replaceChildren(...parts);
    if (focus !== undefined) box.querySelectorAll("th")[focus].querySelector("button").focus();
  };
  fill();
}

// A bar of parts: [[share of the whole 0..1, colour, what it is]]
function stack(parts) {
  const label = parts.filter((p) => p[0] > 0).map((p) => `${p[2]} ${percentText(p[0], 1)}`).join(", ");
  return el("div", {class: "stack", role: "img", "aria-label": label, title: label},
    ...parts.filter((p) => p[0] > 0).map((p) => el("i", {style: `width: ${100 * p[0]}%; background: ${p[1]}`})));
}
function stateStack(ns, whole) {
  return stack(ns.map((value, s) => [whole > 0 ? value / whole : 0, `var(--s${s})`, meta.states[s]]));
}

function rankTable() {
  const hosts = new Set(meta.ranks.map((r) => r.host)).size > 1;
  table("rank-table", [
    {title: "Rank", cls: "l", cell: (r) => nameOf(r.label), value: (r) => r.index},
    ...(hosts ? [{title: "Host", cls: "l", cell: (r) => nameOf(r.host), value: (r) => r.host}] : []),
    {title: "Time", cls: "n", cell: (r) => timeText(r.time), value: (r) => r.time},
    {title: "", cls: "w", cell: (r) => stateStack(r.ns, r.time)},
    {title: "Computes", cls: "n", cell: (r) => percentText(r.ns[0], r.time), value: (r) => r.ns[0] / (r.time || 1)},
    {title: "Waits", cls: "n", cell: (r) => percentText(r.ns[4] + r.ns[3], r.time), value: (r) => (r.ns[4] + r.ns[3]) / (r.time || 1)},
    {title: "Overlap", cls: "n", cell: (r) => r.flight ? percentText(r.overlapped, r.flight) : "\u2013", value: (r) => r.flight ? r.overlapped / r.flight : -1},
    {title: "Sent", cls: "n", cell: (r) => bytesText(r.sent[1]), value: (r) => r.sent[1]},
    {title: "Operations", cls: "n", cell: (r) => countText(r.sent[0]), value: (r) => r.sent[0]},
  ], meta.ranks.map((r, index) => ({...r, index})), "The trace names no rank.");
}

// What the late rank did meanwhile, in words.
function why(w) {
  const all = w.did.reduce((a, b) => a + b, 0);
  if (!all) return w.late ? "It is not in the trace at that time." : "";
  return w.did.map((ns, s) => [ns, s]).filter(([ns]) => ns * 10 >= all).sort((a, b) => b[0] - a[0]).map(([ns, s]) => {
    const where = s === 0 && w.regions.length ? ` in ${nameOf(w.regions[0][0])}` : s === 4 && w.ranks.length ? ` for ${rankName(w.ranks[0][0])}` : "";
    return `${meta.states[s]}${where} ${percentText(ns, all)}`;
  }).join(", ");
}

function waitTable() {
  const most = Math.max(1, ...meta.waits.map((w) => w.waited));
  table("wait-table", [
    {title: "Rank", cls: "l", cell: (w) => rankName(w.waiter), value: (w) => w.waiter},
    {title: "waits for", cls: "l", cell: (w) => rankName(w.for), value: (w) => w.for},
    {title: "by", cls: "l", cell: (w) => meta.kinds[w.kind][0], value: (w) => meta.kinds[w.kind][0]},
    {title: "Waits", cls: "n", cell: (w) => countText(w.count), value: (w) => w.count},
    {title: "Time", cls: "n", cell: (w) => timeText(w.waited), value: (w) => w.waited},
    {title: "Of its time", cls: "n", cell: (w) => percentText(w.waited, meta.ranks[w.waiter].time), value: (w) => w.waited / (meta.ranks[w.waiter].time || 1)},
    {title: "Late sender, transfer, no processor", cls: "w", cell: (w) => stack([[w.late / most, "var(--late)", "late sender"], [(w.waited - w.late - w.processor) / most, "var(--transfer)", "transfer"], [w.processor / most, "var(--processor)", "no processor"]]), value: (w) => w.late / (w.waited || 1)},
    {title: "Meanwhile the other rank", cls: "why", cell: why},
  ], meta.waits, "No wait of which the trace says who ended it.");
}

function collectiveTable() {
  table("collective-table", [
    {title: "Collective", cls: "l", cell: (c) => nameOf(c.name), value: (c) => nameOf(c.name)},
    {title: "Calls", cls: "n", cell: (c) => countText(c.count), value: (c) => c.count},
    {title: "Time", cls: "n", cell: (c) => timeText(c.inside), value: (c) => c.inside},
    {title: "Until the last", cls: "n", cell: (c) => percentText(c.waited, c.inside), value: (c) => c.waited / (c.inside || 1)},
    {title: "Last most often", cls: "l", cell: (c) => {
      const worst = c.last.indexOf(Math.max(...c.last));
      return c.last[worst] ? `${rankName(worst)} (${countText(c.last[worst])})` : "\u2013";
    }},
  ], meta.collectives, "No collective is in the trace.");
}

function delayTable() {
  table("delay-table", [
    {title: "Receiver", cls: "l", cell: (d) => rankName(d[1]), value: (d) => d[1]},
    {title: "Sender", cls: "l", cell: (d) => rankName(d[0]), value: (d) => d[0]},
    {title: "Times", cls: "n", cell: (d) => countText(d[2]), value: (d) => d[2]},
    {title: "Handler late", cls: "n", cell: (d) => timeText(d[3]), value: (d) => d[3]},
    {title: "Data lay ready", cls: "n", cell: (d) => timeText(d[4]), value: (d) => d[4]},
  ], meta.delays, "No receiver was late.");
}

function pairTable() {
  const whole = meta.matrix.reduce((sum, m) => sum + m[3], 0);
  table("pair-table", [
    {title: "From", cls: "l", cell: (m) => rankName(m[0]), value: (m) => m[0]},
    {title: "To", cls: "l", cell: (m) => rankName(m[1]), value: (m) => m[1]},
    {title: "Operations", cls: "n", cell: (m) => countText(m[2]), value: (m) => m[2]},
    {title: "Bytes", cls: "n", cell: (m) => bytesText(m[3]), value: (m) => m[3]},
    {title: "Share", cls: "n", cell: (m) => percentText(m[3], whole), value: (m) => m[3]},
  ], [...meta.matrix].sort((a, b) => b[3] - a[3] || b[2] - a[2]), "No data went from rank to rank.");
}

function pathTables() {
  const p = meta.path, parts = [...p.ns.map((ns, s) => [ns, `var(--s${s})`, meta.states[s]]), [p.transfer, "var(--transfer)", "transfers"]];
  document.getElementById("path-bar").replaceChildren(
    stack(parts.map(([ns, c, name]) => [p.length ? ns / p.length : 0, c, name])),
    el("ul", {class: "legend", style: "margin-top: 8px"}, ...parts.filter((x) => x[0] > 0).map(([ns, c, name]) =>
      el("li", {}, el("span", {style: `background: ${c}`}), `${name} ${percentText(ns, p.length)}`))));
  const bar = (ns) => stack([[p.length ? ns / p.length : 0, "var(--accent)", "of the path"]]);
  const row = (name) => [
    {title: name, cls: "l", cell: (r) => r[0], value: (r) => r[2]},
    {title: "Time", cls: "n", cell: (r) => timeText(r[1]), value: (r) => r[1]},
    {title: "Share", cls: "n", cell: (r) => percentText(r[1], p.length), value: (r) => r[1]},
    {title: "", cls: "w", cell: (r) => bar(r[1])}];
  table("path-ranks", row("Rank"), meta.ranks.map((r, i) => [rankName(i), r.path, i]).filter((r) => r[1] > 0).sort((a, b) => b[1] - a[1]), "There is no path.");
  table("path-regions", row("Region"), p.regions.map(([name, ns], i) => [nameOf(name), ns, i]),
        "No region is marked. gexx_Trace_Begin and gexx_Trace_End mark one.");
}
