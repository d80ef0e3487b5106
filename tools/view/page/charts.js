// SPDX-License-Identifier: BSD-3-Clause
// Charts of the page: histograms by uPlot, and the communication matrix.

function binFrom(bin) { return 2 ** (bin / 2); }

const chartColours = ["--s1", "--s4", "--s2", "--s3"];
let charts = [];

// Histograms of several series over bins that double every second one.
function histogram(place, series, text) {
  const used = series.filter((h) => h.total), box = document.getElementById(place);
  if (!used.length) { box.replaceChildren(el("p", {class: "empty"}, "Nothing of this is in the trace.")); return; }
  const first = Math.min(...used.map((h) => h.first)) - 1;
  const last = Math.max(...used.map((h) => h.first + h.count.length));
  const xs = [], columns = used.map(() => []);
  for (let b = first; b <= last; b++) {
    xs.push(b);
    used.forEach((h, i) => columns[i].push(h.count[b - h.first] || (used.length > 2 ? 0 : null)));
  }
  const bars = (i) => uPlot.paths.bars({size: [0.9 / used.length, 60], align: used.length === 1 ? 0 : used.length === 2 ? (i ? 1 : -1) : 0});
  const options = {
    width: Math.max(260, box.clientWidth), height: 240, cursor: {drag: {x: false, y: false}},
    scales: {x: {time: false, range: [first - 0.5, last + 0.5]}, y: {range: (u, min, max) => [0, Math.max(1, max) * 1.05]}},
    legend: {live: true},
    axes: [
      {stroke: theme.soft, grid: {show: false}, ticks: {stroke: theme.line}, font: "12px system-ui, sans-serif",
       splits: () => xs.filter((b) => b >= 0 && b % (2 * Math.ceil((last - first) / (box.clientWidth / 50))) === 0),
       values: (u, splits) => splits.map((b) => text(Math.round(binFrom(b))))},
      {stroke: theme.soft, grid: {stroke: theme.line, width: 1}, ticks: {show: false}, font: "12px system-ui, sans-serif",
       size: 64, values: (u, splits) => splits.map((n) => n === Math.round(n) ? countText(n) : "")},
    ],
    series: [{label: "From", value: (u, b) => b === null ? "\u2013" : b < 0 ? "0" : text(Math.round(binFrom(b)))},
      ...used.map((h, i) => ({label: h.name, stroke: colour(chartColours[series.indexOf(h)]), width: used.length > 2 ? 2 : 1,
        fill: used.length > 2 ? undefined : colour(chartColours[series.indexOf(h)]) + "cc",
        paths: used.length > 2 ? uPlot.paths.stepped({align: 1}) : bars(i), points: {show: false},
        value: (u, n) => n === null ? "\u2013" : countText(n)}))],
  };
  box.replaceChildren();
  charts.push([new uPlot(options, [xs, ...columns], box), box]);
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", "Histogram; the table below has its quantiles");
}

function quantile(h, q) {
  let seen = 0;
  for (let i = 0; i < h.count.length; i++) {
    seen += h.count[i];
    if (h.count[i] && seen >= q * h.total) return h.first + i === 0 ? 0 : binFrom(h.first + i);
  }
  return 0;
}

function quantileTable(place, series, text) {
  const at = (q, title) => ({title, cls: "n", cell: (h) => text(Math.round(quantile(h, q))), value: (h) => quantile(h, q)});
  table(place, [
    {title: "", cls: "l", cell: (h) => h.name},
    {title: "Count", cls: "n", cell: (h) => countText(h.total), value: (h) => h.total},
    {title: "Mean", cls: "n", cell: (h) => text(h.sum / h.total), value: (h) => h.sum / h.total},
    at(0.1, "10 %"), at(0.5, "50 %"), at(0.9, "90 %"), at(0.99, "99 %"),
  ], series.filter((h) => h.total), "");
}

function drawCharts() {
  charts.forEach(([plot]) => plot.destroy());
  charts = [];
  histogram("size-chart", meta.sizes, bytesText);
  histogram("time-chart", meta.latencies, timeText);
}

// ---- communication matrix
const matrix = {canvas: document.getElementById("matrix"), at: [0, 0], cell: 0, left: 0, top: 22, by: new Map()};

