"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("graph"), pen = canvas.getContext("2d");
const nodes = data.nodes.map(([name, type, description, mentions, x, y]) =>
  ({ name, type, description, mentions, x, y, near: [], size: 4 + 2.2 * Math.log1p(mentions) }));
const edges = data.edges.map(([source, target, relation, description, weight]) =>
  ({ source: nodes[source], target: nodes[target], relation, description, weight }));
for (const edge of edges) {
  edge.source.near.push(edge);
  if (edge.target !== edge.source) edge.target.near.push(edge);
}
const types = [...new Set(nodes.map((node) => node.type))].sort();
const colour = (type) => `hsl(${(types.indexOf(type) * 137.5) % 360} 55% 48%)`;
const view = { x: 0, y: 0, scale: 1 };
let chosen = null;

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function fit() {
  if (!nodes.length) return;
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const room = Math.max(200, innerWidth - 330);
  view.scale = Math.min(2, 0.9 * Math.min(room / (right - left + 80), innerHeight / (bottom - top + 80)));
  view.x = 320 + room / 2 - view.scale * (left + right) / 2;
  view.y = innerHeight / 2 - view.scale * (top + bottom) / 2;
}

function draw() {
  const ratio = devicePixelRatio || 1;
  canvas.width = innerWidth * ratio;
  canvas.height = innerHeight * ratio;
  pen.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  const lit = chosen && new Set([chosen, ...chosen.near.flatMap((edge) => [edge.source, edge.target])]);
  for (const edge of edges) drawEdge(edge, chosen && (edge.source === chosen || edge.target === chosen));
  for (const node of nodes) {
    pen.globalAlpha = !lit || lit.has(node) ? 1 : 0.15;
    pen.beginPath();
    pen.arc(node.x, node.y, Math.max(node.size, 2 / view.scale), 0, 2 * Math.PI);
    pen.fillStyle = colour(node.type);
    pen.fill();
  }
  drawNames(lit);
  pen.globalAlpha = 1;
}

function drawEdge(edge, lit) {
  pen.globalAlpha = lit ? 0.9 : chosen ? 0.06 : 0.3;
  pen.strokeStyle = lit ? "#1a5fb4" : "#8b96a5";
  pen.lineWidth = Math.min(4, 0.6 + 0.5 * Math.log1p(edge.weight)) / Math.max(0.6, view.scale);
  pen.beginPath();
  if (edge.source === edge.target) {
    pen.arc(edge.source.x, edge.source.y - edge.source.size - 5, 6, 0, 2 * Math.PI);
  } else {
    pen.moveTo(edge.source.x, edge.source.y);
    pen.lineTo(edge.target.x, edge.target.y);
  }
  pen.stroke();
  if (!lit || edge.source === edge.target) return;
  pen.font = `${11 / view.scale}px system-ui, sans-serif`;
  pen.fillStyle = "#3d4a5a";
  pen.fillText(short(edge.relation, 30), (edge.source.x + edge.target.x) / 2, (edge.source.y + edge.target.y) / 2);
}

// Names where there is room: the most mentioned first, none over another.
function drawNames(lit) {
  const taken = new Set();
  pen.font = `${12 / view.scale}px system-ui, sans-serif`;
  pen.fillStyle = "#1d2733";
  for (const node of nodes) {
    if (lit && !lit.has(node)) continue;
    const x = node.x * view.scale + view.x, y = node.y * view.scale + view.y;
    if (x < -100 || y < 0 || x > innerWidth || y > innerHeight) continue;
    const text = short(node.name, 28), cells = [];
    for (let across = 0; across < text.length * 7; across += 30) cells.push(`${Math.round((x + across) / 30)},${Math.round(y / 15)}`);
    if (node !== chosen && cells.some((cell) => taken.has(cell))) continue;
    for (const cell of cells) {
      const [column, row] = cell.split(",").map(Number);
      for (const line of [row - 1, row, row + 1]) taken.add(`${column},${line}`);
    }
    pen.globalAlpha = 1;
    pen.fillText(text, node.x + node.size + 3 / view.scale, node.y + 4 / view.scale);
  }
}

function short(text, length) {
  const letters = [...text];
  return letters.length > length ? letters.slice(0, length - 1).join("") + "…" : text;
}

function choose(node) {
  chosen = node;
  const panel = document.getElementById("chosen");
  panel.replaceChildren();
  if (node) {
    panel.append(element("h2", node.name), element("p", `${node.type} · ${node.mentions} mentions`, "quiet"));
    if (node.description) panel.append(element("p", node.description));
    const list = element("ul", "");
    for (const edge of node.near.slice(0, 100)) {
      const item = element("li", edge.source === node ? `${edge.relation} → ` : `${edge.relation} ← `);
      item.append(link(edge.source === node ? edge.target : edge.source));
      if (edge.description) item.append(element("p", edge.description, "quiet"));
      list.append(item);
    }
    panel.append(list);
  }
  draw();
}

function link(node) {
  const button = element("button", node.name);
  button.onclick = () => {
    view.x = 320 + (innerWidth - 320) / 2 - view.scale * node.x;
    view.y = innerHeight / 2 - view.scale * node.y;
    choose(node);
  };
  return button;
}

document.getElementById("size").textContent = `${nodes.length} entities, ${edges.length} connections`;
document.getElementById("find").oninput = (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  const found = wanted ? nodes.filter((node) => node.name.toLowerCase().includes(wanted)).slice(0, 12) : [];
  document.getElementById("found").replaceChildren(...found.map((node) => {
    const item = element("li", "");
    item.append(link(node));
    return item;
  }));
};

let held = null, moved = false;
canvas.onpointerdown = (event) => {
  held = { x: event.clientX - view.x, y: event.clientY - view.y };
  moved = false;
  canvas.setPointerCapture(event.pointerId);
};
canvas.onpointermove = (event) => {
  if (!held) return;
  moved ||= Math.hypot(event.clientX - view.x - held.x, event.clientY - view.y - held.y) > 3;
  view.x = event.clientX - held.x;
  view.y = event.clientY - held.y;
  draw();
};
canvas.onpointerup = (event) => {
  held = null;
  if (moved) return;
  const x = (event.clientX - view.x) / view.scale, y = (event.clientY - view.y) / view.scale;
  choose(nodes.find((node) => Math.hypot(node.x - x, node.y - y) < node.size + 4 / view.scale) || null);
};
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const factor = Math.exp(-event.deltaY / 400);
  view.x = event.clientX - factor * (event.clientX - view.x);
  view.y = event.clientY - factor * (event.clientY - view.y);
  view.scale *= factor;
  draw();
}, { passive: false });
addEventListener("resize", draw);
fit();
draw();
