// SPDX-License-Identifier: BSD-3-Clause
// The timeline: rows of hosts, ranks and threads; zoom, selection, search, arrows, keys.
// Times in this file are columns' units (meta.quantum_ns each) since the first event.

const view = {from: 0, to: spanUnits, row: 0, selected: -1, matches: null, matchNames: null};
const timeline = document.getElementById("timeline-canvas");
const scroller = document.getElementById("scroller");
const overview = document.getElementById("overview");
let rows = [], rowOfRank = [], folded = new Set(), frame = 0, overviewImage = null;

function hostsOf() {
  const hosts = new Map();
  meta.ranks.forEach((rank, r) => {
    if (!hosts.has(rank.host)) hosts.set(rank.host, []);
    hosts.get(rank.host).push(r);
  });
  return hosts;
}

function layRows() {
  const hosts = hostsOf();
  const tall = Math.max(28, Math.min(44, Math.floor(260 / meta.ranks.length)));
  let y = AXIS;
  rows = [];
  rowOfRank = [];
  const add = (row, height) => {
    rows.push({...row, y, height});
    y += height;
  };
  for (const [host, ranks] of hosts) {
    const shut = folded.has(host);
    if (hosts.size > 1) add({kind: "host", host, ranks, shut}, 28);
    for (const r of ranks) {
      if (shut) { rowOfRank[r] = rows.length - 1; continue; }
      meta.tracks.forEach((track, t) => {
        if (track[0] !== r || (!track[4] && t !== meta.ranks[r].main)) return;
        if (t === meta.ranks[r].main) rowOfRank[r] = rows.length;
        add({kind: "track", track: t, rank: r, main: t === meta.ranks[r].main}, t === meta.ranks[r].main ? tall : 18);
      });
    }
  }
  document.getElementById("spacer").style.height =
    Math.max(0, y + 6 - Math.min(y + 6, limitHeight())) + "px";
  rows.bottom = y + 6;
}

function limitHeight() { return Math.max(160, Math.round(window.innerHeight * 0.6)); }
function shownHeight() { return Math.min(rows.bottom, limitHeight()); }
function tracksOf(row) { return row.kind === "host" ? row.ranks.map((r) => meta.ranks[r].main).filter((t) => t >= 0) : [row.track]; }
function chartWidth() { return Math.max(50, timeline.clientWidth - GUTTER); }
function xOf(time) { return GUTTER + (time - view.from) / (view.to - view.from) * chartWidth(); }
function timeAt(x) { return view.from + (x - GUTTER) / chartWidth() * (view.to - view.from); }
function draw() { if (!frame) frame = requestAnimationFrame(() => { frame = 0; drawNow(); }); }

function drawNow() {
  const width = timeline.clientWidth, height = shownHeight();
  const context = fit(timeline, width, height);
  drawLanes(context, width, height);
  drawAxis(context, width, height);
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, width - GUTTER, height - AXIS);
  context.clip();
  drawNames(context);
  if (view.matchNames) drawMatches(context);
  if (document.getElementById("show-arrows").checked) drawArrows(context, height);
  if (document.getElementById("show-path").checked) drawPath(context);
  drawSelection(context);
  context.restore();
  drawLabels(context, height);
  drawOverview();
}

function visible(row, height) {
  const y = row.y - scroller.scrollTop;
  return y + row.height > AXIS && y < height;
}

function drawLanes(context, width, height) {
  const ratio = timeline.width / width, columns = Math.round(chartWidth() * ratio);
  const image = context.createImageData(timeline.width, timeline.height);
  new Uint32Array(image.data.buffer).fill(theme.bgPixel);
  for (const row of rows) {
    const inset = row.kind === "host" || row.main ? 4 : 3;
    if (!visible(row, height) || (row.kind === "host" && !row.shut)) continue;
    const top = row.y - scroller.scrollTop + inset;
    const y = Math.max(Math.round(AXIS * ratio), Math.round(top * ratio));
    const bottom = Math.min(timeline.height, Math.round((top + row.height - 2 * inset) * ratio));
    if (bottom <= y) continue;
    const cover = new Float32Array(columns * meta.states.length), tracks = tracksOf(row);
    for (const t of tracks) addCover(cover, columns, t, view.from, view.to);
    paintCover(image, {x: Math.round(GUTTER * ratio), y, width: columns, height: bottom - y},
               cover, tracks.length);
  }
  context.putImageData(image, 0, 0);
}

