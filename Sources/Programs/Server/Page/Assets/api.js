// The server's API, as far as the page uses it. Every path and every name of a field that is asked for stands here.

/** An answer that is none: a problem document (RFC 9457), or no answer at all. */
export class Refusal extends Error {
  constructor(status, detail, document = {}) {
    super(detail);
    this.status = status;
    this.document = document;
  }
}

let whenSignedOut = () => {};

/** Called when the server does not know the session any more. */
export function onSignedOut(act) {
  whenSignedOut = act;
}

/** A path whose values are encoded, so that an id may have any sign in it. */
export function path(texts, ...values) {
  return texts.reduce((so, text, index) => {
    const value = String(values[index - 1]);
    if (value === "." || value === "..") {
      throw new Refusal(0, `A browser cannot ask for "${value}": use the command line.`);
    }
    return so + encodeURIComponent(value) + text;
  });
}

export async function ask(method, target, { query, body, signal, isQuiet } = {}) {
  const fields = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const url = fields.length ? `${target}?${new URLSearchParams(fields)}` : target;
  const headers = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(url, {
      method, headers, signal, cache: "no-store", credentials: "same-origin", redirect: "error",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The server does not answer. Is pushpool serve running, and is the network there?");
  }
  const document = await read(response);
  if (response.ok) return document;
  if (response.status === 401 && !isQuiet) whenSignedOut();
  throw new Refusal(response.status, sentence(response.status, document), document ?? {});
}

async function read(response) {
  const type = response.headers.get("content-type") ?? "";
  if (!type.includes("json")) return null;
  try {
    return await response.json();
  } catch {
    return null;
  }
}

function sentence(status, document) {
  const detail = typeof document?.detail === "string" ? document.detail : "";
  const errors = Array.isArray(document?.errors) ? document.errors : [];
  const fields = errors.map((error) => `${error.pointer}: ${error.detail}`).filter((text) => !detail.includes(text));
  const text = [detail, ...fields].filter(Boolean).join(". ");
  if (text) return text.charAt(0).toUpperCase() + text.slice(1);
  if (status === 401) return "The key is not known.";
  if (status === 403) return "This key may not do that.";
  if (status === 404) return "There is nothing of that name.";
  if (status === 429) return "Too many requests: wait a little.";
  return `The server answers ${status}.`;
}

// The session

export const session = () => ask("GET", "/v1/session", { isQuiet: true });
export const signIn = (key) => ask("POST", "/v1/session", { body: { key }, isQuiet: true });
export const signOut = () => ask("DELETE", "/v1/session", { isQuiet: true });

// The feed for whoever has no stream

export const latest = (after, signal) => ask("GET", "/v1/events/latest", { query: { after }, signal });

// Jobs

export const job = (app, id) => ask("GET", path`/v1/apps/${app}/jobs/${id}`);
export const jobContent = (app, id) => ask("GET", path`/v1/apps/${app}/jobs/${id}/content`);
export const jobPace = (app, id) => ask("GET", path`/v1/apps/${app}/jobs/${id}/pace`);
export const trace = (app, id, query) => ask("GET", path`/v1/apps/${app}/jobs/${id}/trace`, { query });
export const jobs = (query) => ask("GET", "/v1/jobs", { query });
export const actOnJob = (app, id, verb) => ask("POST", path`/v1/apps/${app}/jobs/${id}:` + verb);
export const setPace = (app, id, pace) => ask("PATCH", path`/v1/apps/${app}/jobs/${id}`, { body: { pace } });

// Devices

export const installations = (app, user) => ask("GET", path`/v1/apps/${app}/users/${user}/installations`);
export const token = (app, text) => ask("GET", path`/v1/apps/${app}/tokens/${text}`);

// Dead letters

export const letters = (query) => ask("GET", "/v1/dead-letters", { query });
export const letterSummary = (query) => ask("GET", "/v1/dead-letters:summary", { query });
export const letter = (entry) => ask("GET", path`/v1/dead-letters/${entry}`);
export const retryLetter = (entry) => ask("POST", path`/v1/dead-letters/${entry}:retry`);
export const dropLetter = (entry) => ask("DELETE", path`/v1/dead-letters/${entry}`);

/**
 * Retries or drops all letters of a filter, so many with a request as the server takes.
 *
 * `expected` is the count that a person has seen, `upTo` the last letter among them. `tell` is called with how many are done.
 */
export async function changeLetters(verb, filter, expected, upTo, tell) {
  const done = { changed: 0, absent: 0, refused: 0 };
  let place = { expected_count: expected };
  if (upTo) place.up_to = upTo;
  while (true) {
    const answer = await ask("POST", `/v1/dead-letters:${verb}`, { body: { ...filter, ...place } });
    done.changed += answer.retried ?? answer.dropped ?? 0;
    done.absent += answer.absent ?? 0;
    done.refused += answer.refused_count ?? 0;
    tell(done);
    if (!(answer.left > 0) || !answer.last) return done;
    place = { expected_count: answer.left, after: answer.last, up_to: answer.up_to };
  }
}

// Switches, acts and keys

export const fleet = () => ask("GET", "/v1/fleet");

/** The path of a switch: of an app, or of a network, user, bucket or topic of it. */
function switchPath({ app, kind, name }) {
  if (kind === "app") return path`/v1/apps/${app}/switches/app`;
  return path`/v1/apps/${app}/switches/${kind}/${name}`;
}

export const switchOff = (one, reason) => ask("PUT", switchPath(one), { body: { reason } });
export const switchOn = (one) => ask("DELETE", switchPath(one));
export const acts = (query) => ask("GET", "/v1/acts", { query });
export const keys = () => ask("GET", "/v1/keys");
export const createKey = (body) => ask("POST", "/v1/keys", { body });
export const revokeKey = (id) => ask("DELETE", path`/v1/keys/${id}`);
