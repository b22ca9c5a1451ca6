// The server's news of the fleet, and the one place where it is held back.
import { latest as askLatest } from "./api.js";

const sections = ["store", "fleet", "alarms", "jobs", "outcomes", "networks", "switches", "rates", "history"];
/** How long a stream may be silent: it has an event each 5 s. */
const silentMsMax = 20000;
/** How long a new stream may take until its first event: a proxy may hold it back. */
const firstMsMax = 8000;
const pollMs = 2000;
/** So many failures of a stream without an event between them end it. */
const failuresMax = 2;
/** How long pages poll until they try a stream again. */
const retryMs = 60000;

/** The last of each section that came, and what the views see of it. */
let latest = {};
let shown = {};
/** Why nothing is shown anew: "button", "dialog", "hidden". One set for the whole page. */
const holds = new Set();
let heldAtMs = null;

const listeners = new Set();
let changed = new Set();
let isScheduled = false;

let source = null;
let mode = "stopped";
let lastID = "";
let heardMs = 0;
let openedMs = 0;
let pollTimer = null;
let retryTimer = null;
let failure = "";
let failures = 0;
let offsets = [];

export const feed = {
  /** The state of a section that is shown; an empty object before anything came. */
  get: (section) => shown[section] ?? {},
  has: (section) => shown[section] !== undefined,

  /** Calls back with the sections that changed, and each second with "tick". - Returns: what ends it. */
  listen(act) {
    listeners.add(act);
    return () => listeners.delete(act);
  },

  hold(reason) {
    if (holds.size === 0) heldAtMs = feed.now();
    holds.add(reason);
    schedule("hold");
  },

  /** Ends a reason to hold; with the last of them the current state is shown at once. */
  release(reason) {
    holds.delete(reason);
    if (holds.size === 0) {
      heldAtMs = null;
      shown = { ...latest };
      for (const section of sections) if (shown[section]) changed.add(section);
    }
    schedule("hold");
  },

  isHeld: (reason) => (reason ? holds.has(reason) : holds.size > 0),

  /** Redis's time, or when the page was held. */
  now: () => heldAtMs ?? Date.now() + (offsets.length ? Math.max(...offsets) : 0),

  /** "stream", "polling", "lost" or "stopped", and why. */
  status: () => ({ mode, failure, heardMs }),

  start() {
    if (mode === "stopped") open();
  },

  stop() {
    close();
    mode = "stopped";
    lastID = "";
    latest = {};
    shown = {};
    offsets = [];
  },
};

function take(name, data, id) {
  heardMs = Date.now();
  failure = "";
  failures = 0;
  if (id) lastID = id;
  latest[name] = data;
  if (name === "store" && data.away === false && typeof data.at === "number") {
    // The server's seconds are whole and come late: the largest difference is the nearest.
    offsets = [...offsets, data.at - Date.now()].slice(-12);
  }
  if (holds.size > 0) return;
  shown[name] = data;
  schedule(name);
}

function schedule(name) {
  changed.add(name);
  if (isScheduled) return;
  isScheduled = true;
  setTimeout(() => {
    isScheduled = false;
    const names = changed;
    changed = new Set();
    for (const act of [...listeners]) act(names);
  }, 0);
}

function open() {
  close();
  if (typeof EventSource === "undefined") return poll();
  mode = "stream";
  openedMs = Date.now();
  heardMs = 0;
  failures = 0;
  source = new EventSource("/v1/events" + (lastID ? `?after=${encodeURIComponent(lastID)}` : ""));
  for (const name of sections) {
    source.addEventListener(name, (event) => {
      let data;
      try {
        data = JSON.parse(event.data);
      } catch {
        return;
      }
      take(name, data, event.lastEventId);
    });
  }
  source.onerror = () => {
    // A stream that ends is opened again by the browser; one that is refused is not.
    failures += 1;
    if (source && (source.readyState === EventSource.CLOSED || failures >= failuresMax)) fallBack();
  };
  schedule("status");
}

function fallBack() {
  close();
  poll();
  retryTimer = setTimeout(open, retryMs);
}

function close() {
  source?.close();
  source = null;
  clearTimeout(pollTimer);
  clearTimeout(retryTimer);
  pollTimer = null;
  retryTimer = null;
}

async function poll() {
  mode = failure ? "lost" : "polling";
  schedule("status");
  const timer = setTimeout(() => {}, 0);
  pollTimer = timer;
  try {
    const answer = await askLatest(lastID || undefined);
    if (pollTimer !== timer) return;
    mode = "polling";
    failure = "";
    heardMs = Date.now();
    for (const { event, data } of answer.events ?? []) if (sections.includes(event)) take(event, data, answer.id);
  } catch (error) {
    if (pollTimer !== timer || mode === "stopped") return;
    mode = "lost";
    failure = error.message;
  }
  schedule("status");
  pollTimer = setTimeout(poll, pollMs);
}

setInterval(() => {
  if (mode === "stopped") return;
  const nowMs = Date.now();
  if (mode === "stream" && source) {
    const isDead = heardMs ? nowMs - heardMs > silentMsMax : nowMs - openedMs > firstMsMax;
    if (isDead) fallBack();
  }
  if (holds.size === 0) schedule("tick");
}, 1000);

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    feed.hold("hidden");
    if (mode !== "stopped") {
      close();
      mode = "hidden";
    }
  } else {
    feed.release("hidden");
    if (mode === "hidden") open();
  }
});
