// SPDX-License-Identifier: BSD-3-Clause
// Drawing of lanes: the share of each state in each column of pixels, so that no event is lost
// however far one is zoomed out. Colours are read from the style sheet, for light and dark.

const GUTTER = 104, AXIS = 24;
const theme = {};

function readTheme() {
  for (const name of ["bg", "panel", "line", "text", "soft", "accent", "path", "match", "free",
                      "late", "transfer", "heat0", "heat1"])
    theme[name] = colour("--" + name);
  theme.states = meta.states.map((_, s) => colour("--s" + s));
  theme.pixels = theme.states.map(pixelOf);
  theme.bgPixel = pixelOf(theme.bg);
  theme.freePixel = pixelOf(theme.free);
  theme.dark = matchMedia("(prefers-color-scheme: dark)").matches;
}

function channels(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }
function pixelOf(hex) {
  const [r, g, b] = channels(hex);
  return (0xff000000 | b << 16 | g << 8 | r) >>> 0;
}
function inkOn(hex) {
  const [r, g, b] = channels(hex).map((c) => (c / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.3 ? "#10161d" : "#ffffff";
}
function mix(a, b, share) {
  const x = channels(a), y = channels(b);
  return "#" + x.map((c, i) => Math.round(c + (y[i] - c) * share).toString(16).padStart(2, "0")).join("");
}

// A canvas as large as its element, in device pixels; returns its context in CSS pixels.
function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(w / width, 0, 0, h / height, 0, 0);
  return context;
}

function firstPiece(track, time) {
  let low = pieces.first[track], high = pieces.first[track + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces.end[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

// Adds to cover[column * states + state] what a track does from `from` to `to`, in columns.
function addCover(cover, columns, track, from, to) {
  const states = meta.states.length, scale = columns / (to - from), end = pieces.first[track + 1];
  for (let i = firstPiece(track, from); i < end && pieces.start[i] < to; i++) {
    const s = pieces.state[i];
    const a = Math.max(0, (pieces.start[i] - from) * scale);
    const b = Math.min(columns, (pieces.end[i] - from) * scale);
    let x = a | 0;
    const last = Math.min(b | 0, columns - 1);
    if (x >= last) {
      if (x < columns) cover[x * states + s] += b - a;
      continue;
    }
    cover[x * states + s] += x + 1 - a;
    for (x++; x < last; x++) cover[x * states + s] += 1;
    cover[last * states + s] += b - last;
  }
}

// Fills a rectangle of the image: each column is a stack of its states, waits at the top.
function paintCover(image, box, cover, tracks) {
  const states = meta.states.length, pixels = new Uint32Array(image.data.buffer);
  for (let x = 0; x < box.width; x++) {
    let y = box.y + box.height, sum = 0;
    for (let s = 0; s < states; s++) {
      sum += cover[x * states + s] / tracks;
      const top = Math.max(box.y, Math.round(box.y + box.height * (1 - Math.min(1, sum))));
      for (; y > top; y--) pixels[(y - 1) * image.width + box.x + x] = theme.pixels[s];
    }
    for (; y > box.y; y--) pixels[(y - 1) * image.width + box.x + x] = theme.freePixel;
  }
}

// A step of 1, 2 or 5 times a power of ten, so that about `most` ticks fit.
function tickStep(span, most) {
  let step = 10 ** Math.floor(Math.log10(span / most));
  if (!isFinite(step) || step <= 0) step = 1;
  for (const factor of [1, 2, 5, 10]) if (span / (step * factor) <= most) return step * factor;
  return step * 10;
}
