// The page's frame: who is signed in, what is asked first, which view is shown.
import * as api from "./api.js";
import { feed } from "./feed.js";
import { announce, may, session } from "./page.js";
import { button, field, h, notice, setAttribute, setText, show } from "./dom.js";
import { count, duration, instant, plural, rate, route, urgency, utc } from "./format.js";
import { view as acts } from "./view-acts.js";
import { view as deadLetters } from "./view-dead-letters.js";
import { view as fleet } from "./view-fleet.js";
import { view as guide } from "./guide.js";
import { view as job } from "./view-job.js";
import { view as jobs } from "./view-jobs.js";
import { view as keys } from "./view-keys.js";
import { view as lookUp } from "./view-look-up.js";
import { view as overview } from "./view-overview.js";

const header = document.getElementById("header");
const main = document.getElementById("main");

const places = [
  { name: "", title: "Overview", view: overview },
  { name: "jobs", title: "Jobs", view: jobs },
  { name: "look-up", title: "Look up", view: lookUp },
  { name: "dead-letters", title: "Dead letters", view: deadLetters },
  { name: "fleet", title: "Fleet", view: fleet },
  { name: "acts", title: "Acts", view: acts },
  { name: "keys", title: "Keys", view: keys, needs: "admin" },
  { name: "guide", title: "Guide", view: guide },
];

let shown = null;
let frame = null;

// MARK: The frame

/** The frame that stands above every view. */
function makeFrame() {
  const links = places.filter((place) => !place.needs || may(place.needs))
    .map((place) => ({ place, link: h("a", { href: `#/${place.name}`, text: place.title }) }));
  const pause = button("Pause updates", () => {
    if (feed.isHeld("button")) feed.release("button");
    else feed.hold("button");
  });
  pause.id = "pause";
  const connection = h("span", { class: "connection" });
  const out = button("Sign out", signOut, { quiet: true });
  const answer = h("p", { class: "answer" }, h("span", { class: "dot", "aria-hidden": "true" }), h("span"));
  const figures = h("dl", { class: "strip", "aria-label": "The fleet now" });
  const away = h("p", { class: "notice notice-bad", hidden: true });
  const held = h("p", { class: "notice notice-held", hidden: true });
  const skip = h("a", { class: "skip", href: "#/", text: "Skip to the content" });
  skip.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  header.replaceChildren(skip,
    h("div", { class: "top" },
      h("a", { class: "mark", href: "#/", text: "pushpool" }),
      h("nav", { "aria-label": "Views" }, links.map((one) => one.link)),
      h("div", { class: "who" }, connection, pause,
        h("span", { class: "name", title: `key ${session.who.name}`, text: session.who.role }), out)),
    h("section", { class: "status", "aria-label": "Is anybody serving this?" }, answer, figures, away, held));
  header.hidden = false;
  const cells = ["Oldest work", "Accepted", "Open jobs", "Alarms", "Dead letters", "Switched off"].map((name) => {
    const value = h("dd");
    figures.append(h("div", {}, h("dt", { text: name }), value));
    return value;
  });
  return { links, pause, connection, answer, figures, cells, away, held };
}

function fillFrame() {
  if (!frame) return;
  const now = feed.now();
  const fleet = feed.get("fleet");
  const store = feed.get("store");
  const alarms = feed.get("alarms").alarms ?? [];
  const isKnown = feed.has("fleet");
  const alive = fleet.alive ?? 0;
  const waits = Object.values(fleet.backlog ?? {}).reduce((so, one) => so + one.jobs + one.waiting, 0);
  const words = !isKnown ? "Asking Redis…"
    : alive > 0 ? `${plural(alive, "worker")} serving on ${plural(fleet.lanes ?? 0, "lane")}`
      + (fleet.lost > 0 ? `; ${plural(fleet.lost, "other")} fell silent` : "")
      : `Nobody is serving this: ${waits > 0 ? "what waits is not sent" : "what comes will not be sent"}. Start a worker: pushpool worker`;
  setText(frame.answer.lastChild, words);
  const oldest = fleet.oldest_ready_ms;
  const [oldestCell, acceptedCell, jobsCell, alarmsCell, deadCell, offCell] = frame.cells;
  setText(oldestCell, oldest === undefined ? "–" : oldest > 0 ? `waits ${duration(oldest)}` : "none waits");
  setAttribute(oldestCell, "class", oldest > 60000 ? "bad" : null);
  setText(acceptedCell, rate(fleet.accepted_per_second));
  link(jobsCell, count(feed.get("jobs").open_count), "#/jobs");
  link(alarmsCell, count(alarms.length), "#/");
  const worst = alarms.some((one) => urgency(one.kind) === "loss") ? "bad" : alarms.length ? "warn" : null;
  setAttribute(alarmsCell, "class", worst);
  link(deadCell, count(fleet.dead), "#/dead-letters");
  setAttribute(deadCell, "class", fleet.dead > 0 ? "warn" : null);
  link(offCell, count(feed.get("switches").count), "#/fleet");
  setAttribute(offCell, "class", feed.get("switches").count > 0 ? "warn" : null);
  const isStrained = fleet.lost > 0 || oldest > 60000;
  const state = store.away ? "bad" : !isKnown ? "" : alive === 0 ? "bad" : isStrained ? "warn" : "good";
  setAttribute(frame.answer, "class", `answer ${state ? `answer-${state}` : ""}`.trim());
  show(frame.away, store.away === true);
  if (store.away) {
    setText(frame.away, `Redis does not answer since ${instant(store.since, now)}: ${store.detail}. `
      + (store.at ? `What is shown is from ${instant(store.at, now)}.` : "Nothing was read yet."));
  }
  setText(frame.connection, connectionWords());
  const told = store.away ? "Redis does not answer." : `${plural(alive, "worker")} serving. ${plural(alarms.length, "alarm")}.`;
  // Told again and again, it would displace what else there is to tell.
  if (isKnown && !feed.isHeld() && told !== frame.told) {
    frame.told = told;
    announce(told);
  }
}

