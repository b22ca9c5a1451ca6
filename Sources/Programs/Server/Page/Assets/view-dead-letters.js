// The pushes and jobs that were given up: by reason, letter by letter, and what operators do with them. The filter stands in the URL.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { confirm, tell } from "./dialogs.js";
import { announce, may } from "./page.js";
import { Table, button, h, notice, section, setText, show } from "./dom.js";
import { count, instant, link, plural } from "./format.js";
import { jobLink } from "./view-jobs.js";

/** Letters of a page. */
const pageMax = 100;

export function view(root, _, query) {
  const filter = Object.fromEntries(["app", "reason", "kind"].filter((name) => query[name] !== undefined).map((name) => [name, query[name]]));
  const isFiltered = Object.keys(filter).length > 0;
  const to = (change) => link(["dead-letters"], { ...filter, ...change });

  const groups = new Table("Dead letters by reason", [
    { head: "Reason", link: (group) => ({ text: group.reason || "(none)", href: to({ reason: group.reason, app: group.app }) }), class: "wrap" },
    { head: "App", text: (group) => group.app || "(unknown)" },
    { head: "Letters", number: true, text: (group) => group.count },
    { head: "Recipients and jobs", number: true, text: (group) => group.recipients },
    { head: "Oldest", time: (group) => group.first_at },
    { head: "Newest", time: (group) => group.last_at },
  ], {
    key: (group) => `${group.app}\n${group.reason}`,
    empty: isFiltered ? "No dead letter is in this filter." : "There are no dead letters: nothing was given up.",
  });
  const letters = new Table("Dead letters", [
    { head: "Letter", node: (letter) => button(letter.entry, () => showLetter(letter), { quiet: true, title: "Show it whole" }), same: (letter) => letter.entry },
    { head: "At", time: (letter) => letter.at },
    { head: "Reason", text: (letter) => letter.reason },
    { head: "Job", link: (letter) => ({ text: letter.id || "–", href: letter.id && letter.app ? jobLink(letter.app, letter.id) : null }), class: "wrap" },
    { head: "Count", number: true, text: (letter) => letter.count ?? 1, meaning: "Recipients of a chunk, or jobs" },
    { head: "What happened", text: (letter) => [letter.field, letter.message].filter(Boolean).join(" "), class: "wide" },
    ...(may("act") ? [{
      head: "Acts", isUntitled: true, same: (letter) => letter.entry, node: (letter) => [
        button("Retry", () => one("retry", letter)), button("Drop", () => one("drop", letter), { danger: true }),
      ],
    }] : []),
  ], { key: (letter) => letter.entry, empty: "None on this page." });

  const chosen = h("p", { class: "chips" },
    Object.entries(filter).map(([name, value]) => h("a", { href: to({ [name]: null }), class: "chip", title: "Take this filter away" }, `${name}: ${value === "" ? "(none)" : value} `, h("span", { "aria-hidden": "true", text: "×" }))));
  const kinds = h("p", { class: "chips" }, ["job", "chunk"].filter((kind) => filter.kind !== kind).map((kind) => h("a", {
    href: to({ kind }), class: "chip", text: kind === "job" ? "refused jobs only" : "chunks only",
  })));
  const told = h("p", { class: "aside" });
  const bulk = h("p", { class: "buttons" });
  const problem = h("div");
  const next = button("Show more", () => page(), { quiet: true });
  next.hidden = true;
  const changed = h("p", { class: "notice notice-note", hidden: true }, h("span"), " ", button("Show them", () => reload(), { quiet: true }));

  root.append(
    h("p", {}, "A dead letter is a job that was refused, or recipients of a job that were given up. It stays until somebody retries or drops it. ",
      h("a", { href: "#/guide/dead-letters", text: "What to do about them" })),
    changed, chosen, kinds, problem, section("By reason", groups.element, told, bulk), section("Letters, the oldest first", letters.element, h("p", {}, next)));

  let summary = null;
  let found = [];
  let cursor = null;
  let isClosed = false;
  let seenDead = null;

  async function reload() {
    problem.replaceChildren();
    found = [];
    cursor = null;
    seenDead = feed.get("fleet").dead ?? null;
    show(changed, false);
    try {
      summary = await api.letterSummary(filter);
      if (isClosed) return;
      groups.update(summary.groups ?? [], feed.now());
      setText(told, `${plural(summary.count, "letter")} ${isFiltered ? "in this filter" : "in all"}${summary.complete ? "" : `, of the first ${count(summary.looked_at)} that were looked at`}.`);
      fillBulk();
    } catch (error) {
      if (!isClosed) problem.append(notice(error.message, "bad"));
    }
    await page();
  }

  async function page() {
    next.disabled = true;
    try {
      const answer = await api.letters({ ...filter, limit: pageMax, cursor });
      if (isClosed) return;
      found = [...found, ...(answer.letters ?? [])];
      cursor = answer.next ?? null;
      letters.update(found, feed.now());
    } catch (error) {
      if (!isClosed) problem.replaceChildren(notice(error.message, "bad"));
    }
    next.disabled = false;
    show(next, cursor !== null);
  }

  function fillBulk() {
    bulk.replaceChildren();
    if (!may("act") || !(summary.count > 0)) return;
    bulk.append(
      button(`Retry these ${count(summary.count)}`, () => all("retry")),
      button(`Drop these ${count(summary.count)}`, () => all("drop"), { danger: true }));
  }

  function words() {
    const parts = Object.entries(filter).map(([name, value]) => `${name} ${value === "" ? "(none)" : value}`);
    return parts.length ? parts.join(", ") : "all dead letters, of all apps";
  }

  async function all(verb) {
    const progress = h("p", { role: "status" });
    const expected = summary.count;
    const done = await confirm({
      title: `${verb === "retry" ? "Retry" : "Drop"} ${plural(expected, "dead letter")}?`,
      words: [
        `The filter is: ${words()}.`,
        verb === "retry" ? "Refused jobs are queued again as new, and open recipients within their jobs. What still cannot be sent becomes a dead letter again."
          : "They are removed for good. Nobody can retry them then.",
        "Nothing is done when the count has changed meanwhile.",
      ],
      fields: [progress], typed: String(expected), danger: verb === "drop", label: verb === "retry" ? "Retry them" : "Drop them",
      act: () => api.changeLetters(verb, filter, expected, summary.up_to, (so) => setText(progress, `${count(so.changed)} done…`)),
    });
    if (!done) return;
    const text = `${plural(done.changed, "letter")} ${verb === "retry" ? "retried" : "dropped"}`
      + (done.refused ? `, ${count(done.refused)} cannot be retried and stay` : "") + (done.absent ? `, ${count(done.absent)} were gone already` : "") + ".";
    announce(text);
    await reload();
    problem.prepend(notice(text, "good"));
  }

  async function one(verb, letter) {
    const done = await confirm({
      title: `${verb === "retry" ? "Retry" : "Drop"} the letter ${letter.entry}?`,
      words: [`${letter.reason}: ${letter.message ?? ""}`, verb === "retry" ? "It is queued again." : "It is removed for good."],
      typed: verb === "drop" ? "drop" : undefined, danger: verb === "drop", label: verb === "retry" ? "Retry it" : "Drop it",
      act: () => (verb === "retry" ? api.retryLetter(letter.entry) : api.dropLetter(letter.entry)),
    });
    if (!done) return;
    announce(`Letter ${letter.entry} ${verb === "retry" ? "retried" : "dropped"}.`);
    reload();
  }

  async function showLetter(letter) {
    let whole = letter;
    let failure = null;
    try {
      whole = await api.letter(letter.entry);
    } catch (error) {
      failure = notice(error.message, "bad");
    }
    const { job, recipients, ...rest } = whole;
    tell({
      title: `Dead letter ${letter.entry}`,
      parts: [
        failure,
        h("dl", { class: "facts" }, Object.entries(rest).map(([name, value]) => h("div", {}, h("dt", { text: name }), h("dd", { text: name === "at" ? instant(value) : String(value) })))),
        job !== undefined ? h("pre", { tabindex: "0", text: pretty(job) }) : null,
        recipients !== undefined ? h("pre", { tabindex: "0", text: recipients }) : null,
      ],
    });
  }

  reload();
  return {
    on: ["fleet"],
    update() {
      const dead = feed.get("fleet").dead;
      if (dead === undefined) return;
      if (seenDead === null) seenDead = dead;
      const difference = dead - seenDead;
      show(changed, difference !== 0);
      setText(changed.firstChild, difference > 0 ? `${plural(difference, "letter")} more since this list was read.` : `${plural(-difference, "letter")} fewer since this list was read.`);
    },
    close() {
      isClosed = true;
    },
  };
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
