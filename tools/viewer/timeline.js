// Tracks of slices and counters over time, with the arrows of what is selected.
"use strict";

const rowHeight = 18;
const counterHeight = 34;
const axisHeight = 20;

/** Which part of time is seen, and where on the canvas a time lies. Shared by all views. Times are microseconds. */
class View {
  constructor() {
    this.labels = 170;
    this.width = 800;
    this.begin = 0;
    this.end = 1;
    this.scroll = 0;
    this.selected = null;
  }

  xOf(at) { return this.labels + ((at - this.begin) / (this.end - this.begin)) * (this.width - this.labels); }
  timeAt(x) { return this.begin + ((x - this.labels) / (this.width - this.labels)) * (this.end - this.begin); }

  show(begin, end, trace) {
    const span = Math.min(Math.max(end - begin, 0.01), (trace.last - trace.first) * 1.1 + 1);
    const least = trace.first - span * 0.05;
    this.begin = Math.min(Math.max(begin, least), Math.max(least, trace.last - span * 0.5));
    this.end = this.begin + span;
  }
}

function prepareCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, sans-serif";
  return { context, width, height };
}

const textColour = () => getComputedStyle(document.body).color;

/** The same colour for the same name, everywhere. */
function colourOf(name) {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 360;
  return `hsl(${hash} 55% 52%)`;
}

function durationText(us) {
  if (us === 0) return "0";
  if (us >= 1e6) return `${(us / 1e6).toPrecision(4)} s`;
  if (us >= 1e3) return `${(us / 1e3).toPrecision(4)} ms`;
  return us >= 1 ? `${us.toPrecision(4)} µs` : `${(us * 1e3).toPrecision(3)} ns`;
}

class Timeline {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.view = view;
    this.boxes = [];
  }

  setTrace(trace) {
    this.trace = trace;
    let top = axisHeight;
    for (const track of trace.tracks) {
      track.top = top;
      top += track.rows * rowHeight + 8;
    }
    for (const counter of trace.counters) {
      counter.top = top;
      top += counterHeight + 4;
    }
    this.height = top;
  }

  draw() {
    const { context, width, height } = prepareCanvas(this.canvas);
    this.view.width = width;
    this.boxes = [];
    if (!this.trace) return;
    this.view.scroll = Math.max(0, Math.min(this.view.scroll, this.height - height));
    for (const track of this.trace.tracks) this.drawTrack(context, track, height);
    for (const counter of this.trace.counters) this.drawCounter(context, counter);
    this.drawArrows(context);
    this.drawAxis(context, width);
  }

  drawLabel(context, top, name, process) {
    context.clearRect(0, top - this.view.scroll, this.view.labels - 2, rowHeight);
    context.fillStyle = textColour();
    context.fillText(`${process}, ${name}`, 4, top - this.view.scroll + 12, this.view.labels - 10);
  }

  drawTrack(context, track, height) {
    const { view } = this;
    const top = track.top - view.scroll;
    if (top > height || top + track.rows * rowHeight < 0) return;
    const drawnTo = new Array(track.rows).fill(-Infinity);
    for (const slice of track.slices) {
      if (slice.begin > view.end) break;
      if (slice.end < view.begin) continue;
      const left = Math.max(view.xOf(slice.begin), view.labels);
      const right = Math.max(view.xOf(slice.end), left + 1);
      if (right < drawnTo[slice.row] + 0.5 && slice !== view.selected) continue;
      drawnTo[slice.row] = right;
      this.drawSlice(context, slice, { left, top: top + slice.row * rowHeight, width: right - left, height: rowHeight - 2 });
    }
    this.drawLabel(context, track.top, track.name, track.process);
  }

  drawSlice(context, slice, box) {
    this.boxes.push({ ...box, slice });
    context.fillStyle = colourOf(slice.name);
    context.fillRect(box.left, box.top, box.width, box.height);
    if (slice === this.view.selected) {
      context.strokeStyle = textColour();
      context.lineWidth = 2;
      context.strokeRect(box.left, box.top, box.width, box.height);
    }
    if (box.width < 24) return;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width - 2, box.height);
    context.clip();
    context.fillStyle = "#fff";
    context.fillText(slice.name, box.left + 3, box.top + 12);
    context.restore();
  }

  drawCounter(context, counter) {
    const { view } = this;
    const base = counter.top - view.scroll + counterHeight;
    context.fillStyle = colourOf(counter.name);
    context.globalAlpha = 0.6;
    counter.points.forEach((point, index) => {
      const next = counter.points[index + 1];
      const left = Math.max(view.xOf(point.at), view.labels);
      const right = Math.min(next ? view.xOf(next.at) : view.width, view.width);
      const tall = (point.value / counter.most) * (counterHeight - 4);
      if (right > left) context.fillRect(left, base - tall, right - left, tall);
    });
    context.globalAlpha = 1;
    this.drawLabel(context, counter.top, `${counter.name} (to ${counter.most})`, counter.process);
  }

  /** Arrows of the selected slice; of all, while they are few. */
  drawArrows(context) {
    const { view, trace } = this;
    const few = trace.arrows.length <= 64;
    const placed = new Map(this.boxes.map((box) => [box.slice, box]));
    context.strokeStyle = textColour();
    context.lineWidth = 1;
    for (const { from, to } of trace.arrows) {
      const [start, end] = [placed.get(from.slice), placed.get(to.slice)];
      const chosen = from.slice === view.selected || to.slice === view.selected;
      if (!start || !end || !(few || chosen)) continue;
      context.globalAlpha = chosen ? 1 : 0.35;
      const [x0, x1] = [Math.max(view.xOf(from.at), view.labels), Math.max(view.xOf(to.at), view.labels)];
      const [y0, y1] = [start.top + start.height, end.top];
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
      context.lineTo(x1 - 3, y1 - 5);
      context.moveTo(x1, y1);
      context.lineTo(x1 + 3, y1 - 5);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawAxis(context, width) {
    const { view } = this;
    context.clearRect(0, 0, width, axisHeight);
    context.fillStyle = textColour();
    const step = 10 ** Math.floor(Math.log10((view.end - view.begin) / 4));
    const from = Math.ceil((view.begin - this.trace.first) / step) * step;
    let free = view.labels;
    for (let offset = from; offset <= view.end - this.trace.first; offset += step) {
      const x = view.xOf(this.trace.first + offset);
      if (x < free) continue;
      context.fillRect(x, 0, 1, axisHeight);
      context.fillText(durationText(offset), x + 3, 12);
      free = x + 90;
    }
  }

  sliceAt(x, y) {
    const hit = this.boxes.findLast((box) => x >= box.left - 1 && x <= box.left + box.width + 1 && y >= box.top && y <= box.top + box.height);
    return hit ? hit.slice : null;
  }
}