/** A figure that leads somewhere; the element stays, so that focus does. */
function link(cell, text, href) {
  if (!cell.firstElementChild) cell.append(h("a", { href }));
  setText(cell.firstElementChild, text);
}

/** The one place that says how fresh the page is. */
function connectionWords() {
  const { mode, failure, heardMs } = feed.status();
  if (feed.isHeld("button")) return "paused";
  if (mode === "stream") return heardMs ? "live" : "connecting…";
  if (mode === "polling") return "asking every 2 s";
  if (mode === "lost") return heardMs ? `no connection since ${instant(heardMs)}` : failure;
  return "";
}

function fillHold() {
  if (!frame) return;
  const isPaused = feed.isHeld("button");
  setText(frame.pause, isPaused ? "Go on" : "Pause updates");
  setAttribute(frame.pause, "aria-pressed", isPaused ? "true" : "false");
  setAttribute(frame.pause, "class", isPaused ? "primary" : null);
  document.body.classList.toggle("is-held", isPaused);
  show(frame.held, isPaused);
  if (isPaused) {
    setText(frame.held, `Paused at ${instant(feed.now())}: nothing on this page changes until you go on.`);
    setAttribute(frame.held, "title", utc(feed.now()));
  }
}

// MARK: Views

function go() {
  shown?.view.close?.();
  shown = null;
  if (!session.who) return;
  const { path, query } = route(location.hash);
  const [name = "", ...rest] = path;
  const place = places.find((one) => one.name === name);
  const isJob = name === "jobs" && rest.length === 2;
  const title = h("h1", { tabindex: "-1", text: place ? place.title : "There is nothing here" });
  const root = h("div", { class: `view view-${place ? place.name || "overview" : "nothing"}` });
  main.replaceChildren(title, root);
  for (const one of frame.links) setAttribute(one.link, "aria-current", one.place === place ? "page" : null);
  const rename = (text) => {
    setText(title, text);
    document.title = `${text} · pushpool`;
  };
  rename(title.textContent);
  scrollTo(0, 0);
  if (!place) {
    root.append(h("p", {}, "The page has no such view. ", h("a", { href: "#/", text: "To the overview" })));
    return;
  }
  try {
    const view = (isJob ? job : place.view)(root, rest, query, { rename });
    shown = { view };
    view.update?.();
  } catch (error) {
    root.append(notice(error.message, "bad"));
  }
}

feed.listen((names) => {
  if (names.has("hold")) fillHold();
  fillFrame();
  if (!shown || feed.isHeld()) return;
  if ((shown.view.on ?? []).some((name) => names.has(name))) shown.view.update();
});

addEventListener("hashchange", () => {
  go();
  // Whoever goes on by keyboard goes on here.
  main.querySelector("h1")?.focus({ preventScroll: true });
});

// MARK: The session

function showSignIn(text) {
  feed.stop();
  shown?.view.close?.();
  shown = null;
  frame = null;
  session.who = null;
  header.replaceChildren();
  header.hidden = true;
  document.title = "Sign in · pushpool";
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const input = h("input", { type: "password", name: "key", required: true, autocomplete: "current-password", spellcheck: "false" });
  const problem = h("div");
  if (text) problem.append(notice(text));
  const go = h("button", { type: "submit", class: "primary", text: "Sign in" });
  const form = h("form", { class: "sign-in", method: "post" },
    h("h1", { text: "pushpool" }), problem,
    field("Key", input, "An operator's key, such as pp_operator-look_…"), h("p", { class: "buttons" }, go),
    h("p", { class: "aside" }, "No key yet? On the server: ", h("code", { text: "pushpool keys create --role operator-look" })));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    problem.replaceChildren();
    try {
      const who = await api.signIn(input.value.trim());
      input.value = "";
      enter(who);
    } catch (error) {
      problem.replaceChildren(notice(error.message, "bad"));
      input.select();
    }
    go.disabled = false;
  });
  main.replaceChildren(form);
  input.focus();
}

function enter(who) {
  session.who = who;
  if (!may("look") || who.app) {
    showSignIn(`A key of the role ${who.role} is for the API alone. This page takes an operator's key.`);
    return;
  }
  frame = makeFrame();
  fillHold();
  fillFrame();
  go();
  feed.start();
}

async function signOut() {
  try {
    await api.signOut();
    showSignIn("You have signed out.");
  } catch (error) {
    showSignIn(`The server could not be told: ${error.message} Close the browser to end the session.`);
  }
}

api.onSignedOut(() => {
  if (session.who) showSignIn("The session has ended, or its key was revoked. Sign in again.");
});

async function begin() {
  try {
    enter(await api.session());
  } catch (error) {
    if (error.status === 401 || error.status === 403) return showSignIn();
    main.replaceChildren(notice(error.message, "bad"), h("p", {}, button("Try again", begin)));
  }
}

begin();
