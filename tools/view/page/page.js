// SPDX-License-Identifier: BSD-3-Clause
// Puts the page together, and draws it again when its size or the colours change.

// Numbers of the command's texts stay together with their units.
function units(text) {
  return text.replace(/(\d) us\b/g, "$1\u202f\u00b5s").replace(/(\d) (%|ns|ms|s|[KMGT]?B)(?![A-Za-z])/g, "$1\u202f$2");
}

function startFindings() {
  const time = meta.ranks.reduce((sum, r) => sum + r.time, 0);
  const sum = (pick) => meta.ranks.reduce((total, r) => total + pick(r), 0);
  const hosts = new Set(meta.ranks.map((r) => r.host)).size;
  document.getElementById("facts").textContent =
    `${meta.ranks.length} ranks on ${hosts} ${hosts === 1 ? "host" : "hosts"}, ${timeText(meta.span)}, ` +
    `${countText(meta.events)} events, ${countText(meta.arrows)} arrows` + (meta.guessed ? ` (${countText(meta.guessed)} of them guessed)` : "");
  const numbers = [
    ["Computing", percentText(sum((r) => r.ns[0]), time)],
    ["Waiting", percentText(sum((r) => r.ns[4] + r.ns[3]), time)],
    ["Starting operations", percentText(sum((r) => r.ns[1] + r.ns[2]), time)],
    ["Overlap of transfers", sum((r) => r.flight) ? percentText(sum((r) => r.overlapped), sum((r) => r.flight)) : "\u2013"],
    ["Data sent", bytesText(sum((r) => r.sent[1]))],
    ["Operations", countText(sum((r) => r.sent[0]))],
  ];
  document.getElementById("numbers").append(...numbers.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  document.getElementById("advice").append(...meta.advice.map(([title, text]) =>
    el("li", {}, el("b", {}, title), units(text))));
}

function drawAll() {
  readTheme();
  layRows();
  draw();
  drawMatrix();
  drawCharts();
}

function start() {
  readTheme();
  startFindings();
  startTimeline();
  rankTable();
  waitTable();
  collectiveTable();
  delayTable();
  pairTable();
  pathTables();
  startMatrix();
  drawCharts();
  quantileTable("size-table", meta.sizes, bytesText);
  quantileTable("time-table", meta.latencies, timeText);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (width !== window.innerWidth) { width = window.innerWidth; drawAll(); } else { layRows(); draw(); }
  });
  document.body.dataset.ready = Math.round(performance.now());
}

start();
