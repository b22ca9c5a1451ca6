// Charts of a course in time, each with a table behind it.
import { clock, count, short, ticks } from "./format.js";
import { Table, h, svg } from "./dom.js";

const height = 150;
const left = 44;
const right = 8;
const top = 10;
const bottom = 20;

/**
 * A chart of one or two lines.
 *
 * `series`: [{name, class, value(item)}]; `from(item)` and `to(item)` are the ends of the span that an item tells of, in ms. A
 * value of null leaves a gap. `columns` are those of the table. Values that are `isWhole` have no mark between two numbers.
 */
export class Chart {
  constructor(title, { series, from, to, columns, unit, empty, isWhole = false }) {
    this.title = title;
    this.series = series;
    this.from = from;
    this.to = to;
    this.unit = unit;
    this.isWhole = isWhole;
    this.items = [];
    this.picture = svg("svg", { class: "chart", role: "img" });
    this.frame = h("div", { class: "chart-frame" }, this.picture);
    this.table = new Table(title, columns, { empty, key: (item) => String(from(item)) });
    this.note = h("p", { class: "empty", hidden: true, text: empty ?? "Nothing yet." });
    this.details = h("details", {}, h("summary", { text: "As a table" }), this.table.element);
    this.element = h("figure", { class: "figure" },
      h("figcaption", {}, h("span", { text: title }), this.legend()), this.frame, this.note, this.details);
    this.width = 0;
    this.observer = new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width === this.width || width < 1) return;
      this.width = width;
      this.draw();
    });
    this.observer.observe(this.frame);
    this.details.addEventListener("toggle", () => this.fillTable());
  }

  legend() {
    if (this.series.length < 2) return null;
    return h("span", { class: "legend" }, this.series.map((one) => h("span", { class: `key key-${one.class}`, text: one.name })));
  }

  update(items, nowMs) {
    this.items = items;
    this.nowMs = nowMs;
    const has = items.some((item) => this.series.some((one) => one.value(item) !== null));
    this.frame.hidden = !has;
    this.details.hidden = !has;
    this.note.hidden = has;
    this.draw();
    this.fillTable();
  }

  fillTable() {
    if (this.details.open) this.table.update([...this.items].reverse(), this.nowMs);
  }

  draw() {
    const { items, width } = this;
    if (!width || items.length === 0) return this.picture.replaceChildren();
    const fromMs = this.from(items[0]);
    const toMs = Math.max(this.to(items[items.length - 1]), fromMs + 1);
    const values = items.flatMap((item) => this.series.map((one) => one.value(item) ?? 0));
    const marks = ticks(Math.max(...values), { isWhole: this.isWhole });
    const max = marks[marks.length - 1];
    const x = (ms) => Math.round((left + ((ms - fromMs) / (toMs - fromMs)) * (width - left - right)) * 10) / 10;
    const y = (value) => Math.round((height - bottom - (value / max) * (height - top - bottom)) * 10) / 10;
    const parts = [];
    for (const mark of marks) {
      parts.push(svg("line", { class: "chart-rule", x1: left, x2: width - right, y1: y(mark), y2: y(mark) }));
      parts.push(svg("text", { class: "chart-text", x: left - 6, y: y(mark) + 4, "text-anchor": "end", text: short(mark) }));
    }
    for (const [ms, anchor] of [[fromMs, "start"], [(fromMs + toMs) / 2, "middle"], [toMs, "end"]]) {
      parts.push(svg("text", { class: "chart-text", x: x(ms), y: height - 4, "text-anchor": anchor, text: clock(ms, toMs - fromMs) }));
    }
    for (const one of this.series) {
      const line = this.steps(one, x, y);
      parts.push(svg("path", { class: `chart-line line-${one.class}`, d: line }));
    }
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.setAttribute("width", width);
    this.picture.setAttribute("height", height);
    this.picture.setAttribute("aria-label", this.words(max));
    this.picture.replaceChildren(...parts);
  }

  /** A line that is level for each span, and steps between them: what was measured over a time has no slope in it. */
  steps(one, x, y) {
    let path = "";
    let isOpen = false;
    for (const item of this.items) {
      const value = one.value(item);
      if (value === null || value === undefined) {
        isOpen = false;
        continue;
      }
      path += `${isOpen ? "L" : "M"}${x(this.from(item))} ${y(value)}L${x(this.to(item))} ${y(value)}`;
      isOpen = true;
    }
    return path;
  }

  words() {
    const parts = this.series.map((one) => {
      const values = this.items.map((item) => one.value(item)).filter((value) => value !== null && value !== undefined);
      if (values.length === 0) return `${one.name}: nothing`;
      return `${one.name}: last ${count(values[values.length - 1])}, highest ${count(Math.max(...values))}`;
    });
    return `${this.title}${this.unit ? `, ${this.unit}` : ""}. ${parts.join("; ")}. The table below has all figures.`;
  }

  close() {
    this.observer.disconnect();
  }
}
