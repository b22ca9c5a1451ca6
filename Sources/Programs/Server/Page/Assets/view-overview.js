// The fleet as it is now: alarms, what waits, what was sent, which jobs run.
import { feed } from "./feed.js";
import { Chart } from "./charts.js";
import { Table, h, section, setAttribute, setText, show } from "./dom.js";
import { clock, duration, link, outcomes, paragraph, plural, urgency, utc } from "./format.js";
import { jobColumns, jobKey } from "./view-jobs.js";

const priorities = ["high", "normal", "low"];
const runningMax = 10;

export function view(root) {
  const alarms = alarmList();
  const backlog = new Table("Backlog by priority", [
    { head: "Priority", text: (row) => row.priority },
    { head: "New jobs", number: true, text: (row) => row.jobs, meaning: "Jobs that no worker has taken in yet" },
    { head: "Chunks waiting", number: true, text: (row) => row.waiting, meaning: "Parts of jobs that no worker holds" },
    { head: "Chunks in work", number: true, text: (row) => row.in_work },
    { head: "Oldest waits", number: true, text: (row) => row.oldest_ready_ms === undefined ? "–" : duration(row.oldest_ready_ms) },
  ], { key: (row) => row.priority });
  const rest = h("p", { class: "aside" });

  const running = new Table("Running jobs", jobColumns(), {
    key: jobKey,
    empty: "No job is under way. Add one with pushpool enqueue, or by POST /v1/apps/{app}/jobs.",
  });
  const more = h("p", { class: "aside" });

  const sent = new Chart("Installations that ended in a minute, over the last hour", {
    series: [
      { name: "accepted", class: "good", value: (minute) => minute.accepted },
      { name: "otherwise", class: "bad", value: (minute) => minute.others },
    ],
    from: (minute) => minute.at, to: (minute) => minute.at + 60000, unit: "a minute", isWhole: true,
    columns: [
      { head: "Minute", text: (minute) => clock(minute.at) },
      { head: "Accepted", number: true, text: (minute) => minute.accepted },
      { head: "Otherwise", number: true, text: (minute) => minute.others },
    ],
    empty: "Nothing ended in the full minutes of the last hour.",
  });
  const waited = new Chart("Jobs and chunks that waited at the end of each minute", {
    series: [{ name: "backlog", class: "plain", value: (minute) => minute.backlog }],
    from: (minute) => minute.at, to: (minute) => minute.at + 60000, isWhole: true,
    columns: [
      { head: "Minute", text: (minute) => clock(minute.at) },
      { head: "Backlog", number: true, text: (minute) => (minute.backlog === null ? "–" : minute.backlog) },
      { head: "Oldest waited", number: true, text: (minute) => (minute.oldest_ready_ms === null ? "–" : duration(minute.oldest_ready_ms)) },
    ],
    empty: "No worker has told of a full minute of the last hour.",
  });

  const ends = new Table("Outcomes of this minute and the last", [
    { head: "App", text: (row) => row.app },
    { head: "Network", text: (row) => row.network },
    ...outcomes.map((name) => ({
      head: name, number: true, text: (row) => row[name] ?? 0, class: name === "accepted" ? "" : "dim-zero",
    })),
  ], {
    key: (row) => `${row.app}\n${row.network}`,
    empty: "Nothing ended in this minute and the last.",
  });

  root.append(
    alarms.element,
    section("Under way", running.element, more),
    h("div", { class: "columns" },
      section("Backlog", backlog.element, rest),
      section("Outcomes, this minute and the last", ends.element)),
    section("The last hour", sent.element, waited.element));

  const update = () => {
    const now = feed.now();
    const fleet = feed.get("fleet");
    alarms.update();
    backlog.update(priorities.map((priority) => ({ priority, ...(fleet.backlog?.[priority] ?? {}) })), now);
    setText(rest, `Waiting for their time (retries, scheduled jobs, what is switched off): ${plural(fleet.delayed ?? 0, "chunk")}.`);
    const jobs = feed.get("jobs");
    const open = jobs.open ?? [];
    running.update(open.slice(0, runningMax), now);
    const others = (jobs.open_count ?? 0) - Math.min(open.length, runningMax);
    show(more, others > 0);
    more.replaceChildren(h("a", { href: "#/jobs", text: `${plural(others, "more open job")}` }));
    ends.update(byNetwork(feed.get("outcomes").outcomes ?? []), now);
    const minutes = feed.get("history").minutes ?? [];
    sent.update(minutes.some((minute) => minute.accepted + minute.others > 0) ? minutes : [], now);
    waited.update(minutes.some((minute) => minute.backlog !== null) ? minutes : [], now);
  };
  return {
    update,
    on: ["fleet", "jobs", "alarms", "outcomes", "history", "tick"],
    close() {
      sent.close();
      waited.close();
    },
  };
}

/** The outcomes of each app and network side by side. */
function byNetwork(rows) {
  const found = new Map();
  for (const { app, network, outcome, last_minute: last, this_minute: current } of rows) {
    if (!outcomes.includes(outcome)) continue;
    const key = `${app}\n${network}`;
    if (!found.has(key)) found.set(key, { app, network });
    const row = found.get(key);
    row[outcome] = (row[outcome] ?? 0) + (last ?? 0) + (current ?? 0);
  }
  return [...found.values()];
}

/** The alarms that stand, the most urgent first, each with the way to its paragraph of the guide. */
function alarmList() {
  const rank = { loss: 0, waiting: 1, note: 2 };
  const list = h("ul", { class: "alarms" });
  const more = h("p", { class: "aside", hidden: true });
  const element = h("section", { hidden: true, "aria-label": "Alarms" }, h("h2", { text: "Alarms" }), list, more);
  const rows = new Map();
  return {
    element,
    update() {
      const { alarms = [], left_out: leftOut = 0 } = feed.get("alarms");
      const sorted = [...alarms].sort((one, other) => rank[urgency(one.kind)] - rank[urgency(other.kind)] || one.since - other.since);
      show(element, sorted.length > 0);
      const seen = new Set();
      for (const alarm of sorted) {
        // Two shards may have one alike.
        const name = `${alarm.shard ?? ""} ${alarm.alarm}`;
        seen.add(name);
        let row = rows.get(name);
        if (!row) {
          row = alarmRow(alarm);
          rows.set(name, row);
        }
        row.update(alarm);
        if (list.children[seen.size - 1] !== row.element) list.insertBefore(row.element, list.children[seen.size - 1] ?? null);
      }
      for (const [name, row] of rows) {
        if (seen.has(name)) continue;
        row.element.remove();
        rows.delete(name);
      }
      show(more, leftOut > 0);
      setText(more, `${plural(leftOut, "more alarm")} are not shown: pushpool status has them all.`);
    },
  };
}

function alarmRow(alarm) {
  const age = h("span", { class: "age" });
  const message = h("span", { class: "message" });
  const urgent = urgency(alarm.kind);
  const about = (alarm.about ?? []).join(" ");
  const title = h("strong", { text: [alarm.kind ?? alarm.alarm, alarm.kind ? about : ""].join(" ").trim() });
  const element = h("li", { class: `alarm alarm-${urgent}` }, title, age, message,
    alarm.kind ? h("a", { href: link(["guide", paragraph(alarm.kind)]), text: "What to do", "aria-label": `What to do about ${alarm.kind} ${about}` }) : null);
  return {
    element,
    update(fresh) {
      setText(age, `for ${duration(feed.now() - fresh.since)}`);
      setAttribute(age, "title", `since ${utc(fresh.since)}`);
      setText(message, fresh.message);
    },
  };
}
