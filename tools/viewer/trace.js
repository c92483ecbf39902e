// From the JSON of a trace to what the views draw: tracks of slices, counters, allocations, arrows.
"use strict";

const counterName = (pid, name) => `${pid}/${name}`;
/** Of an event, or of a track. */
const trackName = ({ pid, tid }) => `${pid}/${tid}`;

/** Gives each slice of a track, sorted by start, the row in which it lies below those that contain it. */
function setRows(slices) {
  slices.sort((a, b) => a.begin - b.begin || b.end - a.end);
  const open = [];
  let rows = 1;
  for (const slice of slices) {
    while (open.length && open[open.length - 1].end <= slice.begin) open.pop();
    slice.row = open.length;
    rows = Math.max(rows, slice.row + 1);
    open.push(slice);
  }
  return rows;
}

/** What `text` is as an address or a number; NaN if it is neither. */
const numberOf = (text) => (typeof text === "number" ? text : Number(text));

class TraceReader {
  constructor(events) {
    this.tracks = new Map();
    this.counters = new Map();
    this.processes = new Map();
    this.threads = new Map();
    this.flows = new Map();
    this.allocations = [];
    this.open = new Map();
    this.first = Infinity;
    this.last = -Infinity;
    for (const event of events) this.take(event);
  }

  take(event) {
    if (event.ph === "M") return this.takeName(event);
    if (typeof event.ts !== "number") return undefined;
    this.first = Math.min(this.first, event.ts);
    this.last = Math.max(this.last, event.ts + (event.dur || 0));
    switch (event.ph) {
      case "X": return this.takeSlice(event);
      case "C": return this.takeCounter(event);
      case "b": return this.takeAllocation(event);
      case "e": return this.takeFree(event);
      case "s": case "t": case "f": return this.takeFlow(event);
      default: return undefined;
    }
  }

  takeName(event) {
    const args = event.args || {};
    if (event.name === "process_name") this.processOf(event.pid).name = args.name;
    if (event.name === "process_sort_index") this.processOf(event.pid).order = args.sort_index;
    if (event.name === "thread_name") this.threads.set(trackName(event), { name: args.name, ...this.threads.get(trackName(event)) });
    if (event.name === "thread_sort_index") this.threads.set(trackName(event), { ...this.threads.get(trackName(event)), order: args.sort_index });
  }

  processOf(pid) {
    if (!this.processes.has(pid)) this.processes.set(pid, { name: `process ${pid}`, order: pid });
    return this.processes.get(pid);
  }

  takeSlice(event) {
    const key = trackName(event);
    if (!this.tracks.has(key)) this.tracks.set(key, { pid: event.pid, tid: event.tid, slices: [] });
    const slice = { name: event.name, kind: event.cat, begin: event.ts, end: event.ts + (event.dur || 0), args: event.args || {}, track: key };
    this.tracks.get(key).slices.push(slice);
  }

  takeCounter(event) {
    const key = counterName(event.pid, event.name);
    if (!this.counters.has(key)) this.counters.set(key, { pid: event.pid, name: event.name, points: [] });
    this.counters.get(key).points.push({ at: event.ts, value: Number(Object.values(event.args || {})[0]) || 0 });
  }

  takeAllocation(event) {
    const address = numberOf(event.args && event.args.pointer);
    const bytes = numberOf(event.args && event.args.bytes);
    if (!Number.isFinite(address) || !(bytes > 0)) return;
    const allocation = { kind: event.name, address, bytes, begin: event.ts, end: Infinity, args: event.args };
    this.allocations.push(allocation);
    this.open.set(`${event.pid}/${event.id}`, allocation);
  }

  takeFree(event) {
    const allocation = this.open.get(`${event.pid}/${event.id}`);
    if (allocation) allocation.end = event.ts;
    this.open.delete(`${event.pid}/${event.id}`);
  }

  takeFlow(event) {
    const key = `${event.cat}/${event.id}`;
    if (!this.flows.has(key)) this.flows.set(key, []);
    this.flows.get(key).push({ track: trackName(event), at: event.ts });
  }
}

/** The innermost slice of `track` that contains `at`; events of arrows are bound to it. */
function sliceAt(track, at) {
  let found = null;
  for (const slice of track ? track.slices : []) {
    if (slice.begin > at) break;
    if (slice.end >= at) found = slice;
  }
  return found;
}

function readTracks(reader) {
  const tracks = [...reader.tracks.values()];
  for (const track of tracks) {
    const thread = reader.threads.get(trackName(track)) || {};
    track.rows = setRows(track.slices);
    track.name = thread.name || `thread ${track.tid}`;
    track.process = reader.processOf(track.pid).name;
    track.order = [reader.processOf(track.pid).order ?? 0, thread.order ?? track.tid];
  }
  return tracks.sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
}

/** Throws an Error whose message says what is wrong with `text`. */
function readTrace(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new Error(`this is no JSON (${error.message}); a trace that ends early was cut off while it was written`);
  }
  const events = Array.isArray(content) ? content : content && content.traceEvents;
  if (!Array.isArray(events)) throw new Error("this has no list 'traceEvents', so it is no trace");
  const reader = new TraceReader(events);
  const tracks = readTracks(reader);
  const byName = new Map(tracks.map((track) => [trackName(track), track]));
  const arrows = [];
  for (const steps of reader.flows.values()) {
    const ends = steps.map((step) => ({ ...step, slice: sliceAt(byName.get(step.track), step.at) }));
    for (let index = 1; index < ends.length; ++index) {
      if (ends[index - 1].slice && ends[index].slice) arrows.push({ from: ends[index - 1], to: ends[index] });
    }
  }
  const counters = [...reader.counters.values()];
  for (const counter of counters) {
    counter.points.sort((a, b) => a.at - b.at);
    counter.process = reader.processOf(counter.pid).name;
    counter.most = Math.max(1, ...counter.points.map((point) => point.value));
  }
  const empty = reader.first > reader.last;
  const lost = Number(content.otherData && content.otherData.lost_events) || 0;
  return { tracks, counters, arrows, allocations: reader.allocations, first: empty ? 0 : reader.first, last: empty ? 1 : reader.last, lost };
}
