// The acts of operators, by this page, the API and the command line.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { Table, button, field, h, notice, show } from "./dom.js";
import { link } from "./format.js";
import { jobLink } from "./view-jobs.js";

const readMs = 10000;
const pageMax = 100;
const acts = {
  "job.cancel": "cancelled the job", "job.pause": "paused the job", "job.resume": "resumed the job", "job.pace": "set the pace of the job",
  "job.reschedule": "moved the start of the job",
  "dead.retry": "retried dead letters", "dead.drop": "dropped dead letters", "switch.off": "switched off", "switch.on": "switched on",
  "key.create": "made the key", "key.revoke": "revoked the key", "session.begin": "signed in", "session.end": "signed out",
};

/** The kinds of things that acts may be asked for by. */
const nouns = { job: "on jobs", dead: "on dead letters", switch: "on switches", key: "on keys", session: "of signing in and out" };

/** The name of a key before its id, and a user of a machine as it is. */
const doer = (act) => (act.who_name ? `${act.who_name} (${act.who})` : act.who);

export function view(root, _, query) {
  const table = new Table("Acts of operators", [
    { head: "When", time: (act) => act.at },
    { head: "Who", text: doer, class: "token" },
    { head: "From", text: (act) => act.from },
    { head: "Did", text: (act) => acts[act.verb] ?? act.verb, title: (act) => act.verb },
    { head: "App", text: (act) => act.app },
    { head: "What", link: (act) => ({ text: act.subject, href: act.verb.startsWith("job.") && act.app ? jobLink(act.app, act.subject) : null }), class: "wrap" },
    { head: "More", text: (act) => act.detail, class: "wide" },
  ], { key: (act) => act.entry, empty: "Nobody has done anything that is still remembered. About 100,000 acts are kept." });
  const input = (name) => {
    const element = h("input", { name, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    element.value = query[name] ?? "";
    return element;
  };
  const who = input("who");
  const app = input("app");
  const verb = h("select", { name: "verb" }, h("option", { value: "", text: "all acts" }),
    Object.entries(nouns).map(([name, text]) => h("option", { value: name, text })));
  verb.value = query.verb in nouns ? query.verb : "";
  const form = h("form", { class: "filter" }, field("Who", who), field("App", app), field("Act", verb), h("button", { type: "submit", text: "Filter" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = link(["acts"], { who: who.value.trim() || undefined, app: app.value.trim() || undefined, verb: verb.value || undefined });
  });
  const problem = h("div");
  const older = button("Show older", () => load(cursor), { quiet: true });
  older.hidden = true;
  root.append(form, problem, table.element, h("p", {}, older));

  let found = new Map();
  let cursor = null;
  let isFirst = true;
  let isClosed = false;
  let timer = null;

  const isWanted = (act) => !query.who || doer(act).includes(query.who);

  async function load(from) {
    older.disabled = true;
    try {
      const page = await api.acts({ limit: pageMax, cursor: from ?? undefined, app: query.app, verb: query.verb });
      if (isClosed) return;
      for (const act of page.acts ?? []) found.set(act.entry, act);
      if (isFirst || from) cursor = page.next ?? null;
      isFirst = false;
      problem.replaceChildren();
      const order = (act) => act.entry.split("-").map(Number);
      const sorted = [...found.values()].sort((one, other) => {
        const [a, b] = [order(one), order(other)];
        return b[0] - a[0] || b[1] - a[1];
      });
      table.update(sorted.filter(isWanted), feed.now());
      show(older, cursor !== null);
    } catch (error) {
      if (!isClosed) problem.replaceChildren(notice(error.message, "bad"));
    }
    older.disabled = false;
  }

  async function read() {
    if (!feed.isHeld()) await load(null);
    if (!isClosed) timer = setTimeout(read, readMs);
  }

  read();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
