const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes.map(([name, type, description, mentions, x, y]) => ({ name, type, description, mentions, x, y }));
const edges = data.edges.map(([source, target, relation, description, weight]) =>
  ({ source: nodes[source], target: nodes[target], relation, description, weight }));
connect(nodes, edges);
const inks = { text: "#1d2733", line: "#8b96a5", lit: "#1a5fb4", quiet: "#3d4a5a", ground: "#f7f8fa" };
const graph = new GraphCanvas(document.getElementById("graph"), { nodes, edges, inks: () => inks, onChoose: choose, inset: 320 });

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function choose(node) {
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
  graph.choose(node);
}

function link(node) {
  const button = element("button", node.name);
  button.onclick = () => {
    graph.centre(node);
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
addEventListener("resize", () => graph.draw());
graph.fit();
graph.draw();
