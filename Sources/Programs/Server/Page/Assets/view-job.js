// One job: how far it is, what became of its pushes, what keeps it, and what operators do with it.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { Chart } from "./charts.js";
import { confirm } from "./dialogs.js";
import { announce, may } from "./page.js";
import { Table, bar, button, field, h, notice, section, setBar, setText, show, tag, time } from "./dom.js";
import { audience, count, duration, instant, link, paces, paragraph, percent, plural, rate, settled, sum } from "./format.js";
import { tracePart } from "./view-look-up.js";

const final = ["done", "cancelled", "refused"];
/** How often the record is read anew while it is shown; the feed tells of open jobs each second. */
const readMs = 5000;

const meanings = {
  accepted: "a network took it",
  rejected: "a network refused it for good",
  uninstalled: "a network called the token dead, and it was removed",
  expired: "its time was over before it was sent",
  skipped: "nothing was to be sent, or the job was cancelled",
  failed: "given up after retries: see the dead letters",
  pending: "not ended yet",
};

export function view(root, [app, id], _, { rename }) {
  rename(id);
  const problem = h("div");
  const head = h("div", { class: "job-head" });
  const actions = h("p", { class: "buttons" });
  const facts = h("dl", { class: "facts" });
  const progress = bar();
  const figures = h("dl", { class: "strip" });
  const hindrances = h("ul", { class: "hindrances" });
  const table = new Table("Outcomes of the job", [
    { head: "Outcome", text: (row) => row.name },
    { head: "Installations", number: true, text: (row) => row.count },
    { head: "Share", number: true, text: (row) => row.share },
    { head: "Meaning", isUntitled: true, text: (row) => row.meaning, class: "meaning" },
  ], { key: (row) => row.name, rowClass: (row) => (row.name === "total" ? "total" : row.count === 0 ? "zero" : `is-${row.name}`) });
  const check = h("p", { class: "aside" });
  const chart = new Chart("Pace", {
    series: [
      { name: "ended", class: "plain", value: (span) => span.perSecond },
      { name: "of these accepted", class: "good", value: (span) => span.acceptedPerSecond },
    ],
    from: (span) => span.from, to: (span) => span.to, unit: "installations a second",
    columns: [
      { head: "From", time: (span) => span.from },
      { head: "To", time: (span) => span.to },
      { head: "Ended a second", number: true, text: (span) => rate(span.perSecond) },
      { head: "Accepted a second", number: true, text: (span) => rate(span.acceptedPerSecond) },
      { head: "Ended in all", number: true, text: (span) => span.settled },
    ],
    empty: "The pace is drawn while a page of this server is open.",
  });
  const content = h("details", {}, h("summary", { text: "What the job says" }));
  const body = h("div", { hidden: true },
    head, actions, hindrances, h("div", { class: "job-bar" }, progress), figures,
    h("div", { class: "columns" },
      section("Outcomes", table.element, check),
      section("Course", chart.element)),
    section("The job", facts, content),
    section("A user's or a device's pushes", tracePart(app, id)));
  root.append(problem, body);

  let record = null;
  let points = [];
  let isClosed = false;
  let timer = null;

  async function read() {
    clearTimeout(timer);
    if (isClosed) return;
    if (!feed.isHeld()) {
      try {
        const found = await api.job(app, id);
        if (!isClosed && !feed.isHeld()) {
          record = found;
          problem.replaceChildren();
          body.hidden = false;
          update();
        }
      } catch (error) {
        if (isClosed) return;
        if (!feed.isHeld()) problem.replaceChildren(notice(error.message, "bad"), goneAdvice(error.status));
        if (error.status === 404 || error.status === 410) return;
      }
    }
    if (!isClosed && !(record && final.includes(record.state) && !(record.pending > 0))) timer = setTimeout(read, readMs);
  }

  function goneAdvice(status) {
    if (status !== 404 && status !== 410) return null;
    return h("p", {}, "Records are kept for a while only. ", h("a", { href: link(["dead-letters"], { app }), text: "Look among the dead letters" }),
      ", or ", h("a", { href: link(["look-up"], { app }), text: "look something else up" }), ".");
  }

  async function readPace() {
    try {
      points = (await api.jobPace(app, id)).points ?? [];
    } catch {
      points = [];
    }
    if (!isClosed) update();
  }

  content.addEventListener("toggle", async () => {
    if (!content.open || content.childElementCount > 1) return;
    const text = h("pre", { tabindex: "0", text: "…" });
    content.append(text);
    try {
      const found = await api.jobContent(app, id);
      text.textContent = found.content ? JSON.stringify(found.content, null, 2) : "Redis does not keep it any more.";
    } catch (error) {
      text.textContent = error.message;
    }
  });

  function update() {
    const fresh = (feed.get("jobs").open ?? []).find((job) => job.app === app && job.id === id);
    if (!record) return;
    // The feed may be a second behind an answer that says how the job has ended.
    if (fresh && !final.includes(record.state)) record = { ...record, ...fresh, left_ms: fresh.left_ms, now_per_second: fresh.per_second, per_second: record.per_second };
    const now = feed.now();
    const done = settled(record);
    fillHead();
    fillActions();
    setBar(progress, record.total > 0 ? done / record.total : 0);
    const isRunning = record.state === "running";
    fillStrip(figures, [
      ["Progress", record.total > 0 ? percent(done, record.total) : "–"],
      ["Ended", `${count(done)} of ${count(record.total ?? 0)}`],
      ["Now", isRunning ? rate(record.now_per_second) : "–"],
      ["On average", record.per_second === undefined ? "–" : rate(record.per_second)],
      final.includes(record.state)
        ? ["Took", record.started_at && record.finished_at ? duration(record.finished_at - record.started_at) : "–"]
        : ["Time left", duration(record.left_ms)],
    ]);
    fillOutcomes();
    fillFacts(now);
    fillHindrances(now);
    if (fresh && now - (points.at(-1)?.at ?? 0) > 900) {
      points = [...points, { at: Math.round(now), settled: done, accepted: record.accepted ?? 0 }].slice(-600);
    }
    chart.update(course(), now);
  }

  /** The spans that were seen; before them, the average since the start. */
  function course() {
    const start = record.started_at;
    if (points.length === 0) return [];
    const first = points[0];
    const begun = start && start < first.at - 1500 ? [{ at: start, settled: 0, accepted: 0 }] : [];
    const rising = [...begun, ...points].filter((point, index, all) => index === 0 || point.at > all[index - 1].at);
    return paces(rising);
  }

  function fillHead() {
    const same = [record.state, record.app].join();
    if (head.dataset.same === same) return;
    head.dataset.same = same;
    head.replaceChildren(tag(record.state), h("span", {}, "of app ", h("strong", { text: app })));
    announce(`Job ${id} is ${record.state}.`);
  }

  function fillActions() {
    const state = record.state;
    const isOpen = !final.includes(state);
    const same = `${may("act")}${isOpen}${state}`;
    if (actions.dataset.same === same) return;
    actions.dataset.same = same;
    actions.replaceChildren();
    if (!may("act") || !isOpen) return;
    if (state === "paused") actions.append(button("Resume the job", () => act("resume", "Resume the job", ["Workers send it again, within a second."])));
    else if (state !== "cancelled") actions.append(button("Pause the job", () => act("pause", "Pause the job", ["Nothing of it is sent until somebody resumes it. Pushes under way still end."])));
    if (state !== "cancelled") {
      actions.append(button("Set the pace", pace));
      actions.append(button("Cancel the job", () => act("cancel", "Cancel the job", [
        "Nothing more of it is sent. This cannot be taken back.",
        `${plural(record.pending ?? 0, "installation")} are open now; they count as skipped.`,
      ], true), { danger: true }));
    }
  }

  async function act(verb, title, words, danger = false) {
    const done = await confirm({
      title: `${title} ${id} of ${app}?`, words, danger, label: title, typed: id,
      act: () => api.actOnJob(app, id, verb),
    });
    if (done) took(done);
  }

  async function pace() {
    const input = h("input", { type: "number", min: "1", step: "1", name: "pace", inputmode: "numeric", value: record.pushes_per_second ?? "" });
    const done = await confirm({
      title: `Set the pace of ${id}`, label: "Set the pace",
      words: ["The fleet together sends at most so many pushes a second of this job."],
      fields: [field("Pushes a second", input, "Leave it empty for as many as there can be.")],
      act: () => api.setPace(app, id, input.value === "" ? null : Number(input.value)),
    });
    if (done) took(done);
  }

  function took(answer) {
    if (typeof answer === "object") record = { ...record, ...answer };
    announce(`Job ${id} is ${record.state}.`);
    update();
    read();
  }

  function fillOutcomes() {
    const { rows, added, total, addsUp } = sum(record);
    table.update([
      ...rows.map((row) => ({ ...row, share: percent(row.count, total), meaning: meanings[row.name] })),
      { name: "total", count: total, share: total > 0 ? percent(total, total) : "–", meaning: addsUp ? "the rows above add up to it" : `but the rows above come to ${count(added)}` },
    ]);
    check.className = addsUp ? "aside" : "notice notice-bad";
    setText(check, addsUp
      ? `Beside the sum: ${count(record.retries ?? 0)} retries, ${plural(record.no_installations ?? 0, "user")} without an installation.`
      : "The sum does not add up: something has changed the record. See the alarm lost_work in the guide.");
  }

  function fillFacts(now) {
    const pairs = [
      ["Id", id], ["App", app], ["Priority", record.priority], ["Topic", record.topic], ["Bucket", record.bucket],
      ["Audience", audience(record.audience)], ["Filter", record.filter ? JSON.stringify(record.filter) : null],
      ["Pace", record.pushes_per_second ? `at most ${rate(record.pushes_per_second)}` : record.spread_over_seconds ? `spread over ${duration(record.spread_over_seconds * 1000)}` : null],
      ["Created", record.created_at], ["To start", record.start_at], ["Local time", record.round_at],
      ["Started", record.started_at], ["Ended", record.finished_at], ["Refused", record.refused_at],
      ["Reason", record.reason], ["Field", record.field], ["Message", record.message ?? record.fault?.message],
    ].filter(([, value]) => value !== undefined && value !== null && value !== "");
    const same = JSON.stringify(pairs) + instant(now).length;
    if (facts.dataset.same === same) return;
    facts.dataset.same = same;
    facts.replaceChildren(...pairs.map(([name, value]) => h("div", {}, h("dt", { text: name }),
      h("dd", {}, typeof value === "number" ? time(value, now) : String(value)))));
    if (record.letter) facts.append(h("div", {}, h("dt", { text: "Dead letter" }), h("dd", {}, h("a", { href: link(["dead-letters"], { app, reason: record.reason }), text: record.letter }))));
  }

  function fillHindrances(now) {
    const found = final.includes(record.state) ? [] : record.hindrances ?? [];
    const same = JSON.stringify(found);
    if (hindrances.dataset.same === same) return;
    hindrances.dataset.same = same;
    show(hindrances, found.length > 0);
    hindrances.replaceChildren(...found.map((one) => h("li", {}, words(one, now))));
  }

  function words(one, now) {
    switch (one.kind) {
      case "paused": return "It is paused: nothing is sent until somebody resumes it.";
      case "scheduled": return ["It starts at ", time(one.at, now), "."];
      case "between_local_times": return ["It waits for its next local time, ", time(one.at, now), "."];
      case "no_worker": return ["No worker is at work. ", h("a", { href: "#/guide/at-night", text: "What to do" })];
      case "switched_off": return [`${one.switch} is switched off${one.reason ? `: ${one.reason}` : ""}. `, h("a", { href: "#/fleet", text: "Switches" })];
      case "users_switched_off": return [`${plural(one.count, "user")} of ${one.app} switched off: what is left may be theirs. `, h("a", { href: "#/fleet", text: "Switches" })];
      case "alarm": return [`${one.alarm}: ${one.message} `, h("a", { href: link(["guide", paragraph(String(one.alarm).split("|")[0])]), text: "What to do" })];
      default: return one.kind;
    }
  }

  read();
  readPace();
  return {
    update,
    on: ["jobs", "tick"],
    close() {
      isClosed = true;
      clearTimeout(timer);
      chart.close();
    },
  };
}

/** A row of figures with their names, changed in place. */
export function fillStrip(list, pairs) {
  if (list.childElementCount !== pairs.length) {
    list.replaceChildren(...pairs.map(() => h("div", {}, h("dt"), h("dd"))));
  }
  pairs.forEach(([name, value], index) => {
    setText(list.children[index].firstChild, name);
    setText(list.children[index].lastChild, value);
  });
}
