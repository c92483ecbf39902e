// Allocations by address over time. Address space between allocations is left out: what lies apart stands close.
"use strict";

/** Ranges of addresses that some allocation covers, in order, each with the height at which it is drawn. */
function usedRanges(allocations) {
  const sorted = [...allocations].sort((a, b) => a.address - b.address);
  const ranges = [];
  for (const { address, bytes } of sorted) {
    const last = ranges[ranges.length - 1];
    if (last && address <= last.end) last.end = Math.max(last.end, address + bytes);
    else ranges.push({ begin: address, end: address + bytes });
  }
  // The logarithm of its size, so that a page beside a gibibyte can be seen.
  let at = 0;
  for (const range of ranges) {
    range.at = at;
    range.height = Math.log2(1 + (range.end - range.begin) / 4096) + 1;
    at += range.height + 0.3;
  }
  return { ranges, height: at };
}

function rangeOf(ranges, address) {
  let low = 0;
  let high = ranges.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ranges[middle].begin <= address) low = middle;
    else high = middle - 1;
  }
  return ranges[low];
}

class MemoryMap {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.view = view;
    this.boxes = [];
  }

  setTrace(trace) {
    this.trace = trace;
    this.used = usedRanges(trace.allocations);
  }

  /** Where `allocation` is drawn, in pixels. */
  boxOf(allocation, height) {
    const { view, used } = this;
    const range = rangeOf(used.ranges, allocation.address);
    const scale = height / Math.max(1, used.height);
    const share = range.height / (range.end - range.begin);
    const top = (range.at + (allocation.address - range.begin) * share) * scale;
    const left = Math.max(view.xOf(allocation.begin), view.labels);
    const right = Math.min(view.xOf(Math.min(allocation.end, this.trace.last)), view.width);
    return { left, top, width: Math.max(1, right - left), height: Math.max(1, allocation.bytes * share * scale - 0.5), visible: right >= view.labels && left <= view.width };
  }

  draw() {
    const { context, width, height } = prepareCanvas(this.canvas);
    this.view.width = width;
    this.boxes = [];
    if (!this.trace) return;
    for (const allocation of this.trace.allocations) {
      const box = this.boxOf(allocation, height);
      if (!box.visible) continue;
      this.boxes.push({ ...box, allocation });
      context.fillStyle = colourOf(allocation.kind);
      context.globalAlpha = allocation === this.view.selected ? 1 : 0.7;
      context.fillRect(box.left, box.top, box.width, box.height);
    }
    context.globalAlpha = 1;
    this.drawLabels(context, height);
  }

  drawLabels(context, height) {
    const scale = height / Math.max(1, this.used.height);
    context.fillStyle = textColour();
    let below = -Infinity;
    for (const range of this.used.ranges) {
      const y = range.at * scale + 10;
      if (y < below + 12) continue;
      below = y;
      context.fillText(`0x${range.begin.toString(16)}`, 4, y);
    }
  }

  allocationAt(x, y) {
    const hit = this.boxes.findLast((box) => x >= box.left && x <= box.left + box.width && y >= box.top - 1 && y <= box.top + box.height + 1);
    return hit ? hit.allocation : null;
  }

  /** Bytes that are live at `at`, by kind. */
  liveAt(at) {
    const live = new Map();
    for (const allocation of this.trace.allocations) {
      if (allocation.begin <= at && at < allocation.end) live.set(allocation.kind, (live.get(allocation.kind) || 0) + allocation.bytes);
    }
    return live;
  }
}
