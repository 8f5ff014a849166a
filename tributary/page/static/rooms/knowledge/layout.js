/** Places for the nodes of a small graph: related ones near each other, all others apart, in the manner of `tributary/drawing.py`. */

const STEPS = 120;
const PULL = 0.8;
const GRAVITY = 0.6;
const UNIT = 24;

/**
 * Gives each node an x and a y. The same graph always gets the same; some milliseconds for a hundred nodes.
 * @param {any[]} nodes the first one starts in the middle
 * @param {{source: any, target: any}[]} edges between them
 */
export function place(nodes, edges) {
  nodes.forEach((node, index) => {
    const angle = index * Math.PI * (3 - Math.sqrt(5));
    const far = Math.sqrt(index + 0.5);
    Object.assign(node, { x: far * Math.cos(angle), y: far * Math.sin(angle), weight: 1 });
  });
  for (const edge of edges) for (const end of [edge.source, edge.target]) end.weight += 1;
  for (let step = 0; step < STEPS; step += 1) move(nodes, edges, Math.sqrt(nodes.length) * 0.3 * (1 - step / STEPS) + 0.05);
  for (const node of nodes) Object.assign(node, { x: node.x * UNIT, y: node.y * UNIT });
}

function move(nodes, edges, warmth) {
  for (const node of nodes) {
    node.dx = -node.x * GRAVITY;
    node.dy = -node.y * GRAVITY;
    for (const other of nodes) {
      const x = node.x - other.x;
      const y = node.y - other.y;
      const push = other.weight / Math.max(x * x + y * y, 0.05);
      node.dx += x * push;
      node.dy += y * push;
    }
  }
  for (const { source, target } of edges) {
    const x = (target.x - source.x) * PULL;
    const y = (target.y - source.y) * PULL;
    source.dx += x / source.weight;
    source.dy += y / source.weight;
    target.dx -= x / target.weight;
    target.dy -= y / target.weight;
  }
  for (const node of nodes) {
    const length = Math.max(Math.hypot(node.dx, node.dy), 1e-9);
    const step = Math.min(length * 0.5, warmth) / length;
    node.x += node.dx * step;
    node.y += node.dy * step;
  }
}
