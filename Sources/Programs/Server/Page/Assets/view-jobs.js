// All jobs: those that are open, and those that ended last.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { Table, bar, button, h, notice, section, setBar, show, tag } from "./dom.js";
import { count, duration, link, percent, rate, settled } from "./format.js";

export const jobKey = (job) => `${job.app}\n${job.id}`;

export const jobLink = (app, id) => link(["jobs", app, id]);

/** The columns of jobs that are open. */
export function jobColumns() {
  return [
    { head: "Job", link: (job) => ({ text: job.id, href: jobLink(job.app, job.id) }), class: "wrap" },
    { head: "App", text: (job) => job.app },
    { head: "State", node: (job) => tag(job.state), same: (job) => job.state },
    {
      head: "Progress", class: "progress",
      node: (job) => {
        const picture = bar();
        setBar(picture, settled(job) / job.total);
        return [picture, h("span", { text: job.total > 0 ? percent(settled(job), job.total) : "–" })];
      },
      same: (job) => `${settled(job)}/${job.total}`,
    },
    { head: "Ended", number: true, text: (job) => settled(job), meaning: "Installations that ended in an outcome" },
    { head: "Of", number: true, text: (job) => job.total ?? 0 },
    { head: "Now", number: true, text: (job) => (job.state === "running" ? rate(job.per_second) : "–"), meaning: "Installations a second, over the last 10 s" },
    { head: "Left", number: true, text: (job) => duration(job.left_ms), meaning: "At the pace that the job has had so far" },
  ];
}

function endedColumns() {
  return [
    { head: "Job", link: (job) => ({ text: job.id, href: jobLink(job.app, job.id) }), class: "wrap" },
    { head: "App", text: (job) => job.app },
    { head: "State", node: (job) => tag(job.state), same: (job) => job.state },
    { head: "At", time: (job) => job.finished_at },
    {
      head: "Took", number: true,
      text: (job) => (job.started_at && job.finished_at ? duration(job.finished_at - job.started_at) : "–"),
    },
    { head: "Accepted", number: true, text: (job) => job.accepted ?? 0 },
    { head: "Share", number: true, text: (job) => percent(job.accepted ?? 0, job.total ?? 0) },
    { head: "Of", number: true, text: (job) => job.total ?? 0 },
  ];
}

export function view(root, _, query) {
  const apps = h("select", { name: "app", onchange: filter }, h("option", { value: "", text: "all apps" }));
  const states = h("select", { name: "state", onchange: filter },
    h("option", { value: "", text: "all states" }),
    ["running", "queued", "paused", "scheduled", "cancelled"].map((state) => h("option", { value: state, text: state })));
  const known = new Set();
  const open = new Table("Open jobs", jobColumns(), {
    key: jobKey,
    empty: "No such job is open. Add one with pushpool enqueue, or by POST /v1/apps/{app}/jobs.",
  });
  const left = h("p", { class: "aside", hidden: true });
  const ended = new Table("Jobs that ended", endedColumns(), {
    key: jobKey, empty: "No job has ended that is still remembered.",
  });
  const older = button("Show more that ended", () => load(), { quiet: true });
  const problem = h("div");

  root.append(
    section("Open", h("form", { class: "filter", onsubmit: (event) => event.preventDefault() },
      h("label", {}, "App ", apps), h("label", {}, "State ", states)), open.element, left),
    section("Ended", ended.element, problem, h("p", {}, older)));

  states.value = query.state ?? "";
  let loaded = [];
  let cursor = null;

  function filter() {
    location.replace(link(["jobs"], { app: apps.value || undefined, state: states.value || undefined }));
  }

  async function load() {
    older.disabled = true;
    problem.replaceChildren();
    try {
      const page = await api.jobs({ state: "ended", limit: 100, cursor });
      loaded = [...loaded, ...(page.jobs ?? [])];
      cursor = page.next ?? null;
      show(older, cursor !== null);
      update();
    } catch (error) {
      problem.append(notice(error.message, "bad"));
    }
    older.disabled = false;
  }

  function learn(app) {
    if (!app || known.has(app)) return;
    known.add(app);
    apps.append(h("option", { value: app, text: app }));
  }

  function update() {
    const now = feed.now();
    const jobs = feed.get("jobs");
    if (query.app) learn(query.app);
    for (const job of [...(jobs.open ?? []), ...(jobs.ended ?? [])]) learn(job.app);
    apps.value = query.app ?? "";
    const isWanted = (job) => (!query.app || job.app === query.app) && (!query.state || job.state === query.state);
    open.update((jobs.open ?? []).filter(isWanted), now);
    show(left, (jobs.left_out ?? 0) > 0);
    left.textContent = `${count(jobs.left_out ?? 0)} more open jobs are not shown: look a job up by its id.`;
    const all = new Map();
    for (const job of [...(jobs.ended ?? []), ...loaded]) if (!all.has(jobKey(job))) all.set(jobKey(job), job);
    const sorted = [...all.values()].sort((one, other) => (other.finished_at ?? 0) - (one.finished_at ?? 0));
    ended.update(sorted.filter((job) => !query.app || job.app === query.app), now);
  }
  return { update, on: ["jobs"] };
}
