// Values as text. Pure functions: the tests run them without a browser.

/** A narrow no-break space: figures keep together. */
const thin = "\u202f";

/** 1234567 → "1 234 567", with thin spaces. What is no number is a dash. */
export function count(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const whole = Math.round(Math.abs(value)).toString();
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, thin);
  return value < 0 && whole !== "0" ? "−" + grouped : grouped;
}

/** A rate: "12 345/s", one digit behind the point below ten. */
export function rate(perSecond) {
  if (typeof perSecond !== "number" || !Number.isFinite(perSecond)) return "–";
  if (perSecond > 0 && perSecond < 10) return perSecond.toFixed(1) + "/s";
  return count(perSecond) + "/s";
}

/** A share of a whole: "97.6 %"; never "100.0 %" or "0.0 %" of what is not all or nothing. */
export function percent(part, whole) {
  if (!(whole > 0) || typeof part !== "number") return "–";
  if (part === whole) return `100${thin}%`;
  if (part === 0) return `0${thin}%`;
  const tenths = Math.round((part / whole) * 1000) / 10;
  return `${Math.min(Math.max(tenths, 0.1), 99.9).toFixed(1)}${thin}%`;
}

/** A duration in ms: "21 ms", "3.4 s", "42 s", "3 m 20 s", "2 h 5 m", "3 d 4 h". */
export function duration(ms) {
  if (typeof ms !== "number" || !Number.isFinite(ms)) return "–";
  const positive = Math.max(0, ms);
  if (positive === 0) return `0${thin}s`;
  if (positive < 999.5) return `${Math.max(1, Math.round(positive))}${thin}ms`;
  if (positive < 9950) return `${(positive / 1000).toFixed(1)}${thin}s`;
  const seconds = Math.round(positive / 1000);
  if (seconds < 60) return `${seconds}${thin}s`;
  const parts = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const first = parts.findIndex(([, size]) => seconds >= size);
  const [unit, size] = parts[first];
  const left = Math.floor((seconds % size) / parts[first + 1][1]);
  const whole = `${Math.floor(seconds / size)}${thin}${unit}`;
  return left > 0 ? `${whole} ${left}${thin}${parts[first + 1][0]}` : whole;
}

/** An answer time by its bucket: "≤ 50 ms"; 60,000 stands for all that is above 10 s. */
export function within(boundMs) {
  if (typeof boundMs !== "number") return "–";
  if (boundMs >= 60000) return `> 10${thin}s`;
  return boundMs < 1000 ? `≤ ${boundMs}${thin}ms` : `≤ ${boundMs / 1000}${thin}s`;
}

/** Bytes: "12 MiB". */
export function bytes(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = Math.max(0, value);
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)}${thin}${units[unit]}`;
}

function two(number) {
  return String(number).padStart(2, "0");
}

/** An instant in local time: the time alone on the day of `nowMs`, else the date as well. */
export function instant(ms, nowMs = Date.now()) {
  if (typeof ms !== "number" || !Number.isFinite(ms)) return "–";
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return "–";
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** The hour and minute of an instant in local time, for an axis, and the second where the axis is short. */
export function clock(ms, spanMs = Infinity) {
  const at = new Date(ms);
  const minute = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return spanMs < 600000 ? `${minute}:${two(at.getSeconds())}` : minute;
}

/** The same instant in UTC, as every log has it. */
export function utc(ms) {
  if (typeof ms !== "number" || !Number.isFinite(ms)) return "";
  const at = new Date(ms);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** "1 worker", "3 workers". */
export function plural(number, one, many = one + "s") {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** The ends that a push may come to, in the order of a job's record. */
export const outcomes = ["accepted", "rejected", "uninstalled", "expired", "skipped", "failed"];

/** Whom a job is for: "60 users", "a list of users", "topic news". */
export function audience(object) {
  const [[name, value] = []] = Object.entries(object ?? {});
  if (name === undefined) return "";
  if (name === "all") return "all users of the app";
  if (name === "list") return `a list of ${value}`;
  if (typeof value === "number") return value === 1 ? `1 ${name.replace(/s$/, "")}` : `${count(value)} ${name}`;
  return `${name.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : value}`;
}

/** The rows of a job's sum, and whether they add up to its total. */
export function sum(job) {
  const rows = [...outcomes, "pending"].map((name) => ({ name, count: Number(job[name] ?? 0) }));
  const added = rows.reduce((so, row) => so + row.count, 0);
  const total = Number(job.total ?? 0);
  return { rows, added, total, addsUp: added === total };
}

/** How many pushes of a job have ended. */
export function settled(job) {
  return outcomes.reduce((so, name) => so + Number(job[name] ?? 0), 0);
}

/**
 * The pace between each two points of a job: `{from, to, perSecond, accepted}`. Points of less than half a second are joined
 * with the next.
 */
export function paces(points) {
  const found = [];
  let from = points[0];
  for (const point of points.slice(1)) {
    if (point.at - from.at < 500) continue;
    const seconds = (point.at - from.at) / 1000;
    found.push({
      from: from.at, to: point.at, settled: point.settled,
      perSecond: Math.max(0, (point.settled - from.settled) / seconds),
      acceptedPerSecond: Math.max(0, (point.accepted - from.accepted) / seconds),
    });
    from = point;
  }
  return found;
}

/** Round steps for an axis up to `max`: at most four, such as [0, 500, 1000]. What is only whole has no smaller step than 1. */
export function ticks(max, { isWhole = false } = {}) {
  if (!(max > 0)) return [0, 1];
  const rough = max / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max([1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough, isWhole ? 1 : 1e-9);
  const found = [];
  for (let tick = 0; tick < max + step * 0.999; tick += step) found.push(tick);
  return found;
}

/** A figure of an axis: "12k". */
export function short(value) {
  if (value >= 1e6) return `${+(value / 1e6).toFixed(1)}M`;
  if (value >= 1e4) return `${+(value / 1e3).toFixed(1)}k`;
  return value > 0 && value < 1 ? value.toFixed(1) : count(value);
}

/** Where the guide speaks of an alarm: "loop" and "topic_loop" share a paragraph. */
export function paragraph(kind) {
  return kind === "loop" || kind === "topic_loop" ? "loop-topic_loop" : kind;
}

/** How urgent an alarm is: "loss", "waiting" or "note", as the guide's table has it. */
export function urgency(kind) {
  const loss = ["refuses_writes", "lost_work", "trimmed", "loop", "topic_loop", "wrong_type",
    "unsafe_redis", "record_memory", "exhausted"];
  const notes = ["app_conflict", "redis_apps", "configuration", "certificate", "bad_connection",
    "mass_death", "half_binding", "clock"];
  if (loss.includes(kind)) return "loss";
  return notes.includes(kind) ? "note" : "waiting";
}

/** The parts of a route: "#/jobs/shop/a%2Fb?x=1" → {path: ["jobs", "shop", "a/b"], query: {x: "1"}}. */
export function route(hash) {
  const text = hash.startsWith("#/") ? hash.slice(2) : "";
  const mark = text.indexOf("?");
  const path = (mark < 0 ? text : text.slice(0, mark)).split("/").filter((part) => part !== "")
    .map(decoded);
  return { path, query: Object.fromEntries(new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1))) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A route as a link; fields without a value are left out, empty ones are not. */
export function link(path, query = {}) {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const tail = fields.length ? "?" + new URLSearchParams(fields) : "";
  return "#/" + path.map(encodeURIComponent).join("/") + tail;
}
