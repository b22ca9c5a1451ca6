// Exact look-up: a job by its id, a user's devices, who has a token, and what happened to their pushes.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { Table, field, h, notice, section, show, time } from "./dom.js";
import { count, duration, link, plural } from "./format.js";
import { jobLink } from "./view-jobs.js";

const codesGood = ["accepted", "accepted_if_meant"];
const codesBad = ["rejected", "failed", "invalid", "uninstalled", "expired"];

/** The apps that anything on this page has told of. */
function knownApps() {
  const apps = new Set();
  const jobs = feed.get("jobs");
  for (const job of [...(jobs.open ?? []), ...(jobs.ended ?? [])]) apps.add(job.app);
  for (const row of [...(feed.get("outcomes").outcomes ?? []), ...(feed.get("rates").rates ?? [])]) apps.add(row.app);
  return [...apps].filter(Boolean).sort();
}

export function appField(value) {
  const list = h("datalist", { id: "known-apps" }, knownApps().map((app) => h("option", { value: app })));
  const input = h("input", { name: "app", type: "text", required: true, list: "known-apps", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const apps = knownApps();
  input.value = value ?? (apps.length === 1 ? apps[0] : "");
  return { input, element: h("div", {}, field("App", input), list) };
}

export function view(root, _, query) {
  const app = appField(query.app);
  const text = (name, label, hint) => {
    const input = h("input", { name, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    input.value = query[name] ?? "";
    return { input, element: field(label, input, hint) };
  };
  const job = text("job", "Job", "its id");
  const user = text("user", "User", "as your backend calls it");
  const token = text("token", "Token", "of a device");
  const form = h("form", { class: "look-up" }, app.element, job.element, user.element, token.element,
    h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary", text: "Look up" })));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [wantedApp, wantedJob, wantedUser, wantedToken] = [app, job, user, token].map((one) => one.input.value.trim() || undefined);
    const wanted = { app: wantedApp, job: wantedJob, user: wantedUser, token: wantedToken };
    if (wanted.job && !wanted.user && !wanted.token) location.hash = jobLink(wanted.app, wanted.job);
    else location.hash = link(["look-up"], wanted);
  });
  const results = h("div");
  root.append(
    h("p", { text: "Give the app and one of the three. A job together with a user or a token shows what happened to that push." }), form, results);

  if (!query.app) return {};
  if (query.user) results.append(userPart(query.app, query.user));
  if (query.token) results.append(tokenPart(query.app, query.token));
  if (query.job) results.append(section(`Pushes of ${query.job}`, tracePart(query.app, query.job, query)));
  return {};
}

/** Runs a question and shows its answer in a part of the page. */
function asked(title, question, answer) {
  const body = h("div", {}, h("p", { class: "empty", text: "…" }));
  question().then(
    (found) => body.replaceChildren(...answer(found)),
    (error) => body.replaceChildren(notice(error.message, "bad")));
  return section(title, body);
}

function deviceColumns() {
  return [
    { head: "Token", text: (device) => device.token, class: "token" },
    { head: "Network", text: (device) => device.network },
    { head: "Environment", text: (device) => device.environment },
    { head: "Device", text: (device) => [device.device_type, device.os_version].filter(Boolean).join(" ") },
    { head: "App version", text: (device) => device.app_version },
    { head: "Time zone", text: (device) => device.time_zone },
    { head: "Language", text: (device) => device.language },
    { head: "Channels", text: (device) => (device.channels ?? []).join(", "), class: "wrap" },
    { head: "Custom", text: (device) => Object.entries(device.custom ?? {}).map(([name, value]) => `${name}: ${value}`).join(", "), class: "wrap" },
    { head: "Installed", time: (device) => instantOf(device.created_at) },
    { head: "Renewed", time: (device) => instantOf(device.updated_at) },
  ];
}

/** Instants may come as epoch milliseconds or as RFC 3339. */
function instantOf(value) {
  if (typeof value === "number") return value;
  const ms = Date.parse(value ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

function userPart(app, user) {
  return asked(`Devices of ${user}`, () => api.installations(app, user), (found) => {
    const devices = found.items ?? [];
    const table = new Table(`Devices of ${user}`, deviceColumns(), {
      key: (device) => `${device.network} ${device.token}`,
      empty: "The user has no device: without one there is nothing to send to. The app registers it with PUT /v1/apps/{app}/installations/{network}/{token}.",
    });
    table.update(devices, feed.now());
    const last = found.last_departure;
    return [table.element, last ? h("p", {}, `The last device that went, of ${last.network}, `, h("span", { class: "token", text: last.token }), ": ", ...becameOf(app, last), ".") : null].filter(Boolean);
  });
}

const departures = {
  network: "its network called it dead", explicit: "it was uninstalled", overwritten: "another user installed it",
  evicted: "another device of the user took its place", environment: "its environment was corrected, and it stayed",
};

/** What became of a device, and when. */
function becameOf(app, departure) {
  return [departures[departure.cause] ?? departure.cause, departure.by ? ` (${departure.by})` : "", ", ", time(departure.at, feed.now()),
    departure.user ? `; it was ${departure.user}'s` : "",
    ...(departure.job ? ["; the push was of ", h("a", { href: jobLink(app, departure.job), text: departure.job })] : [])];
}

function tokenPart(app, token) {
  return asked("The token", () => api.token(app, token), (found) => {
    const items = found.items ?? [];
    if (items.length === 0) return [h("p", { class: "empty", text: "Nobody has this token, and nothing is known of it from the last days." })];
    return items.map((item) => h("div", {},
      h("p", {}, item.user
        ? [`On ${item.network}, the user `, h("a", { href: link(["look-up"], { app, user: item.user }), text: item.user }), " has it since ", time(item.since, feed.now()), "."]
        : `On ${item.network}, nobody has it.`),
      item.departure ? h("p", {}, "What became of it last: ", ...becameOf(app, item.departure), ".") : null,
      item.installation ? deviceTable(item.installation) : null));
  });
}

function deviceTable(device) {
  const table = new Table("The installation", deviceColumns());
  table.update([device], feed.now());
  return table.element;
}

/** Asks for the trace of a job: of one user or one token, or the counts of everything. */
export function tracePart(app, job, { user = "", token = "" } = {}) {
  const subject = h("input", { name: "subject", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": "User or token" });
  const kind = h("select", { name: "kind", "aria-label": "What it is" }, h("option", { value: "user", text: "user" }), h("option", { value: "token", text: "token" }), h("option", { value: "", text: "everybody" }));
  subject.value = user || token;
  kind.value = token && !user ? "token" : "user";
  const answer = h("div");
  const run = async () => {
    const query = kind.value && subject.value.trim() ? { [kind.value]: subject.value.trim() } : {};
    answer.replaceChildren(h("p", { class: "empty", text: "…" }));
    try {
      answer.replaceChildren(...traceParts(await api.trace(app, job, query)));
    } catch (error) {
      answer.replaceChildren(notice(error.message, "bad"));
    }
  };
  const form = h("form", { class: "filter" }, kind, subject, h("button", { type: "submit", text: "Trace" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  kind.addEventListener("change", () => show(subject, kind.value !== ""));
  if (user || token) run();
  return h("div", {}, form, answer);
}

function traceParts(found) {
  const parts = [];
  for (const one of found.conclusions ?? []) {
    const sense = codesGood.includes(one.code) ? "good" : codesBad.includes(one.code) ? "bad" : "note";
    parts.push(h("p", { class: `notice notice-${sense}` }, one.network ? h("strong", { text: `${one.network} ` }) : null, one.text, one.token ? h("span", { class: "token" }, ` ${one.token}`) : null));
  }
  const doubts = [];
  if (!found.trace) doubts.push('The job does not ask for a trace of everything ("trace": true): a plain accept at the first attempt is not recorded.');
  if (found.trimmed > 0) doubts.push(`${plural(found.trimmed, "event")} were cut off: a trace keeps the last 8 MiB.`);
  if (found.lost > 0) doubts.push(`${plural(found.lost, "event")} could not be recorded.`);
  if (found.omitted > 0) doubts.push(`${plural(found.omitted, "event")} were only counted.`);
  if (doubts.length) parts.push(h("p", { class: "aside", text: doubts.join(" ") }));
  if (found.counts) {
    const counts = new Table("What is recorded of the job", [
      { head: "What", text: (row) => row.what }, { head: "Network", text: (row) => row.network },
      { head: "Status", number: true, text: (row) => (row.status ? String(row.status) : "") }, { head: "Reason", text: (row) => row.reason },
      { head: "Decision", text: (row) => row.decision }, { head: "Cause", text: (row) => row.cause },
      { head: "Count", number: true, text: (row) => row.count },
      { head: "First", time: (row) => row.first_at }, { head: "Last", time: (row) => row.last_at },
    ], { empty: "Nothing is recorded of this job. Plain accepts are not, unless the job has \"trace\": true." });
    counts.update(found.counts, feed.now());
    parts.push(counts.element);
  }
  const events = new Table("Events", [
    { head: "At", time: (event) => event.at }, { head: "What", text: (event) => event.what },
    { head: "Network", text: (event) => event.network }, { head: "User", text: (event) => event.user },
    { head: "Token", text: (event) => event.token, class: "token" }, { head: "Attempt", number: true, text: (event) => event.attempt ?? "" },
    { head: "Status", number: true, text: (event) => (event.status ? String(event.status) : "") }, { head: "Reason", text: (event) => event.reason },
    { head: "Took", number: true, text: (event) => (event.elapsed_ms === undefined ? "" : `${count(event.elapsed_ms)} ms`) },
    { head: "Decision", text: (event) => event.decision }, { head: "Cause", text: (event) => event.cause },
    { head: "Again in", number: true, text: (event) => (event.delay_ms === undefined ? "" : duration(event.delay_ms)) },
  ], { key: (event) => event.place, empty: "No event is recorded." });
  events.update((found.events ?? []).map((event, place) => ({ ...event, place })), feed.now());
  parts.push(events.element);
  return parts;
}
