// SPDX-License-Identifier: BSD-3-Clause
// Runs the script of a page of `tombolo view` without a browser: node dom.js PAGE.html EXPRESSION
// prints the value of the expression, evaluated in the page, as JSON. Elements keep their text,
// children and attributes; whatever draws gets an object that takes every call.
const fs = require("node:fs"), vm = require("node:vm");

const any = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => 0 : key === Symbol.iterator ? function* () {} : any,
  set: () => true, apply: () => any, construct: () => any,
});

class Element {
  constructor(tag) { this.tag = tag; this.nodes = []; this.attributes = {}; this.style = {}; this.dataset = {}; this.listeners = {}; this.clientWidth = 900; }
  get parentElement() { return new Element("div"); }
  get textContent() { return this.nodes.map((n) => n instanceof Element ? n.textContent : String(n)).join(""); }
  set textContent(text) { this.nodes = [text]; }
  setAttribute(key, value) { this.attributes[key] = value; }
  getAttribute(key) { return this.attributes[key]; }
  append(...nodes) { this.nodes.push(...nodes); }
  replaceChildren(...nodes) { this.nodes = nodes; }
  addEventListener(name, f) { this.listeners[name] = f; }
  getContext() { return any; }
  getBoundingClientRect() { return {left: 0, top: 0, width: 900, height: 100}; }
  querySelector() { return any; }
  querySelectorAll() { return []; }
  focus() {}
}

const html = fs.readFileSync(process.argv[2], "utf8");
const known = {};
const byId = (id) => known[id] = known[id] || new Element(id);
for (const [, attributes, text] of html.matchAll(/<script ([^>]*id="[^"]*"[^>]*)>([^]*?)<\/script>/g)) {
  const element = byId(/id="([^"]*)"/.exec(attributes)[1]);
  element.textContent = text;
  for (const [, key, value] of attributes.matchAll(/data-(\w+)="([^"]*)"/g)) element.dataset[key] = value;
}
const document = {
  getElementById: byId, createElement: (tag) => new Element(tag), querySelector: () => any, querySelectorAll: () => [],
  documentElement: new Element("html"), body: new Element("body"), addEventListener() {}, activeElement: null,
};
const location = {hash: ""};
const page = vm.createContext({
  document, console, performance, atob, requestAnimationFrame() {}, getComputedStyle: () => ({getPropertyValue: () => "#808080"}),
  matchMedia: () => ({matches: false, addEventListener() {}}), ImageData: any, uPlot: any, ResizeObserver: any,
  location, history: {replaceState: (_, __, place) => { location.hash = place; }}, setTimeout() {}, clearTimeout() {}, addEventListener() {}, innerWidth: 1000, innerHeight: 800, devicePixelRatio: 1,
});
page.window = page;
const scripts = [...html.matchAll(/<script>\n"use strict";([^]*?)<\/script>/g)].map((m) => m[1]);
vm.runInContext(scripts.join("\n"), page);
console.log(JSON.stringify(vm.runInContext(process.argv[3], page)));
