// Keys of the API, for admins: made, shown once, revoked.
import { feed } from "./feed.js";
import * as api from "./api.js";
import { confirm, tell } from "./dialogs.js";
import { announce, may, session } from "./page.js";
import { Table, button, field, h, notice, show, tag } from "./dom.js";
import { appField } from "./view-look-up.js";

const roles = {
  "operator-look": "looks at everything, changes nothing",
  "operator-act": "looks and acts: pauses, cancels, switches off, retries",
  server: "a backend: all of one app, by the API",
  admin: "makes and revokes keys, and all that operators may",
};

export function view(root) {
  if (!may("admin")) {
    root.append(notice("Only an admin's key may make and revoke keys."));
    return {};
  }
  const table = new Table("Keys", [
    { head: "Key", text: (key) => key.id, class: "token" },
    { head: "Role", node: (key) => tag(key.role), same: (key) => key.role },
    { head: "App", text: (key) => key.app ?? "all" },
    { head: "Remark", text: (key) => key.name, class: "wide" },
    { head: "Made", time: (key) => key.created_at },
    { head: "By", text: (key) => key.created_by, class: "token" },
    { head: "Acts", isUntitled: true, same: (key) => key.id, node: (key) => button("Revoke", () => revoke(key), { danger: true }) },
  ], { key: (key) => key.id, empty: "There are no keys." });
  const problem = h("div");
  root.append(
    h("p", { text: "A key is shown once, when it is made. Redis keeps only a digest of it. A revoked key is refused within 5 seconds, and its sessions end." }),
    problem, table.element, h("p", { class: "buttons" }, button("Make a key", create)));

  async function load() {
    try {
      table.update((await api.keys()).keys ?? [], feed.now());
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(notice(error.message, "bad"));
    }
  }

  async function create() {
    const role = h("select", { name: "role" }, Object.entries(roles).map(([name, meaning]) => h("option", { value: name, text: `${name}: ${meaning}` })));
    const app = appField();
    const name = h("input", { name: "name", type: "text", maxlength: "100", autocomplete: "off" });
    // Only a server's key is for one app.
    const fit = () => show(app.element, role.value === "server");
    role.addEventListener("change", () => {
      app.input.required = role.value === "server";
      fit();
    });
    app.input.required = false;
    fit();
    const made = await confirm({
      title: "Make a key", label: "Make it", fields: [field("Role", role), app.element, field("Remark", name, "who uses it, and where")],
      act: () => api.createKey({ role: role.value, ...(role.value === "server" ? { app: app.input.value.trim() } : {}), ...(name.value.trim() ? { name: name.value.trim() } : {}) }),
    });
    if (!made?.key) return;
    await showKey(made);
    load();
  }

  async function showKey(made) {
    const text = h("textarea", { readonly: true, rows: "3", class: "secret", "aria-label": "The key" });
    text.value = made.key;
    const said = h("span", { role: "status" });
    const copy = button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(made.key);
        said.textContent = " Copied.";
      } catch {
        text.select();
        said.textContent = " Copy it with the keyboard.";
      }
    });
    await tell({
      title: `The key ${made.id}`,
      parts: [h("p", { text: "This is the only time that it is shown. Put it where its user finds it, and nowhere else." }), text, h("p", { class: "buttons" }, copy, said)],
      label: "I have it",
    });
    text.value = "";
  }

  async function revoke(key) {
    const done = await confirm({
      title: `Revoke the key ${key.id}?`, label: "Revoke it", danger: true, typed: key.id,
      words: [
        `${key.role}${key.app ? ` of ${key.app}` : ""}${key.name ? `: ${key.name}` : ""}.`,
        "Whoever uses it is refused within 5 seconds. This cannot be taken back.",
        ...(key.id === session.who?.name ? ["It is the key that you are signed in with."] : []),
      ],
      act: () => api.revokeKey(key.id),
    });
    if (!done) return;
    announce(`The key ${key.id} is revoked.`);
    load();
  }

  load();
  return {};
}