function drawAxis(context, width, height) {
  const span = (view.to - view.from) * quantum, from = view.from * quantum;
  const step = tickStep(span, Math.max(2, chartWidth() / 110));
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, width, AXIS);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.fillStyle = theme.soft;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = Math.ceil(from / step) * step; at <= from + span; at += step) {
    const x = Math.round(xOf(at / quantum)) + 0.5;
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, AXIS);
    if (x > GUTTER + 20 && x < width - 24) context.fillText(momentText(at, step), x, AXIS / 2 - 2);
  }
  context.moveTo(0, AXIS - 0.5);
  context.lineTo(width, AXIS - 0.5);
  context.stroke();
}

function eachWide(least, action) {
  const width = (view.to - view.from) * least / chartWidth();
  for (const row of rows) {
    if (row.kind !== "track" || !visible(row, shownHeight())) continue;
    const end = pieces.first[row.track + 1], first = firstPiece(row.track, view.from);
    if (firstPiece(row.track, view.to) - first > 20000) continue; // too narrow for names
    for (let i = first; i < end && pieces.start[i] < view.to; i++)
      if (pieces.end[i] - pieces.start[i] >= width && pieces.event[i] >= 0) action(row, i);
  }
}

function drawNames(context) {
  context.textAlign = "left";
  const ink = theme.states.map(inkOn);
  eachWide(44, (row, i) => {
    if (!row.main) return;
    const a = Math.max(GUTTER, xOf(pieces.start[i])), b = Math.min(xOf(pieces.end[i]), GUTTER + chartWidth());
    const room = b - a - 10, text = nameOf(ev.name[pieces.event[i]]);
    const shown = context.measureText(text).width <= room ? text : text.slice(0, Math.max(0, Math.floor(room / 7) - 1)) + "\u2026";
    if (room < 24 || shown.length < 3) return;
    context.fillStyle = ink[pieces.state[i]];
    context.fillText(shown, a + 5, row.y - scroller.scrollTop + row.height / 2 + 0.5);
  });
}

function drawMatches(context) {
  context.strokeStyle = theme.match;
  context.lineWidth = 2;
  const least = (view.to - view.from) / chartWidth();
  for (const row of rows) {
    if (row.kind !== "track" || !visible(row, shownHeight())) continue;
    const [, , , first, count] = meta.tracks[row.track];
    let last = -1;
    for (let i = firstEvent(row.track, view.from); i < first + count && ev.start[i] < view.to; i++) {
      if (!matching(i) || endOf(i) - last < least) continue;
      last = endOf(i);
      const a = xOf(ev.start[i]), b = Math.max(xOf(endOf(i)), a + 2);
      context.strokeRect(a, row.y - scroller.scrollTop + 3, b - a, row.height - 6);
    }
  }
}

// The first event of a track that may reach past a time: those before it are nested around it.
function firstEvent(track, time) {
  const [, , , first, count] = meta.tracks[track];
  let low = first, high = first + count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ev.start[middle] < time) low = middle + 1; else high = middle;
  }
  return Math.max(first, low - 64);
}

function middleOf(rank) {
  const row = rows[rowOfRank[rank]];
  return row ? row.y - scroller.scrollTop + row.height / 2 : -100;
}
function rankOf(event) { return meta.tracks[trackOf(event)][0]; }
function seenAt(arrow) {
  const to = arrows.to[arrow];
  return meta.kinds[ev.kind[to]][0] === "handler" || ev.start[to] > endOf(arrows.from[arrow]) ? ev.start[to] : endOf(to);
}

