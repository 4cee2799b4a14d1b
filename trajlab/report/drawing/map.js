// Maps that can be moved: zoom and pan by mouse, touch and keys, a slider over the hours of the day.
//
// A map is drawn in the page as SVG, which is what prints and what is seen where no script runs. This file reads that
// drawing back, shapes, titles and all, and paints it on a canvas. Maps of one extent move together, so that tabs can
// be compared. While a map moves, the last painting is shifted and stretched; it is painted anew when it rests.
(() => {
"use strict";

const MOST_ZOOM = 64, MARGIN = 0.3, REST = 120, STEP = 1 / 12;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const number = (value, digits) => Number(value.toPrecision(digits)).toLocaleString("en");
const outline = (elements) => new Path2D([...elements].map((e) => e.getAttribute("d")).join(""));

function add(parent, name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

// What lies behind the cells: layers, lowest first, and names, those that matter most first.
function readGround() {
  const ground = document.getElementById("ground"), over = document.getElementById("names");
  if (!ground) return { under: [], over: [], names: [], sea: false };
  const layer = (path) => ({ kind: path.classList[0], path: new Path2D(path.getAttribute("d")) });
  return {
    under: [...ground.querySelectorAll("path")].map(layer),
    over: [...over.querySelectorAll("path")].map(layer),
    names: [...over.querySelectorAll("text")].map((e) => ({ name: e.textContent, x: +e.getAttribute("x"), y: +e.getAttribute("y") })),
    sea: ground.querySelector(".sea") !== null,
  };
}

// Where a group of maps looks at: the corner of the paper that is at the top left, how often it is enlarged, and the hour.
class View {
  constructor(width, height) {
    Object.assign(this, { width, height, x: 0, y: 0, zoom: 1, hour: null, cursor: null, maps: [], moved: 0 });
  }
  move(x, y, zoom = this.zoom) {
    this.zoom = Math.min(Math.max(zoom, 1), MOST_ZOOM);
    this.x = Math.min(Math.max(x, 0), this.width - this.width / this.zoom);
    this.y = Math.min(Math.max(y, 0), this.height - this.height / this.zoom);
    this.moved = performance.now();
    for (const map of this.maps) map.refresh();
  }
  // Enlarge around a point of the paper, which stays where it is.
  enlarge(factor, x = this.x + this.width / this.zoom / 2, y = this.y + this.height / this.zoom / 2) {
    const zoom = Math.min(Math.max(this.zoom * factor, 1), MOST_ZOOM), ratio = this.zoom / zoom;
    this.move(x - (x - this.x) * ratio, y - (y - this.y) * ratio, zoom);
  }
  // Move the cursor of the keys by parts of what is seen; the map follows it.
  step(dx, dy) {
    const wide = this.width / this.zoom, tall = this.height / this.zoom;
    const from = this.cursor ?? { x: this.x + wide / 2, y: this.y + tall / 2 };
    const within = (value, most) => Math.min(Math.max(value, 0), most);
    this.cursor = { x: within(from.x + dx * wide, this.width), y: within(from.y + dy * tall, this.height) };
    this.move(this.cursor.x - wide / 2, this.cursor.y - tall / 2);
  }
  whole() {
    this.cursor = null;
    this.move(0, 0, 1);
  }
  choose(hour) {
    this.hour = hour;
    for (const map of this.maps) map.recolour();
  }
}

class MapSheet {
  constructor(svg, view, ground) {
    Object.assign(this, { svg, view, ground, fingers: new Map(), shown: null, painted: null, grid: null });
    this.cells = [...svg.querySelectorAll(".cells path")].map((element) => ({
      element,
      class: +element.parentNode.getAttribute("class").slice(1),
      values: element.dataset.h ? element.dataset.h.split(" ").map(Number) : null,
    }));
    this.flows = [...svg.querySelectorAll(".flow")].map((element) => ({
      element, path: new Path2D(element.getAttribute("d")), width: +element.getAttribute("stroke-width"),
      colour: element.classList[1],
    }));
    this.zones = outline(svg.querySelectorAll(".zone"));
    this.hours = svg.dataset.hours ? svg.dataset.hours.split(" ").map(Number) : [];
    this.breaks = (svg.dataset.breaks ?? "").split(" ").map(Number);
    this.build();
    this.recolour();
    new ResizeObserver(() => this.rest()).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rest());
  }

  build() {
    const { svg } = this, frame = svg.parentNode, label = svg.getAttribute("aria-label");
    this.stage = document.createElement("div");
    this.stage.className = "stage";
    frame.insertBefore(this.stage, svg);
    this.stage.append(svg);
    svg.setAttribute("aria-hidden", "true");
    this.canvas = add(this.stage, "canvas", { "aria-hidden": "true" });
    this.back = document.createElement("canvas");
    const how = add(frame, "p", { class: "note how", id: `how-${MapSheet.count = (MapSheet.count ?? 0) + 1}` },
      "Drag to move; + and − or Ctrl and the wheel to zoom, 0 for the whole map; arrow keys read cell by cell.");
    for (const [key, value] of Object.entries({ tabindex: 0, role: "application", "aria-label": label, "aria-describedby": how.id }))
      this.stage.setAttribute(key, value);
    const controls = add(this.stage, "div", { class: "controls" });
    const button = (text, name, act) => {
      const made = add(controls, "button", { type: "button", "aria-label": name, title: name }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.closer = button("+", "Zoom in", () => this.view.enlarge(1.6));
    this.farther = button("−", "Zoom out", () => this.view.enlarge(1 / 1.6));
    this.all = button("⤢", "Whole map", () => this.view.whole());
    this.tip = add(this.stage, "div", { class: "tip" });
    this.tip.hidden = true;
    this.said = add(frame, "div", { class: "unseen", role: "status" });
    this.bar = frame.querySelector(".scale");
    if (this.hours.length) this.buildHours(frame);
    this.listen();
  }

  buildHours(frame) {
    const box = document.createElement("div"), last = this.hours.length;
    box.className = "hours";
    frame.insertBefore(box, this.bar.nextSibling);
    const label = add(box, "label", {}, "Hour of the day");
    this.slider = add(box, "input", { type: "range", min: 0, max: last, value: 0, step: 1, id: `hour-${MapSheet.count}` });
    label.htmlFor = this.slider.id;
    this.clock = add(box, "output", { for: this.slider.id });
    this.slider.addEventListener("input", () => {
      const at = +this.slider.value;
      this.view.choose(at ? this.hours[at - 1] : null);
    });
  }

  // Colours of the hour; cells with nobody then are not painted.
  recolour() {
    const at = this.view.hour === null ? -1 : this.hours.indexOf(this.view.hour), many = this.breaks.length - 1;
    const spread = [...new Set(this.cells.map((cell) => cell.class))].sort((a, b) => a - b);
    const counts = spread.map(() => 0), groups = new Map();
    for (const cell of this.cells) {
      let kind = cell.class;
      if (at >= 0 && cell.values) {
        const value = cell.values[at];
        if (value === 0) { cell.now = null; continue; }
        let k = 0;
        while (k < many - 1 && value >= this.breaks[k + 1]) k++;
        kind = spread[Math.min(k, spread.length - 1)];
      }
      cell.now = kind;
      counts[spread.indexOf(kind)]++;
      if (!groups.has(kind)) groups.set(kind, []);
      groups.get(kind).push(cell.element);
    }
    this.groups = [...groups].map(([kind, elements]) => ({ kind, path: outline(elements) }));
    if (this.slider) this.writeLegend(at, counts, many);
    this.rest();
  }

  writeLegend(at, counts, many) {
    const time = at < 0 ? "all hours" : `${String(this.hours[at]).padStart(2, "0")}:00`;
    this.slider.value = at + 1;
    this.slider.setAttribute("aria-valuetext", time);
    this.clock.textContent = at < 0 ? "All hours" : `From ${time}`;
    const rows = this.svg.closest(".atlas").querySelectorAll(".key .legend li");
    this.legend ??= [...rows].map((row) => row.lastChild.textContent);
    rows.forEach((row, k) => {
      const low = number(this.breaks[k], 2), high = number(this.breaks[k + 1], 2), noun = this.svg.dataset.noun;
      const range = k === many - 1 ? (k ? `${low} or more` : "more than 0") : k === 0 ? `up to ${high}` : `${low} – ${high}`;
      const cells = `${counts[k].toLocaleString("en")} ${noun}${counts[k] === 1 ? "" : "s"}`;
      row.lastChild.textContent = at < 0 ? this.legend[k] : `${range} (${cells})`;
    });
  }

  // Show what is there at the next frame.
  reshow() {
    if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.show(); });
  }

  // The same, and paint anew when the map has not moved for a moment.
  refresh() {
    this.reshow();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rest(), REST);
  }

  rest() {
    clearTimeout(this.timer);
    if (!this.stage.clientWidth) return;
    this.paint();
    this.show();
  }

  // Everything but names, on a sheet a little larger than what is seen.
  paint() {
    const { view, stage, back } = this, ratio = devicePixelRatio || 1;
    const scale = (stage.clientWidth * ratio * view.zoom) / view.width;
    const wide = view.width / view.zoom, tall = view.height / view.zoom;
    const at = { x: view.x - wide * MARGIN, y: view.y - tall * MARGIN, scale };
    back.width = Math.ceil(wide * (1 + 2 * MARGIN) * scale);
    back.height = Math.ceil(tall * (1 + 2 * MARGIN) * scale);
    const pen = back.getContext("2d"), fill = (path, name) => { pen.fillStyle = colour(name); pen.fill(path, "evenodd"); };
    const draw = (path, name, width) => { pen.strokeStyle = colour(name); pen.lineWidth = (width * ratio) / scale; pen.stroke(path); };
    pen.setTransform(scale, 0, 0, scale, -at.x * scale, -at.y * scale);
    pen.fillStyle = colour(this.ground.sea ? "sea" : "faint");
    pen.fillRect(0, 0, view.width, view.height);
    pen.lineJoin = "round";
    for (const { kind, path } of this.ground.under) {
      if (kind !== "line") fill(path, { land: "land", lake: "sea", area: "card" }[kind]);
      if (kind === "line" || kind === "area") draw(path, "shore", 0.9);
    }
    for (const { kind, path } of this.groups) fill(path, `q${kind}`);
    if (+this.svg.dataset.size * scale > 6 * ratio) for (const { path } of this.groups) draw(path, "faint", 0.6);
    draw(this.zones, "soft", 0.5);
    for (const { kind, path } of this.ground.over) {
      pen.setLineDash(kind === "border" ? [5 * ratio / scale, 3 * ratio / scale] : []);
      draw(path, "shore", kind === "border" ? 1.2 : 0.9);
    }
    pen.setLineDash([]);
    pen.lineCap = "round";
    pen.globalAlpha = 0.5;
    for (const flow of this.flows) draw(flow.path, flow.colour, flow.width);
    this.painted = at;
  }

  // The painting where it is now, names, and what is pointed at.
  show() {
    const { view, stage, canvas, painted } = this, ratio = devicePixelRatio || 1;
    if (!stage.clientWidth || !painted) return;
    const width = Math.round(stage.clientWidth * ratio), height = Math.round(stage.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const scale = (width * view.zoom) / view.width, stretch = scale / painted.scale;
    const pen = canvas.getContext("2d", { alpha: false });
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = colour(this.ground.sea ? "sea" : "faint");
    pen.fillRect(0, 0, width, height);
    pen.imageSmoothingEnabled = stretch !== 1;
    pen.drawImage(this.back, Math.round((painted.x - view.x) * scale), Math.round((painted.y - view.y) * scale),
      this.back.width * stretch, this.back.height * stretch);
    const shown = this.shown;
    if (shown) {
      pen.setTransform(scale, 0, 0, scale, -view.x * scale, -view.y * scale);
      pen.strokeStyle = colour("ink");
      pen.lineWidth = ((shown.width ?? 2) * ratio) / scale;
      pen.stroke(shown.path ?? new Path2D(shown.element.getAttribute("d")));
      pen.setTransform(1, 0, 0, 1, 0, 0);
    }
    this.writeNames(pen, scale, ratio, width, height);
    if (view.cursor && document.activeElement === stage) this.drawCursor(pen, scale, ratio);
    this.writeScale();
    stage.dataset.view = `${view.x.toFixed(1)} ${view.y.toFixed(1)} ${view.zoom.toFixed(4)}`;
    stage.classList.toggle("near", view.zoom > 1);
    this.closer.disabled = view.zoom >= MOST_ZOOM;
    this.farther.disabled = this.all.disabled = view.zoom <= 1;
  }

  writeNames(pen, scale, ratio, width, height) {
    const size = 12 * ratio, taken = [];
    pen.font = `${size}px system-ui, sans-serif`;
    Object.assign(pen, { textAlign: "center", textBaseline: "alphabetic", lineJoin: "round", lineWidth: 3 * ratio });
    pen.strokeStyle = colour("halo");
    pen.fillStyle = colour("soft");
    for (const place of this.ground.names) {
      const x = (place.x - this.view.x) * scale, y = (place.y - this.view.y) * scale;
      if (x < 0 || y < size || x > width || y > height) continue;
      place.half ??= pen.measureText(place.name).width / ratio / 2;
      const half = (place.half + 12) * ratio, box = [x - half, y - 1.9 * size, x + half, y + 1.2 * size];
      if (box[0] < 0 || box[2] > width || box[3] > height) continue;
      if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      pen.strokeText(place.name, x, y);
      pen.fillText(place.name, x, y);
    }
  }

  drawCursor(pen, scale, ratio) {
    const x = (this.view.cursor.x - this.view.x) * scale, y = (this.view.cursor.y - this.view.y) * scale, arm = 9 * ratio;
    for (const [name, width] of [["halo", 4], ["alert", 2]]) {
      pen.strokeStyle = colour(name);
      pen.lineWidth = width * ratio;
      pen.beginPath();
      for (const [dx, dy] of [[arm, 0], [0, arm]]) { pen.moveTo(x - dx, y - dy); pen.lineTo(x + dx, y + dy); }
      pen.stroke();
    }
  }

  writeScale() {
    const across = this.view.width / this.view.zoom / +this.svg.dataset.scale, most = across / 3;
    const size = 10 ** Math.floor(Math.log10(most)), length = Math.max(...[1, 2, 5].map((n) => n * size).filter((n) => n <= most));
    const text = length >= 1000 ? `${length / 1000}\u00a0km` : `${length}\u00a0m`;
    if (this.bar.textContent !== text) this.bar.textContent = text;
    this.bar.style.width = `${(100 * length) / across}%`;
  }

  // Which cell or flow is at a point of the paper. Cells are kept by square of a raster, so that few are looked at.
  find(x, y) {
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.lineWidth = (6 * this.view.width) / this.view.zoom / this.stage.clientWidth;
    const flow = this.flows.findLast((each) => pen.isPointInStroke(each.path, x, y));
    if (flow || !this.cells.length || !this.cells[0].element.firstElementChild) return flow ?? null;
    const many = 64, place = (at, size) => Math.min(Math.max(Math.floor((at / size) * many), 0), many - 1);
    if (!this.grid) {
      this.grid = Array.from({ length: many * many }, () => []);
      for (const cell of this.cells) {
        const box = cell.element.getBBox();
        for (let i = place(box.x, this.view.width); i <= place(box.x + box.width, this.view.width); i++)
          for (let j = place(box.y, this.view.height); j <= place(box.y + box.height, this.view.height); j++)
            this.grid[j * many + i].push(cell);
      }
    }
    return this.grid[place(y, this.view.height) * many + place(x, this.view.width)].find((cell) => {
      cell.path ??= new Path2D(cell.element.getAttribute("d"));
      return cell.now !== null && pen.isPointInPath(cell.path, x, y, "evenodd");
    }) ?? null;
  }

  // Say what is at a point of the paper, beside it.
  point(x, y, aloud = false) {
    const found = this.find(x, y), { view, stage, tip } = this, hour = this.hours.indexOf(view.hour);
    let text = found ? found.element.querySelector("title")?.textContent ?? "" : "";
    if (found?.values && hour >= 0)
      text += `\n${number(found.values[hour], 3)} from ${String(view.hour).padStart(2, "0")}:00, on average`;
    if (found !== this.shown) { this.shown = found; this.reshow(); }
    tip.hidden = !text;
    if (tip.textContent !== text) tip.textContent = text;
    if (aloud) this.said.textContent = text || "No cell here";
    if (!text) return;
    const scale = (stage.clientWidth * view.zoom) / view.width, left = (x - view.x) * scale, top = (y - view.y) * scale;
    const beside = left + 14 + tip.offsetWidth > stage.clientWidth ? left - 14 - tip.offsetWidth : left + 14;
    const below = top + 14 + tip.offsetHeight > stage.clientHeight ? top - 14 - tip.offsetHeight : top + 14;
    tip.style.transform = `translate(${Math.max(0, beside)}px, ${Math.max(0, below)}px)`;
  }

  paper(event) {
    const box = this.stage.getBoundingClientRect(), scale = this.view.width / this.view.zoom / box.width;
    return { x: this.view.x + (event.clientX - box.left) * scale, y: this.view.y + (event.clientY - box.top) * scale };
  }

  listen() {
    const { stage, fingers, view } = this;
    const spread = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1; };
    const middle = () => { const all = [...fingers.values()]; return { clientX: all.reduce((s, f) => s + f.clientX, 0) / all.length, clientY: all.reduce((s, f) => s + f.clientY, 0) / all.length }; };
    stage.addEventListener("pointerdown", (event) => {
      if (event.target.closest("button") || event.button) return;
      fingers.set(event.pointerId, event);
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("held");
      this.reach = fingers.size === 2 ? spread() : 0;
    });
    stage.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) {
        if (event.target.closest("button")) { this.tip.hidden = true; return; }
        view.cursor = null;
        const at = this.paper(event);
        this.point(at.x, at.y);
        return;
      }
      const from = this.paper(middle());
      fingers.set(event.pointerId, event);
      this.tip.hidden = true;
      const to = this.paper(middle());
      view.move(view.x + from.x - to.x, view.y + from.y - to.y);
      if (fingers.size === 2) {
        const reach = spread(), at = this.paper(middle());
        view.enlarge(reach / this.reach, at.x, at.y);
        this.reach = reach;
      }
    });
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => {
      fingers.delete(event.pointerId);
      if (!fingers.size) stage.classList.remove("held");
      if (event.pointerType === "touch" && name === "pointerup") { const at = this.paper(event); this.point(at.x, at.y); }
    });
    stage.addEventListener("pointerleave", () => { this.tip.hidden = true; if (this.shown) { this.shown = null; this.reshow(); } });
    stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && !stage.contains(document.activeElement)) return;
      event.preventDefault();
      const at = this.paper(event);
      view.enlarge(2 ** (-Math.max(-100, Math.min(100, event.deltaY)) / 200), at.x, at.y);
    }, { passive: false });
    stage.addEventListener("dblclick", (event) => {
      if (event.target.closest("button")) return;
      const at = this.paper(event);
      view.enlarge(2, at.x, at.y);
    });
    const arrows = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
    stage.addEventListener("keydown", (event) => {
      if (event.target !== stage || event.altKey || event.ctrlKey || event.metaKey) return;
      if (arrows[event.key]) {
        view.step(...arrows[event.key]);
        this.point(view.cursor.x, view.cursor.y, true);
      } else if (event.key === "+" || event.key === "=") view.enlarge(1.6, view.cursor?.x, view.cursor?.y);
      else if (event.key === "-") view.enlarge(1 / 1.6, view.cursor?.x, view.cursor?.y);
      else if (event.key === "0" || event.key === "Home") view.whole();
      else if (event.key === "Escape") this.tip.hidden = true;
      else return;
      event.preventDefault();
    });
    stage.addEventListener("blur", () => { this.tip.hidden = true; this.reshow(); });
  }
}

const ground = readGround(), views = new Map();
for (const svg of document.querySelectorAll("svg.map, svg.flows")) {
  const { width, height } = svg.viewBox.baseVal, key = `${width} ${height} ${svg.dataset.scale}`;
  if (!views.has(key)) views.set(key, new View(width, height));
  const view = views.get(key);
  view.maps.push(new MapSheet(svg, view, ground));
}
})();
