// Elements without markup: whatever is shown goes in as text.
import { count, instant, utc } from "./format.js";

const svgSpace = "http://www.w3.org/2000/svg";

/**
 * Makes an element. `class`, `text` and `on…` are what they say; links lead only within the page; all else is an attribute.
 * Children are elements, texts, lists of these, or nothing.
 */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "href" && !String(value).startsWith("#/")) continue;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Sets a text where it is another one, so that a selection in it stays. */
export function setText(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, String(value));
  }
}

/** Shows an element, or not. */
export function show(element, isShown) {
  if (element.hidden === isShown) element.hidden = !isShown;
}

/** A moment in local time, with UTC for whoever points at it. */
export function time(ms, nowMs) {
  return setTime(h("time"), ms, nowMs);
}

export function setTime(element, ms, nowMs) {
  setText(element, instant(ms, nowMs));
  setAttribute(element, "title", utc(ms) || null);
  setAttribute(element, "datetime", utc(ms) || null);
  return element;
}

/** A share as a bar; its figure stands beside it. */
export function bar() {
  return svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "bar-whole", width: 100, height: 8 }),
    svg("rect", { class: "bar-part", width: 0, height: 8 }));
}

export function setBar(element, share) {
  setAttribute(element.lastChild, "width", Math.round(Math.min(Math.max(share || 0, 0), 1) * 1000) / 10);
}

/** A word for a state, in the colour that means it. */
export function tag(state) {
  return h("span", { class: `tag tag-${/^[a-z_]+$/.test(state) ? state : "other"}`, text: state });
}

/**
 * A table that is changed in place: rows stay where their keys are the same, so focus and selection do.
 *
 * A column has `head` (which is only told to screen readers where it `isUntitled`), and one of: `text(item)`, `link(item)` → {text, href}, `time(item)` → ms, `node(item)` with
 * `same(item)` as what it depends on. `number: true` sets it to the right, `title(item)` explains a cell.
 */
export class Table {
  constructor(name, columns, { empty, key, rowClass } = {}) {
    this.columns = columns;
    this.key = key ?? ((item) => JSON.stringify(item));
    this.rowClass = rowClass;
    this.rows = new Map();
    this.body = h("tbody");
    this.empty = h("p", { class: "empty", hidden: true }, empty ?? "Nothing.");
    this.region = h("div", { class: "region", role: "region", tabindex: "0", "aria-label": name },
      h("table", {},
        h("thead", {}, h("tr", {}, columns.map((column) => h("th", {
          scope: "col", class: column.number ? "number" : null, title: column.meaning ?? null,
        }, column.isUntitled ? h("span", { class: "unseen", text: column.head }) : column.head)))),
        this.body));
    this.element = h("div", { class: "table" }, this.region, this.empty);
  }

  /** The items in their order. */
  update(items, nowMs) {
    const seen = new Set();
    let place = this.body.firstChild;
    for (const item of items) {
      const key = this.key(item);
      if (seen.has(key)) continue;
      seen.add(key);
      let row = this.rows.get(key);
      if (!row) {
        row = this.makeRow();
        this.rows.set(key, row);
      }
      row.item = item;
      this.fillRow(row, nowMs);
      if (row.element !== place) this.body.insertBefore(row.element, place);
      else place = place.nextSibling;
    }
    for (const [key, row] of this.rows) {
      if (seen.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    show(this.region, seen.size > 0);
    show(this.empty, seen.size === 0);
  }

  makeRow() {
    const row = { cells: [] };
    row.element = h("tr", {}, this.columns.map((column, index) => {
      const cell = h(index === 0 ? "th" : "td", {
        class: [column.number ? "number" : "", column.class ?? ""].join(" ").trim() || null,
        scope: index === 0 ? "row" : null,
      });
      if (column.link) cell.append(h("a"));
      if (column.time) cell.append(h("time"));
      row.cells.push({ cell, same: undefined });
      return cell;
    }));
    return row;
  }

  fillRow(row, nowMs) {
    const item = row.item;
    if (this.rowClass) setAttribute(row.element, "class", this.rowClass(item) || null);
    this.columns.forEach((column, index) => {
      const entry = row.cells[index];
      const { cell } = entry;
      if (column.link) {
        const { text, href } = column.link(item);
        setText(cell.firstChild, text);
        setAttribute(cell.firstChild, "href", href && href.startsWith("#/") ? href : null);
      } else if (column.time) {
        setTime(cell.firstChild, column.time(item), nowMs);
      } else if (column.node) {
        const same = column.same ? column.same(item) : undefined;
        if (same === undefined || same !== entry.same) {
          entry.same = same;
          cell.replaceChildren(...[column.node(item, row)].flat().filter(Boolean));
        }
      } else {
        const value = column.text(item);
        setText(cell, typeof value === "number" ? count(value) : value ?? "");
      }
      if (column.title) setAttribute(cell, "title", column.title(item) || null);
    });
  }
}

/** A heading with what follows it. */
export function section(title, ...children) {
  return h("section", {}, h("h2", { text: title }), children);
}

/** A button that says what it does; `danger` for what cannot be taken back. */
export function button(label, act, { danger, quiet, title } = {}) {
  return h("button", {
    type: "button", class: danger ? "danger" : quiet ? "quiet" : null, text: label, title: title ?? null,
    onclick: act,
  });
}

/** A labelled field of a form. */
export function field(label, input, hint) {
  return h("label", { class: "field" }, h("span", { text: label }), input, hint ? h("small", { text: hint }) : null);
}

/** A message in place of content. */
export function notice(text, kind = "note") {
  return h("p", { class: `notice notice-${kind}`, role: kind === "bad" ? "alert" : null, text });
}