function drawArrow(context, arrow, strong) {
  const a = rankOf(arrows.from[arrow]), b = rankOf(arrows.to[arrow]);
  const x1 = xOf(ev.start[arrows.from[arrow]]), x2 = xOf(seenAt(arrow));
  const down = middleOf(b) > middleOf(a) ? 1 : -1;
  const y1 = middleOf(a) + (a === b ? 0 : 10 * down), y2 = middleOf(b) - (a === b ? 0 : 10 * down);
  const angle = Math.atan2(y2 - y1, x2 - x1), head = strong ? 8 : 6;
  context.strokeStyle = context.fillStyle = strong ? theme.match : theme.text;
  context.lineWidth = strong ? 2 : 1;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - head * Math.cos(angle - 0.4), y2 - head * Math.sin(angle - 0.4));
  context.lineTo(x2 - head * Math.cos(angle + 0.4), y2 - head * Math.sin(angle + 0.4));
  context.fill();
}

function drawArrows(context) {
  const shown = [];
  for (let i = 0; i < arrows.from.length; i++) {
    if (ev.start[arrows.from[i]] > view.to || endOf(arrows.to[i]) < view.from) continue;
    if (shown.length > 400) return;
    shown.push(i);
  }
  context.globalAlpha = shown.length > 120 ? 0.35 : 0.7;
  for (const i of shown) drawArrow(context, i, false);
  context.globalAlpha = 1;
}

function drawPath(context) {
  const least = (view.to - view.from) / chartWidth() / 2;
  context.lineWidth = 2.5;
  context.strokeStyle = theme.path;
  context.lineJoin = "round";
  context.beginPath();
  let pen = false, last = Infinity;
  for (let i = 0; i < steps.rank.length; i++) { // it goes back in time
    if (steps.start[i] > view.to) continue;
    if (steps.end[i] < view.from) break;
    if (last - steps.start[i] < least && steps.start[i] > view.from) continue;
    last = steps.start[i];
    const to = steps.from[i] === NONE16 ? steps.rank[i] : steps.from[i];
    const x = xOf(steps.end[i]), y = middleOf(steps.rank[i]) + 8;
    if (pen) context.lineTo(x, y); else context.moveTo(x, y);
    context.lineTo(xOf(steps.start[i]), middleOf(to) + 8);
    pen = true;
  }
  context.stroke();
}

function drawSelection(context) {
  if (view.selected < 0) return;
  const track = trackOf(view.selected);
  const row = rows.find((r) => r.kind === "track" && r.track === track);
  if (!row) return;
  const a = xOf(ev.start[view.selected]), b = Math.max(xOf(endOf(view.selected)), a + 3);
  context.strokeStyle = theme.bg;
  context.lineWidth = 5;
  context.strokeRect(a, row.y - scroller.scrollTop + 3, b - a, row.height - 6);
  context.strokeStyle = theme.match;
  context.lineWidth = 2.5;
  context.strokeRect(a, row.y - scroller.scrollTop + 3, b - a, row.height - 6);
  for (const arrow of [...arrowsOf(view.selected, true), ...arrowsOf(view.selected, false)].slice(0, 64))
    drawArrow(context, arrow, true);
}

function labelOf(row) {
  if (row.kind === "host") return (row.shut ? "\u25b8 " : "\u25be ") + (nameOf(row.host) || "host");
  if (row.main) return rankName(row.rank);
  const track = meta.tracks[row.track];
  return "\u2003" + (track[2] >= 0 ? nameOf(track[2]) : "thread " + track[1]);
}

function drawLabels(context, height) {
  context.textAlign = "left";
  rows.forEach((row, i) => {
    if (!visible(row, height)) return;
    const y = row.y - scroller.scrollTop;
    if (i === view.row && document.activeElement === timeline) {
      context.fillStyle = theme.panel;
      context.fillRect(0, Math.max(AXIS, y), GUTTER - 4, row.height);
      context.fillStyle = theme.accent;
      context.fillRect(0, Math.max(AXIS, y), 3, row.height);
    }
    context.font = (row.kind === "host" ? "600 13px" : row.main ? "13px" : "11px") + " system-ui, sans-serif";
    context.fillStyle = row.kind === "host" || row.main ? theme.text : theme.soft;
    context.save();
    context.beginPath();
    context.rect(0, AXIS, row.kind === "host" && !row.shut ? 400 : GUTTER - 6, height);
    context.clip();
    context.fillText(labelOf(row), 10, y + row.height / 2 + 0.5);
    context.restore();
  });
}

