// SPDX-License-Identifier: BSD-3-Clause
// The data of the page: numbers in columns, decoded once, and how they are written as words.
// A piece is a stretch of a track in which one event is innermost; pieces say what is drawn.

const meta = JSON.parse(document.getElementById("meta").textContent);
const NONE16 = 0xffff, NONE = 0xffffffff;

function column(id) {
  const element = document.getElementById("column-" + id);
  const text = atob(element.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  element.textContent = ""; // its memory is no longer needed
  const types = {u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array};
  return new types[element.dataset.type](bytes.buffer);
}

const ev = {
  start: column("start"), dur: column("duration"), kind: column("kind"), depth: column("depth"),
  name: column("name"), detail: column("detail"), peer: column("peer"), bytes: column("bytes"),
};
const arrows = {from: column("arrow-from"), to: column("arrow-to")};
const steps = {rank: column("step-rank"), from: column("step-from"),
               start: column("step-start"), end: column("step-end")};
const quantum = meta.quantum_ns;
const stateOf = Uint8Array.from(meta.kinds, (k) => k[1]);
const PACKET = meta.kinds.findIndex((k) => k[0] === "packet");
const spanUnits = Math.max(1, Math.ceil(meta.span / quantum));

function isMoment(i) { return ev.dur[i] === NONE; }
function endOf(i) { return ev.start[i] + (isMoment(i) ? 0 : ev.dur[i]); }
function nameOf(index) { return meta.names[index] === undefined ? "" : meta.names[index]; }
function rankName(r) { return meta.ranks[r] ? nameOf(meta.ranks[r].label) : ""; }

// Pieces of all tracks, one behind the other; track t has those from first[t] to first[t + 1].
function cutPieces() {
  const most = 2 * ev.start.length + meta.tracks.length + 1;
  const p = {start: new Uint32Array(most), end: new Uint32Array(most), state: new Uint8Array(most),
             event: new Int32Array(most), first: new Uint32Array(meta.tracks.length + 1)};
  const stack = [], ends = [];
  let n = 0, at = 0;
  const cut = (end) => {
    if (end <= at) return;
    const top = stack.length ? stack[stack.length - 1] : -1;
    p.start[n] = at;
    p.end[n] = end;
    p.event[n] = top;
    p.state[n++] = top < 0 ? 0 : stateOf[ev.kind[top]];
    at = end;
  };
  const leave = (time) => {
    while (stack.length && ends[ends.length - 1] <= time) {
      cut(ends[ends.length - 1]);
      stack.pop();
      ends.pop();
    }
  };
  meta.tracks.forEach(([, , , first, count], t) => {
    p.first[t] = n;
    at = count ? ev.start[first] : 0;
    for (let i = first; i < first + count; i++) {
      if (isMoment(i) || ev.kind[i] === PACKET) continue;
      leave(ev.start[i]);
      cut(ev.start[i]);
      stack.push(i);
      ends.push(ends.length ? Math.min(endOf(i), ends[ends.length - 1]) : endOf(i));
    }
    leave(Infinity);
  });
  p.first[meta.tracks.length] = n;
  return p;
}
const pieces = cutPieces();

// Arrows that begin or end in an event, found by binary search in an order by event.
function orderBy(events) {
  const order = new Uint32Array(events.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  let sorted = true;
  for (let i = 1; i < order.length && sorted; i++) sorted = events[i] >= events[i - 1];
  return sorted ? order : order.sort((a, b) => events[a] - events[b]);
}
let arrowsByEnd = null, arrowsByBegin = null;
function arrowsOf(event, ends) {
  arrowsByEnd = arrowsByEnd || orderBy(arrows.to);
  arrowsByBegin = arrowsByBegin || orderBy(arrows.from);
  const order = ends ? arrowsByEnd : arrowsByBegin, key = ends ? arrows.to : arrows.from;
  let low = 0, high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key[order[middle]] < event) low = middle + 1; else high = middle;
  }
  const found = [];
  for (; low < order.length && key[order[low]] === event; low++) found.push(order[low]);
  return found;
}

function trackOf(event) {
  let low = 0, high = meta.tracks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (meta.tracks[middle][3] <= event) low = middle; else high = middle - 1;
  }
  while (low > 0 && meta.tracks[low][4] === 0) low--;
  return low;
}

// ---- words
function three(value) {
  if (value >= 99.95 || value === Math.round(value)) return value.toFixed(0);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}
function scaled(value, units, step) {
  let i = 0;
  while (value >= step * 0.9995 && i + 1 < units.length) { value /= step; i++; }
  return three(value) + "\u202f" + units[i];
}
function timeText(ns) { return scaled(ns, ["ns", "\u00b5s", "ms", "s"], 1000); }
// A moment with as many digits as a step of `step` ns needs.
function momentText(ns, step) {
  const units = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]];
  const [unit, size] = units.find((u) => ns >= u[1]) || units[3];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return (ns / size).toFixed(digits) + "\u202f" + unit;
}
function bytesText(bytes) { return scaled(bytes, ["B", "KB", "MB", "GB", "TB"], 1024); }
function countText(n) { return Math.round(n).toLocaleString("en").replace(/,/g, "\u202f"); }
function percentText(part, whole) {
  const value = whole > 0 ? 100 * part / whole : 0;
  return (value > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)) + "\u202f%";
}
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children);
  return e;
}
