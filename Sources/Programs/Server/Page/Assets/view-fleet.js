// The parts that send, and those that hold them back: workers, networks, breakers, switches, rates, Redis.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { confirm } from "./dialogs.js";
import { announce, may } from "./page.js";
import { Table, button, field, h, notice, section, setText, show, tag } from "./dom.js";
import { bytes, count, duration, link, paragraph, plural, rate, within } from "./format.js";
import { appField } from "./view-look-up.js";

/** How often is read when a rate was used last; all else comes by the feed. */
const readMs = 10000;
const kinds = ["app", "network", "user", "bucket", "topic"];

export function view(root) {
  const workers = new Table("Workers", [
    { head: "Worker", text: (one) => one.worker, class: "token" },
    { head: "State", node: (one) => tag(one.alive ? "alive" : "silent"), same: (one) => one.alive },
    { head: "Host", text: (one) => one.host },
    { head: "Version", text: (one) => one.version },
    { head: "Up", number: true, text: (one) => (one.alive && one.started_at ? duration(feed.now() - one.started_at) : "–") },
    { head: "Lanes", number: true, text: (one) => one.lanes ?? "–" },
    { head: "Connections", number: true, text: (one) => one.connections ?? "–" },
    { head: "In flight", number: true, text: (one) => one.in_flight ?? "–" },
    { head: "Accepted", number: true, text: (one) => rate(one.accepted_per_second) },
    { head: "Memory", number: true, text: (one) => (one.memory_limit_bytes > 0 ? `${bytes(one.rss_bytes)} of ${bytes(one.memory_limit_bytes)}` : bytes(one.rss_bytes)) },
    { head: "Files", number: true, text: (one) => (one.open_files === undefined ? "–" : one.open_files_max > 0 ? `${count(one.open_files)} of ${count(one.open_files_max)}` : count(one.open_files)) },
    { head: "Silent for", number: true, text: (one) => (one.last_beat ? duration(feed.now() - one.last_beat) : "") },
  ], {
    key: (one) => one.worker, rowClass: (one) => (one.alive ? "" : "is-failed"),
    empty: "No worker beats: nothing is sent. Start one with pushpool worker.",
  });
  const others = h("p", { class: "aside", hidden: true });
  const newest = h("p", { class: "aside", hidden: true });
  const configurations = h("div");
  const networks = new Table("Networks", [
    { head: "Network", text: (one) => one.network },
    { head: "Connections", number: true, text: (one) => one.connections },
    { head: "Streams used", number: true, text: (one) => one.streams_used, meaning: "Requests under way" },
    { head: "Allowed", number: true, text: (one) => one.streams_allowed, meaning: "Requests that the open connections may carry at once" },
    { head: "GOAWAYs", number: true, text: (one) => one.goaways, meaning: "Connections that the network ended, since the workers started" },
    { head: "Answers", number: true, text: (one) => one.answers?.count ?? 0, meaning: "In this minute and the last" },
    { head: "Half within", number: true, text: (one) => within(one.answers?.p50_ms), meaning: "50th percentile" },
    { head: "90 % within", number: true, text: (one) => within(one.answers?.p90_ms) },
    { head: "99 % within", number: true, text: (one) => within(one.answers?.p99_ms) },
  ], { key: (one) => one.network, empty: "No worker has used a network yet." });
  const breakers = new Table("Breakers", [
    { head: "App", text: (one) => one.about?.[0] },
    { head: "Network", text: (one) => one.about?.[1] },
    { head: "Environment", text: (one) => one.about?.[2] },
    { head: "Open for", number: true, text: (one) => duration(feed.now() - one.since) },
    { head: "What happened", text: (one) => one.message, class: "wide" },
    { head: "Guide", isUntitled: true, link: (one) => ({ text: "What to do", href: link(["guide", paragraph(one.kind)]) }) },
  ], { key: (one) => one.alarm, empty: "Every breaker is closed: all networks are sent to." });
  const switches = new Table("Switched off", [
    { head: "App", text: (one) => one.app },
    { head: "What", text: words },
    { head: "Since", time: (one) => one.since },
    { head: "Why", text: (one) => one.reason ?? "", class: "wide" },
    ...(may("act") ? [{ head: "Acts", isUntitled: true, same: (one) => one.switch, node: (one) => button("Switch on", () => on(one)) }] : []),
  ], { key: (one) => one.switch, empty: "Nothing is switched off." });
  const overfull = h("div");
  const rates = new Table("Rates", [
    { head: "App", text: (one) => one.app },
    { head: "Of what", text: (one) => ({ pushes: "all pushes", fcm: "FCM messages", events: "events about one bucket" })[one.what] ?? one.what },
    { head: "At most", number: true, text: (one) => `${count(one.count)} a ${one.per}` },
    { head: "Used last", time: (one) => one.drawn_at },
  ], { key: (one) => `${one.app}\n${one.what}`, empty: "Neither the configuration of this server nor an app in Redis sets a rate." });
  const moreRates = h("p", { class: "aside", hidden: true });
  const paced = new Table("Paces of jobs", [
    { head: "Job", link: (job) => ({ text: job.id, href: link(["jobs", job.app, job.id]) }), class: "wrap" },
    { head: "App", text: (job) => job.app },
    { head: "Pace", number: true, text: (job) => (job.pushes_per_second ? rate(job.pushes_per_second) : `over ${duration(job.spread_over_seconds * 1000)}`) },
    { head: "Now", number: true, text: (job) => rate(job.per_second) },
  ], { key: (job) => `${job.app}\n${job.id}`, empty: "No open job has a pace of its own." });
  const redis = new Table("Redis", [
    { head: "Store", text: (one) => one.place },
    { head: "Role", text: (one) => one.role ?? "does not let itself be asked (INFO)" },
    { head: "Memory", number: true, text: (one) => (one.memory_mb === undefined ? "–" : one.maxmemory_mb > 0 ? `${count(one.memory_mb)} of ${count(one.maxmemory_mb)} MiB` : `${count(one.memory_mb)} MiB`) },
    { head: "When full", text: (one) => one.maxmemory_policy ?? "–" },
    { head: "Append-only file", text: (one) => (one.append_only_file === undefined ? "–" : one.append_only_file ? "on" : "off") },
    { head: "Replicas", number: true, text: (one) => one.replicas ?? "–" },
    { head: "Evicted keys", number: true, text: (one) => one.evicted_keys ?? "–" },
    { head: "Risks", text: (one) => (one.risks ?? []).map((risk) => risk.message).join(" "), class: "wide" },
  ], { key: (one) => one.place });

  root.append(
    section("Workers", workers.element, others, newest, configurations), section("Networks", networks.element),
    section("Breakers", breakers.element),
    section("Switched off", overfull, switches.element, may("act") ? h("p", { class: "buttons" }, button("Switch something off", off, { danger: true })) : null),
    section("Rates", rates.element, moreRates, paced.element), section("Redis", redis.element));

  const drawn = new Map();
  let timer = null;
  let isClosed = false;

  async function read() {
    if (!feed.isHeld()) {
      try {
        const fleet = await api.fleet();
        for (const one of fleet.rates ?? []) drawn.set(one.app, one.drawn_at ?? undefined);
        if (!isClosed && !feed.isHeld()) update();
      } catch {
        // The rest of the view says that the server is away.
      }
    }
    if (!isClosed) timer = setTimeout(read, readMs);
  }

  async function on(one) {
    const what = words(one);
    const done = await confirm({
      title: `Switch ${what} of ${one.app} on?`, label: "Switch on", typed: one.app,
      words: [one.reason ? `It is off because: ${one.reason}.` : "Nobody said why it is off.", "What waited is sent within half a minute."],
      act: () => api.switchOn(named(one)),
    });
    if (done) announce(`${what} of ${one.app} is on.`);
  }

  async function off() {
    const app = appField();
    const kind = h("select", { name: "kind" }, kinds.map((name) => h("option", { value: name, text: name === "app" ? "the whole app" : `one ${name}` })));
    const network = h("select", { name: "network" }, (feed.get("networks").known ?? []).map((name) => h("option", { value: name, text: name })));
    const name = h("input", { name: "name", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    const reason = h("input", { name: "reason", type: "text", maxlength: "200", autocomplete: "off" });
    const networkField = field("Network", network);
    const nameField = field("Its name", name);
    const fit = () => {
      show(networkField, kind.value === "network");
      show(nameField, !["app", "network"].includes(kind.value));
    };
    kind.addEventListener("change", fit);
    fit();
    const done = await confirm({
      title: "Switch something off", label: "Switch off", danger: true,
      typed: () => (app.input.value.trim() || "the app"),
      words: ["Nothing of it begins to be sent until somebody switches it on. What waits is not lost, and expires as usual."],
      fields: [app.element, field("What", kind), networkField, nameField, field("Why", reason, "Whoever looks next will read it.")],
      act: () => {
        const one = { app: app.input.value.trim(), kind: kind.value, name: kind.value === "network" ? network.value : name.value.trim() };
        if (!one.app) throw new Error("Say of which app.");
        if (one.kind !== "app" && !one.name) throw new Error(`Say which ${one.kind}.`);
        return api.switchOff(one, reason.value.trim());
      },
    });
    if (done) announce("It is off.");
  }

  function update() {
    const now = feed.now();
    const fleet = feed.get("fleet");
    workers.update(fleet.workers ?? [], now);
    show(others, (fleet.left_out ?? 0) > 0);
    setText(others, `${plural(fleet.left_out ?? 0, "more worker")} are not shown.`);
    fillConfigurations(fleet.configurations ?? {}, now);
    networks.update(feed.get("networks").networks ?? [], now);
    breakers.update((feed.get("alarms").alarms ?? []).filter((one) => one.kind === "breaker"), now);
    const off = feed.get("switches");
    switches.update(off.switches ?? [], now);
    fill(overfull, off.overfull ? ["More is switched off than is honoured: switch some on, or a whole app off."] : []);
    const told = feed.get("rates");
    const more = [];
    if (told.left_out > 0) more.push(plural(told.left_out, "more rate"));
    if (told.apps_left_out > 0) more.push(`the rates of ${plural(told.apps_left_out, "more app")} in Redis`);
    show(moreRates, more.length > 0);
    setText(moreRates, `Not shown: ${more.join(", ")}.`);
    rates.update((told.rates ?? []).map((one) => ({ ...one, drawn_at: one.what === "pushes" ? drawn.get(one.app) : undefined })), now);
    paced.update((feed.get("jobs").open ?? []).filter((job) => job.pushes_per_second || job.spread_over_seconds), now);
    redis.update((fleet.redis ?? []).map((one, place) => ({ place: String(place), ...(one ?? {}) })), now);
  }

  function fillConfigurations(found, now) {
    show(newest, found.newest !== undefined);
    setText(newest, newestLine(found, now));
    fill(configurations, configurationWarnings(found));
  }

  read();
  return {
    update,
    on: ["fleet", "networks", "alarms", "switches", "rates", "jobs", "tick"],
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The names of some workers, and how many more there are. */
function names({ count: all, workers }) {
  const more = all - workers.length;
  return workers.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}

/** How many workers have the newest configuration, and since when: an age that grows, so that no notice has it. */
function newestLine({ since, newest, others, unknown }, now) {
  if (newest === undefined) return "";
  const age = duration(Math.max(0, now - since));
  const all = newest + others.count + unknown.count;
  const whose = newest === all ? "All" : `${count(newest)} of ${count(all)}`;
  const more = unknown.count > 0 ? ` Not told by ${names(unknown)}.` : "";
  return `${whose} workers have the configuration that came into force ${age} ago.${more}`;
}

/** Sentences about the configurations of workers, each of which asks for something. */
function configurationWarnings({ others, refusing, restarts }) {
  const lines = [];
  if (others?.count > 0) lines.push(`Another configuration than the newest: ${names(others)}.`);
  if (refusing?.count > 0) lines.push(`The configuration that is there now is refused by ${names(refusing)}. An alarm tells why.`);
  for (const one of restarts?.workers ?? []) lines.push(`${one.worker} is to be restarted for ${one.settings}.`);
  const more = (restarts?.count ?? 0) - (restarts?.workers.length ?? 0);
  if (more > 0) lines.push(`${plural(more, "more worker")} are to be restarted.`);
  return lines;
}

/** Fills an element with warnings where they are others than before: screen readers read one out when it is put in. */
function fill(element, lines) {
  const same = JSON.stringify(lines);
  if (element.dataset.same === same) return;
  element.dataset.same = same;
  element.replaceChildren(...lines.map((text) => notice(text, "bad")));
}

/** The thing that a switch is of, in words. */
function words(one) {
  const kind = kinds.slice(1).find((name) => one[name] !== undefined);
  return kind ? `${kind} ${one[kind]}` : "the whole app";
}

function named(one) {
  const kind = kinds.slice(1).find((name) => one[name] !== undefined) ?? "app";
  return { app: one.app, kind, name: one[kind] };
}