// ---- overview
function drawOverview() {
  const width = overview.clientWidth, context = fit(overview, width, 44);
  const columns = overview.width, height = overview.height;
  if (!overviewImage || overviewImage.width !== columns || overviewImage.dark !== theme.dark) {
    const tracks = meta.ranks.map((r) => r.main).filter((t) => t >= 0);
    const cover = new Float32Array(columns * meta.states.length);
    for (const t of tracks) addCover(cover, columns, t, 0, spanUnits);
    const image = context.createImageData(columns, height);
    paintCover(image, {x: 0, y: 0, width: columns, height}, cover, Math.max(1, tracks.length));
    overviewImage = {width: columns, dark: theme.dark, image};
  }
  context.putImageData(overviewImage.image, 0, 0);
  const a = view.from / spanUnits * width, b = Math.max(view.to / spanUnits * width, a + 3);
  context.fillStyle = theme.dark ? "rgba(0,0,0,.65)" : "rgba(255,255,255,.72)";
  context.fillRect(0, 0, a, 44);
  context.fillRect(b, 0, width - b, 44);
  context.strokeStyle = theme.text;
  context.lineWidth = 2;
  context.strokeRect(a + 1, 1, b - a - 2, 42);
  overview.setAttribute("aria-valuenow", Math.round(100 * view.from / spanUnits));
  overview.setAttribute("aria-valuetext", `${timeText(view.from * quantum)} to ${timeText(view.to * quantum)}`);
}

// ---- moving
function show(from, to) {
  const span = Math.min(spanUnits, Math.max(to - from, Math.min(20, spanUnits)));
  view.from = Math.max(0, Math.min(from, spanUnits - span));
  view.to = view.from + span;
  keepPlace();
  draw();
}

