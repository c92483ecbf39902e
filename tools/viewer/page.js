// The page: opens traces, moves the view, shows what is selected. #call=17, #sequence=4 and #search=TEXT select at the start.
"use strict";

const element = (id) => document.getElementById(id);
const view = new View();
const timeline = new Timeline(element("timeline"), view);
const memory = new MemoryMap(element("memory"), view);
let trace = null;
let found = { text: "", at: -1, slices: [] };

function draw() {
  timeline.draw();
  memory.draw();
}

function showTable(title, rows) {
  const table = document.createElement("table");
  for (const [name, value] of rows) {
    const row = table.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = String(value);
  }
  const heading = document.createElement("h3");
  heading.textContent = title;
  element("details").replaceChildren(heading, table);
}

function tellSlice(slice) {
  const leads = trace.arrows.filter((arrow) => arrow.from.slice === slice).map((arrow) => ["leads to", arrow.to.slice.name]);
  const comes = trace.arrows.filter((arrow) => arrow.to.slice === slice).map((arrow) => ["comes from", arrow.from.slice.name]);
  showTable(slice.name, [["at", durationText(slice.begin - trace.first)], ["takes", durationText(slice.end - slice.begin)],
    ...Object.entries(slice.args), ...comes, ...leads,
    ...[...memory.liveAt(slice.begin)].map(([kind, bytes]) => [`live ${kind}`, `${bytes} bytes`])]);
}

function tellAllocation(allocation) {
  const life = Number.isFinite(allocation.end) ? durationText(allocation.end - allocation.begin) : "to the end";
  showTable(allocation.kind, [["address", `0x${allocation.address.toString(16)}`], ["bytes", allocation.bytes],
    ["at", durationText(allocation.begin - trace.first)], ["lives", life]]);
}

function select(what) {
  view.selected = what;
  if (what) (what.track ? tellSlice : tellAllocation)(what);
  draw();
}

function reveal(slice) {
  const margin = Math.max(slice.end - slice.begin, 1) * 2;
  if (slice.end < view.begin || slice.begin > view.end || slice.end - slice.begin < (view.end - view.begin) / 500) {
    view.show(slice.begin - margin, slice.end + margin, trace);
  }
  const track = trace.tracks.find((each) => trackName(each) === slice.track);
  view.scroll = Math.max(0, track.top - 60);
  select(slice);
}

const allSlices = () => trace.tracks.flatMap((track) => track.slices);
const textOf = (slice) => `${slice.name} ${Object.entries(slice.args).map(([name, value]) => `${name}=${value}`).join(" ")}`.toLowerCase();

/** Selects the next slice with `text` in its name or arguments. */
function search(text) {
  if (!trace || text === "") return;
  if (found.text !== text) found = { text, at: -1, slices: allSlices().filter((slice) => textOf(slice).includes(text.toLowerCase())) };
  element("found").textContent = `${found.slices.length} found`;
  if (found.slices.length === 0) return;
  found.at = (found.at + 1) % found.slices.length;
  reveal(found.slices[found.at]);
}

/** The wish behind # in the page's address. */
function obeyAddress() {
  const wish = new URLSearchParams(location.hash.slice(1));
  const number = wish.get("call") ?? wish.get("sequence");
  const name = wish.has("call") ? "call" : "sequence";
  const kind = wish.has("call") ? "api" : "descriptor";
  const slice = number === null ? null : allSlices().find((each) => each.kind === kind && String(each.args[name]) === number);
  if (slice) reveal(slice);
  else if (wish.has("search")) search(wish.get("search"));
}

function countText(count, word) { return `${count} ${word}${count === 1 ? "" : "s"}`; }

function show(text, name) {
  try {
    trace = readTrace(text);
  } catch (error) {
    element("summary").textContent = `${name}: ${error.message}`;
    element("summary").className = "error";
    return;
  }
  found = { text: "", at: -1, slices: [] };
  element("summary").className = "";
  element("summary").textContent = [countText(allSlices().length, "slice"), countText(trace.tracks.length, "track"), countText(trace.arrows.length, "arrow"),
    countText(trace.counters.length, "counter"), durationText(trace.last - trace.first)].join(", ") + (trace.lost ? `; ${countText(trace.lost, "earlier event")} lost` : "");
  element("memory-summary").textContent = countText(trace.allocations.length, "allocation");
  timeline.setTrace(trace);
  memory.setTrace(trace);
  view.selected = null;
  view.scroll = 0;
  view.show(trace.first, trace.last, trace);
  draw();
  obeyAddress();
}

function zoom(x, factor) {
  const at = view.timeAt(x);
  view.show(at - (at - view.begin) * factor, at + (view.end - at) * factor, trace);
  draw();
}

function move(share) {
  const by = (view.end - view.begin) * share;
  view.show(view.begin + by, view.end + by, trace);
  draw();
}

function followMouse(canvas, pick) {
  let last = null;
  let moved = false;
  canvas.addEventListener("wheel", (event) => {
    if (!trace) return;
    event.preventDefault();
    if (event.shiftKey) {
      view.scroll += event.deltaY || event.deltaX;
      draw();
    } else zoom(event.offsetX, event.deltaY > 0 ? 1.25 : 0.8);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    [last, moved] = [event, false];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last || !trace) return;
    const [dx, dy] = [event.offsetX - last.offsetX, event.offsetY - last.offsetY];
    moved ||= Math.abs(dx) + Math.abs(dy) > 3;
    if (!moved) return;
    view.scroll -= dy;
    move(-dx / (view.width - view.labels));
    last = event;
  });
  canvas.addEventListener("pointerup", (event) => {
    last = null;
    if (!moved && trace) select(pick(event.offsetX, event.offsetY));
  });
}

followMouse(element("timeline"), (x, y) => timeline.sliceAt(x, y));
followMouse(element("memory"), (x, y) => memory.allocationAt(x, y));
window.addEventListener("resize", draw);
window.addEventListener("hashchange", () => trace && obeyAddress());
document.addEventListener("keydown", (event) => {
  if (!trace || event.target === element("search")) return;
  const middle = (view.labels + view.width) / 2;
  const steps = { w: () => zoom(middle, 0.8), s: () => zoom(middle, 1.25), a: () => move(-0.15), d: () => move(0.15) };
  if (steps[event.key]) steps[event.key]();
});
element("search").addEventListener("keydown", (event) => { if (event.key === "Enter") search(event.target.value); });
element("all").addEventListener("click", () => { if (trace) { view.show(trace.first, trace.last, trace); draw(); } });
element("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) show(await file.text(), file.name);
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) show(await file.text(), file.name);
});

const inside = element("trace").textContent.trim();
if (inside !== "") show(inside, "the trace in this page");
else element("summary").textContent = "open a file that DATUM_TRACE or 'datum run --trace' wrote, or drop it here";
