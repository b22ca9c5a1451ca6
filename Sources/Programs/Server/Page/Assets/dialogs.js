// Questions before something is done. While one is open, nothing on the page changes.
import { feed } from "./feed.js";
import { h } from "./dom.js";

/**
 * Asks before an act, in a dialog. The act runs in the dialog, which stays open with the server's words when it fails.
 *
 * - `typed`: what has to be typed before the act may run, or a function that says it by the fields; nothing for acts that can
 *   be taken back.
 * - `fields`: elements of a form between the words and the buttons.
 * - `act()`: a promise; what it resolves to is what `confirm` resolves to. `confirm` resolves to null when it was left.
 */
export function confirm({ title, words = [], typed, fields = [], label, danger = false, act }) {
  return new Promise((resolve) => {
    let result = null;
    const wanted = () => (typeof typed === "function" ? typed() : typed);
    const told = h("code", { text: wanted() ?? "" });
    const problem = h("p", { class: "notice notice-bad", role: "alert", hidden: true });
    const input = typed === undefined ? null : h("input", {
      type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", name: "typed",
    });
    const go = h("button", { type: "submit", class: danger ? "danger" : "primary", text: label, disabled: input !== null });
    const leave = h("button", { type: "button", class: "quiet", text: "Leave it", onclick: () => dialog.close() });
    const form = h("form", { method: "dialog" },
      h("h2", { id: "dialog-title", text: title }),
      words.map((text) => h("p", { text })),
      fields,
      input ? h("label", { class: "field" }, h("span", {}, "Type ", told, " to confirm"), input) : null,
      problem,
      h("p", { class: "buttons" }, go, leave));
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, form);

    const isTyped = () => input === null || (wanted() !== "" && input.value === wanted());
    form.addEventListener("input", () => {
      if (input === null) return;
      told.textContent = wanted();
      go.disabled = !isTyped();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (go.disabled) return;
      go.disabled = true;
      problem.hidden = true;
      try {
        result = (await act()) ?? true;
        dialog.close();
      } catch (error) {
        problem.textContent = error.message;
        problem.hidden = false;
        go.disabled = !isTyped();
      }
    });
    open(dialog, () => resolve(result));
  });
}

/** Shows something that is to be read before one goes on. */
export function tell({ title, parts, label = "Close" }) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" },
      h("form", { method: "dialog" }, h("h2", { id: "dialog-title", text: title }), parts,
        h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary", text: label }))));
    open(dialog, resolve);
  });
}

/** Opens a dialog; the browser gives the focus back to what opened it. */
function open(dialog, whenClosed) {
  feed.hold("dialog");
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    feed.release("dialog");
    whenClosed();
  });
  // A route that changes behind the dialog would leave it over another view.
  const leave = () => dialog.close();
  addEventListener("hashchange", leave, { once: true });
  dialog.addEventListener("close", () => removeEventListener("hashchange", leave));
  dialog.showModal();
  (dialog.querySelector("input, select, textarea") ?? dialog.querySelector("button"))?.focus();
}