// The address names what is shown, so that a copied link leads there: from and to in ns, and the event.
let keeping = 0;
function placeText() {
  const event = view.selected < 0 ? "" : `&event=${view.selected}`;
  return `#at=${Math.round(view.from * quantum)},${Math.round(view.to * quantum)}${event}`;
}
function keepPlace() {
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, "", placeText()), 200);
}
function goToPlace() {
  const at = /^#at=(\d+),(\d+)(?:&event=(\d+))?$/.exec(location.hash);
  if (!at || +at[2] <= +at[1]) return;
  if (at[3] !== undefined && +at[3] < ev.start.length) select(+at[3], true);
  show(at[1] / quantum, at[2] / quantum);
}
function zoom(factor, about) {
  const at = about === undefined ? centre() : about;
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
function centre() {
  const at = view.selected < 0 ? -1 : (ev.start[view.selected] + endOf(view.selected)) / 2;
  return at >= view.from && at <= view.to ? at : (view.from + view.to) / 2;
}
function pan(share) {
  const step = (view.to - view.from) * share;
  show(view.from + step, view.to + step);
}
function scrollToRow(i) {
  const row = rows[i];
  if (!row) return;
  const top = row.y - AXIS, bottom = row.y + row.height - shownHeight();
  if (scroller.scrollTop > top) scroller.scrollTop = top;
  else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom;
}

function select(event, keep) {
  view.selected = event;
  if (event >= 0) {
    const track = trackOf(event);
    const i = rows.findIndex((r) => r.kind === "track" && r.track === track);
    if (i < 0) unfold(meta.ranks[meta.tracks[track][0]].host, event);
    else { view.row = i; scrollToRow(i); }
    if (!keep && (endOf(event) < view.from || ev.start[event] > view.to)) {
      const half = (view.to - view.from) / 2, middle = (ev.start[event] + endOf(event)) / 2;
      show(middle - half, middle + half);
    }
  }
  document.getElementById("detail").replaceChildren(...describe(event));
  keepPlace();
  draw();
}

function unfold(host, event) {
  folded.delete(host);
  layRows();
  view.row = rows.findIndex((r) => r.kind === "track" && r.track === trackOf(event));
  scrollToRow(view.row);
}

function toggle(host) {
  if (folded.has(host)) folded.delete(host); else folded.add(host);
  layRows();
  draw();
}

// ---- words about an event
function describe(event) {
  if (event < 0) return ["Click an event, or move to one with the arrow keys."];
  const rank = rankOf(event), facts = [];
  const add = (text) => { if (text) facts.push(text); };
  add(`at ${momentText(ev.start[event] * quantum, quantum)}`);
  if (!isMoment(event)) add(`takes ${timeText(ev.dur[event] * quantum)}`);
  if (ev.peer[event] !== NONE16)
    add(`${meta.kinds[ev.kind[event]][0] === "wait" || meta.kinds[ev.kind[event]][0] === "collective" ? "ended by" : "with"} ${rankName(ev.peer[event])}`);
  if (ev.bytes[event] > 0) add(bytesText(ev.bytes[event]));
  add(nameOf(ev.detail[event]));
  const head = el("p", {}, el("b", {}, `${rankName(rank)}: ${nameOf(ev.name[event]) || meta.kinds[ev.kind[event]][0]}`),
                  ` (${meta.kinds[ev.kind[event]][0]}) ` + facts.join(", "));
  return [head, el("p", {}, reason(event))];
}

// The parts of a wait that `from` ended, as tools/view/analysis/processor.c has them.
function waitParts(event, from) {
  const rank = rankOf(event), other = rankOf(from), end = endOf(event);
  const late = Math.max(0, Math.min(ev.start[from] - ev.start[event], ev.dur[event]));
  const near = other !== rank && meta.ranks[rank].host === meta.ranks[other].host;
  const ready = end - Math.max(endOf(from), ev.start[event]);
  const processor = near && meta.ranks[rank].crowded && ready * quantum > meta.wake_ns ? ready : 0;
  return [["late sender", late], ["transfer", ev.dur[event] - late - processor], ["no processor", processor]];
}

function reason(event) {
  const kind = meta.kinds[ev.kind[event]][0], into = arrowsOf(event, true), out = arrowsOf(event, false);
  if (kind === "wait" && into.length) {
    const from = arrows.from[into.reduce((a, b) => ev.start[arrows.from[a]] > ev.start[arrows.from[b]] ? a : b)];
    const late = ev.start[from] - ev.start[event], who = `${rankName(rankOf(from))}'s ${nameOf(ev.name[from])}`;
    const parts = waitParts(event, from).filter((p) => p[1] > 0).map(([name, time]) => `${name} for ${timeText(time * quantum)}`).join(", ");
    return late > 0 ? `It waits for ${who}, which begins ${timeText(late * quantum)} after the wait: ${parts}.`
                    : `It waits for ${who}, which had begun ${timeText(-late * quantum)} before the wait: ${parts}.`;
  }
  if (kind === "handler" && into.length) {
    const from = arrows.from[into[0]];
    return `Sent by ${rankName(rankOf(from))} ${timeText((ev.start[event] - ev.start[from]) * quantum)} before.`;
  }
  if (out.length) return `${rankName(rankOf(arrows.to[out[0]]))} sees it in ${nameOf(ev.name[arrows.to[out[0]]])}, ${timeText((seenAt(out[0]) - ev.start[event]) * quantum)} after it began. Key f goes there.`;
  return "";
}

// ---- search
function matching(event) { return view.matchNames[ev.name[event]] || (ev.detail[event] < view.matchNames.length && view.matchNames[ev.detail[event]]) || view.matchKinds[ev.kind[event]]; }
function search(text) {
  const wanted = text.trim().toLowerCase(), found = document.getElementById("matches");
  view.matchNames = view.matches = null;
  if (wanted) {
    view.matchNames = Uint8Array.from(meta.names, (n) => n.toLowerCase().includes(wanted) ? 1 : 0);
    view.matchKinds = meta.kinds.map((k) => k[0] === wanted);
    let count = 0;
    for (let i = 0; i < ev.name.length; i++) if (matching(i)) count++;
    const list = new Uint32Array(count);
    for (let i = 0, n = 0; i < ev.name.length; i++) if (matching(i)) list[n++] = i;
    view.matches = list;
  }
  found.value = !wanted ? "" : view.matches.length === 1 ? "1 match" : countText(view.matches.length) + " matches";
  draw();
}
function nextMatch(direction) {
  const list = view.matches;
  if (!list || !list.length) return;
  let low = 0, high = list.length; // the first one behind the selection
  while (low < high) { const m = (low + high) >> 1; if (list[m] <= view.selected) low = m + 1; else high = m; }
  let at = direction > 0 ? low : low - 1;
  if (direction < 0 && at >= 0 && list[at] === view.selected) at--;
  select(list[(at + list.length) % list.length]);
}

// ---- keys and mouse
function stepEvent(direction) {
  const row = rows[view.row];
  if (!row || row.kind !== "track") return;
  const [, , , first, count] = meta.tracks[row.track];
  if (!count) return;
  if (view.selected < first || view.selected >= first + count)
    select(Math.min(first + count - 1, firstBehind(row.track, view.from)));
  else select(Math.min(first + count - 1, Math.max(first, view.selected + direction)));
}
function firstBehind(track, time) {
  const [, , , first, count] = meta.tracks[track];
  let low = first, high = first + count;
  while (low < high) { const m = (low + high) >> 1; if (ev.start[m] < time) low = m + 1; else high = m; }
  return low;
}
function stepRow(direction) {
  view.row = Math.max(0, Math.min(rows.length - 1, view.row + direction));
  scrollToRow(view.row);
  const row = rows[view.row];
  if (row.kind === "track" && meta.tracks[row.track][4]) {
    const [, , , first, count] = meta.tracks[row.track];
    const time = view.selected >= 0 ? ev.start[view.selected] : view.from;
    select(Math.min(first + count - 1, firstBehind(row.track, time)));
  } else {
    document.getElementById("detail").textContent = `${nameOf(row.host)}: ${row.ranks.length} ranks, ${row.shut ? "folded" : "unfolded"}. Enter ${row.shut ? "unfolds" : "folds"} them.`;
  }
  draw();
}
function follow() {
  if (view.selected < 0) return;
  const into = arrowsOf(view.selected, true), out = arrowsOf(view.selected, false);
  if (into.length) select(arrows.from[into[into.length - 1]]);
  else if (out.length) select(arrows.to[out[0]]);
}
function enter() {
  const row = rows[view.row];
  if (row && row.kind === "host") { toggle(row.host); return; }
  if (view.selected < 0) return;
  const span = Math.max(20, (endOf(view.selected) - ev.start[view.selected]) * 2.5);
  const middle = (ev.start[view.selected] + endOf(view.selected)) / 2;
  show(middle - span / 2, middle + span / 2);
}
function endEvent(last) {
  const row = rows[view.row];
  if (!row || row.kind !== "track") return;
  const [, , , first, count] = meta.tracks[row.track];
  if (count) select(last ? first + count - 1 : first);
}

const keys = {
  ArrowLeft: (e) => e.shiftKey ? pan(-0.2) : stepEvent(-1), ArrowRight: (e) => e.shiftKey ? pan(0.2) : stepEvent(1),
  ArrowUp: () => stepRow(-1), ArrowDown: () => stepRow(1), Home: () => endEvent(false), End: () => endEvent(true),
  PageUp: () => stepRow(-10), PageDown: () => stepRow(10),
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, spanUnits),
  Enter: enter, " ": enter, f: follow, n: () => nextMatch(1), p: () => nextMatch(-1),
  "/": () => document.getElementById("search").focus(), Escape: () => select(-1),
};
function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
  e.preventDefault();
  keys[e.key](e);
}

