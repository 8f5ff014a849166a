/**
 * A knowledge graph on a canvas: drawn, dragged, brought nearer, and chosen from. `tributary graph --html` puts this module
 * into its file as it stands, without its `export`; so it imports nothing.
 * @typedef {{name: string, type: string, mentions: number, x: number, y: number, size: number, near: GraphEdge[]}} GraphNode
 * @typedef {{source: GraphNode, target: GraphNode, relation: string, weight: number, rank: number}} GraphEdge
 * @typedef {{text: string, line: string, lit: string, quiet: string, ground: string}} Inks
 */

/**
 * Tells each node its edges and its size, and each edge how many before it join the same two.
 * @param {any[]} nodes @param {any[]} edges they hold nodes, not ids
 */
export function connect(nodes, edges) {
  for (const node of nodes) Object.assign(node, { near: [], size: 4 + 2.2 * Math.log1p(node.mentions) });
  for (const edge of edges) {
    const ends = [edge.source, edge.target];
    edge.rank = edge.source.near.filter((other) => ends.includes(other.source) && ends.includes(other.target)).length;
    edge.source.near.push(edge);
    if (edge.target !== edge.source) edge.target.near.push(edge);
  }
}

export class GraphCanvas {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{nodes: GraphNode[], edges: GraphEdge[], inks: () => Inks, onChoose: (node: GraphNode | null) => void,
   *          inset?: number}} options `nodes` are connected; `inset` is what something else covers on the left, in pixels
   */
  constructor(canvas, { nodes, edges, inks, onChoose, inset = 0 }) {
    Object.assign(this, { canvas, nodes, edges, inks, onChoose, inset, chosen: null, held: null, moved: false });
    this.pen = canvas.getContext("2d");
    this.view = { x: 0, y: 0, scale: 1 };
    this.types = [...new Set(nodes.map((node) => node.type))].sort();
    canvas.onpointerdown = (event) => this.take(event);
    canvas.onpointermove = (event) => this.drag(event);
    canvas.onpointerup = (event) => this.drop(event);
    canvas.onpointercancel = () => (this.held = null);
    canvas.onwheel = (event) => this.turn(event);
  }

  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }

  colour(type) { return `hsl(${(this.types.indexOf(type) * 137.5) % 360} 55% 48%)`; }

  /** Shows all of it. */
  fit() {
    if (!this.nodes.length) return;
    const xs = this.nodes.map((node) => node.x), ys = this.nodes.map((node) => node.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const whole = Math.max(200, this.width - this.inset);
    // Names stand to the right of their nodes.
    const room = whole - Math.min(110, whole / 4);
    this.view.scale = Math.min(2, 0.9 * Math.min(room / (right - left + 40), this.height / (bottom - top + 80)));
    this.view.x = this.inset + room / 2 - this.view.scale * (left + right) / 2;
    this.view.y = this.height / 2 - this.view.scale * (top + bottom) / 2;
  }

  /** Puts a node in the middle. */
  centre(node) {
    this.view.x = this.inset + (this.width - this.inset) / 2 - this.view.scale * node.x;
    this.view.y = this.height / 2 - this.view.scale * node.y;
  }

  choose(node) {
    this.chosen = node;
    this.draw();
  }

  draw() {
    const { pen, view, chosen } = this, ratio = devicePixelRatio || 1;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.ink = this.inks();
    pen.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
    const lit = chosen && new Set([chosen, ...chosen.near.flatMap((edge) => [edge.source, edge.target])]);
    for (const edge of this.edges) this.drawEdge(edge, chosen && (edge.source === chosen || edge.target === chosen));
    for (const node of this.nodes) {
      pen.globalAlpha = !lit || lit.has(node) ? 1 : 0.15;
      pen.beginPath();
      pen.arc(node.x, node.y, Math.max(node.size, 2 / view.scale), 0, 2 * Math.PI);
      pen.fillStyle = this.colour(node.type);
      pen.fill();
    }
    this.drawNames(lit);
    pen.globalAlpha = 1;
  }

  drawEdge({ source, target, relation, weight, rank }, lit) {
    const { pen, view, ink } = this;
    pen.globalAlpha = lit ? 0.9 : this.chosen ? 0.06 : 0.3;
    pen.strokeStyle = lit ? ink.lit : ink.line;
    pen.lineWidth = Math.min(4, 0.6 + 0.5 * Math.log1p(weight)) / Math.max(0.6, view.scale);
    pen.beginPath();
    if (source === target) {
      pen.arc(source.x, source.y - source.size - 5, 6, 0, 2 * Math.PI);
    } else {
      pen.moveTo(source.x, source.y);
      pen.lineTo(target.x, target.y);
    }
    pen.stroke();
    if (!lit || source === target) return;
    pen.font = `${11 / view.scale}px system-ui, sans-serif`;
    pen.fillStyle = ink.quiet;
    this.write(shortened(relation, 30), (source.x + target.x) / 2, (source.y + target.y) / 2 + (13 * rank) / view.scale);
  }

  /** A text that lines behind it do not strike through. */
  write(text, x, y) {
    const { pen, view, ink } = this;
    pen.strokeStyle = ink.ground;
    pen.lineWidth = 3 / view.scale;
    pen.lineJoin = "round";
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }

  /** Names where there is room: the most mentioned first, none over another. */
  drawNames(lit) {
    const { pen, view } = this, taken = new Set();
    pen.font = `${12 / view.scale}px system-ui, sans-serif`;
    pen.fillStyle = this.ink.text;
    for (const node of this.nodes) {
      if (lit && !lit.has(node)) continue;
      const x = node.x * view.scale + view.x, y = node.y * view.scale + view.y;
      if (x < -100 || y < 0 || x > this.width || y > this.height) continue;
      const text = shortened(node.name, 28), cells = [];
      for (let across = 0; across < text.length * 7; across += 30) cells.push(`${Math.round((x + across) / 30)},${Math.round(y / 15)}`);
      if (node !== this.chosen && cells.some((cell) => taken.has(cell))) continue;
      for (const cell of cells) {
        const [column, row] = cell.split(",").map(Number);
        for (const line of [row - 1, row, row + 1]) taken.add(`${column},${line}`);
      }
      pen.globalAlpha = 1;
      this.write(text, node.x + node.size + 3 / view.scale, node.y + 4 / view.scale);
    }
  }

  take(event) {
    this.held = { x: event.clientX - this.view.x, y: event.clientY - this.view.y };
    this.moved = false;
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.held) return;
    this.moved ||= Math.hypot(event.clientX - this.view.x - this.held.x, event.clientY - this.view.y - this.held.y) > 3;
    this.view.x = event.clientX - this.held.x;
    this.view.y = event.clientY - this.held.y;
    this.draw();
  }

  drop(event) {
    this.held = null;
    if (this.moved) return;
    const x = (event.offsetX - this.view.x) / this.view.scale, y = (event.offsetY - this.view.y) / this.view.scale;
    const reach = 4 / this.view.scale;
    this.onChoose(this.nodes.find((node) => Math.hypot(node.x - x, node.y - y) < node.size + reach) || null);
  }

  turn(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
  }

  /** Nearer by the factor, around a point of the canvas; by default its middle. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    this.view.x = x - factor * (x - this.view.x);
    this.view.y = y - factor * (y - this.view.y);
    this.view.scale *= factor;
    this.draw();
  }
}

function shortened(text, length) {
  const letters = [...text];
  return letters.length > length ? letters.slice(0, length - 1).join("") + "…" : text;
}