function matrixValue(m) { return document.querySelector("input[name=matrix]:checked").value === "bytes" ? m[3] : m[2]; }
function matrixText(value) { return document.querySelector("input[name=matrix]:checked").value === "bytes" ? bytesText(value) : countText(value); }

function drawMatrix() {
  const canvas = matrix.canvas, n = meta.ranks.length, width = canvas.parentElement.clientWidth;
  matrix.left = n > 64 ? 30 : 64;
  matrix.cell = Math.min(56, Math.max(0.5, (Math.min(width, 560) - matrix.left - 2) / n));
  const size = matrix.cell * n, context = fit(canvas, width, size + matrix.top + 2);
  const values = meta.matrix.map(matrixValue), most = Math.max(1, ...values), gap = matrix.cell > 8 ? 1 : 0;
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, width, size + matrix.top + 2);
  context.fillStyle = theme.free;
  for (let i = 0; i < n && gap; i++) for (let k = 0; k < n; k++)
    context.fillRect(matrix.left + k * matrix.cell, matrix.top + i * matrix.cell, matrix.cell - 1, matrix.cell - 1);
  if (!gap) context.fillRect(matrix.left, matrix.top, size, size);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  meta.matrix.forEach((m, i) => {
    const share = values[i] ? 0.12 + 0.88 * Math.log1p(values[i]) / Math.log1p(most) : 0.05;
    const fill = mix(theme.heat0, theme.heat1, share);
    const x = matrix.left + m[1] * matrix.cell, y = matrix.top + m[0] * matrix.cell;
    context.fillStyle = fill;
    context.fillRect(x, y, Math.max(1, matrix.cell - gap), Math.max(1, matrix.cell - gap));
    if (matrix.cell < 44) return;
    context.fillStyle = inkOn(fill);
    context.fillText(matrixText(values[i]), x + matrix.cell / 2, y + matrix.cell / 2, matrix.cell - 4);
  });
  context.fillStyle = theme.soft;
  const every = Math.max(1, tickStep(n, Math.max(1, size / 30)));
  for (let i = 0; i < n; i += every) {
    context.textAlign = "right";
    context.fillText(n > 64 ? String(i) : rankName(i), matrix.left - 6, matrix.top + (i + 0.5) * matrix.cell);
    context.textAlign = "center";
    if (matrix.cell * every > 14) context.fillText(rankName(i).replace(/^\D*/, "") || String(i), matrix.left + (i + 0.5) * matrix.cell, matrix.top / 2);
  }
  if (document.activeElement !== canvas) return;
  context.strokeStyle = theme.match;
  context.lineWidth = 2.5;
  context.strokeRect(matrix.left + matrix.at[1] * matrix.cell, matrix.top + matrix.at[0] * matrix.cell, Math.max(4, matrix.cell - gap), Math.max(4, matrix.cell - gap));
}

function sayCell() {
  const [from, to] = matrix.at, m = matrix.by.get(from * meta.ranks.length + to);
  document.getElementById("matrix-note").textContent = `${rankName(from)} to ${rankName(to)}: ` +
    (m ? `${countText(m[2])} operations, ${bytesText(m[3])}` : "nothing");
  drawMatrix();
}

function startMatrix() {
  const n = meta.ranks.length, canvas = matrix.canvas;
  for (const m of meta.matrix) matrix.by.set(m[0] * n + m[1], m);
  canvas.addEventListener("keydown", (e) => {
    const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[e.key];
    if (!move) return;
    e.preventDefault();
    matrix.at = matrix.at.map((v, i) => Math.max(0, Math.min(n - 1, v + move[i])));
    sayCell();
  });
  const point = (e) => {
    const to = Math.floor((e.offsetX - matrix.left) / matrix.cell), from = Math.floor((e.offsetY - matrix.top) / matrix.cell);
    if (from < 0 || to < 0 || from >= n || to >= n) return;
    matrix.at = [from, to];
    sayCell();
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("focus", sayCell);
  canvas.addEventListener("blur", drawMatrix);
  for (const input of document.querySelectorAll("input[name=matrix]")) input.addEventListener("change", drawMatrix);
  drawMatrix();
}