function rowAt(y) { return rows.findIndex((r) => y + scroller.scrollTop >= r.y && y + scroller.scrollTop < r.y + r.height); }
function eventAt(row, time) {
  if (!row || row.kind !== "track") return -1;
  const slack = (view.to - view.from) / chartWidth() * 2;
  let i = firstPiece(row.track, time - slack), best = -1;
  for (; i < pieces.first[row.track + 1] && pieces.start[i] <= time + slack; i++) {
    if (pieces.event[i] < 0) continue;
    best = pieces.event[i];
    if (pieces.end[i] >= time) break;
  }
  return best;
}

function listenMouse() {
  let drag = null;
  timeline.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    drag = {x: e.offsetX, y: e.offsetY, from: view.from, to: view.to, moved: false, zoom: e.shiftKey};
    timeline.setPointerCapture(e.pointerId);
  });
  timeline.addEventListener("pointermove", (e) => {
    if (!drag) return;
    const move = e.offsetX - drag.x;
    if (Math.abs(move) > 3) drag.moved = true;
    if (!drag.moved || drag.zoom) return;
    const time = move / chartWidth() * (drag.to - drag.from);
    show(drag.from - time, drag.to - time);
  });
  timeline.addEventListener("pointerup", (e) => {
    const was = drag;
    drag = null;
    if (!was) return;
    if (was.moved && was.zoom) { show(Math.min(timeAt(was.x), timeAt(e.offsetX)), Math.max(timeAt(was.x), timeAt(e.offsetX))); return; }
    if (was.moved) return;
    const i = rowAt(e.offsetY);
    if (i < 0) return;
    view.row = i;
    if (rows[i].kind === "host") toggle(rows[i].host);
    else select(e.offsetX > GUTTER ? eventAt(rows[i], timeAt(e.offsetX)) : view.selected, true);
  });
  timeline.addEventListener("wheel", (e) => {
    if (e.ctrlKey || e.metaKey) zoom(Math.exp(e.deltaY / 300), timeAt(Math.max(GUTTER, e.offsetX)));
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / chartWidth());
    else return;
    e.preventDefault();
  }, {passive: false});
  const centreOn = (e) => {
    const half = (view.to - view.from) / 2, at = e.offsetX / overview.clientWidth * spanUnits;
    show(at - half, at + half);
  };
  overview.addEventListener("pointerdown", (e) => { overview.setPointerCapture(e.pointerId); centreOn(e); });
  overview.addEventListener("pointermove", (e) => { if (e.buttons & 1) centreOn(e); });
}

