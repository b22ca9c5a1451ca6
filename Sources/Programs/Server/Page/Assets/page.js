// The caller who is signed in, and the words for screen readers.
import { setText } from "./dom.js";

let who = null;

export const session = {
  get who() {
    return who;
  },
  set who(value) {
    who = value;
  },
};

/** Whether the key may "look", "act" or do what an "admin" does. The server refuses anyhow. */
export function may(what) {
  const role = who?.role;
  if (what === "admin") return role === "admin";
  if (what === "act") return role === "admin" || role === "operator-act";
  return ["operator-look", "operator-act", "admin"].includes(role);
}

/** At most one announcement in so long. */
const quietMs = 5000;
let spokenMs = 0;
let next = null;
let timer = null;
let said = "";

/** Tells a screen reader. Of several that come fast the last one is told. */
export function announce(text) {
  if (text === said && next === null) return;
  next = text;
  if (timer !== null) return;
  const speak = () => {
    timer = null;
    const region = document.getElementById("live");
    if (region && next !== null) setText(region, next);
    said = next ?? said;
    next = null;
    spokenMs = Date.now();
  };
  const waitMs = spokenMs + quietMs - Date.now();
  if (waitMs <= 0) speak();
  else timer = setTimeout(speak, waitMs);
}