function listenKeys() {
  timeline.addEventListener("keydown", onKey);
  overview.addEventListener("keydown", (e) => {
    const moves = {ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "-": () => zoom(2),
                   Home: () => show(0, view.to - view.from), End: () => show(spanUnits - (view.to - view.from), spanUnits), "0": () => show(0, spanUnits)};
    if (!moves[e.key]) return;
    e.preventDefault();
    moves[e.key]();
  });
  for (const kind of ["focus", "blur"]) timeline.addEventListener(kind, draw);
  const field = document.getElementById("search");
  field.addEventListener("input", () => search(field.value));
  field.addEventListener("keydown", (e) => {
    if (e.key === "Enter") nextMatch(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") timeline.focus();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || /^(INPUT|TEXTAREA)$/.test(e.target.tagName)) return;
    e.preventDefault();
    field.focus();
  });
}

function listenButtons() {
  const on = (id, action) => document.getElementById(id).addEventListener("click", action);
  on("zoom-in", () => zoom(0.5));
  on("zoom-out", () => zoom(2));
  on("zoom-all", () => show(0, spanUnits));
  on("next", () => nextMatch(1));
  on("previous", () => nextMatch(-1));
  on("show-path", draw);
  on("show-arrows", draw);
  const fold = document.getElementById("fold"), hosts = [...hostsOf().keys()];
  fold.hidden = hosts.length < 2;
  fold.addEventListener("click", () => {
    const shut = folded.size < hosts.length;
    folded = new Set(shut ? hosts : []);
    fold.setAttribute("aria-pressed", shut);
    layRows();
    view.row = Math.min(view.row, rows.length - 1);
    draw();
  });
}

function startTimeline() {
  const hosts = hostsOf();
  if (hosts.size > 1 && meta.ranks.length > 32) folded = new Set(hosts.keys());
  document.getElementById("fold").setAttribute("aria-pressed", folded.size > 0);
  layRows();
  listenMouse();
  listenKeys();
  listenButtons();
  scroller.addEventListener("scroll", draw);
  document.getElementById("legend").append(...meta.states.map((name, s) =>
    el("li", {}, el("span", {style: `background: var(--s${s})`}), name)),
    el("li", {}, el("span", {style: "background: var(--path); height: 3px; vertical-align: 3px"}), "critical path"));
  goToPlace();
  window.addEventListener("hashchange", goToPlace);
  drawNow();
}
