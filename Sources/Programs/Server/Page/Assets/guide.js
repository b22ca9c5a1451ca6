// The operating guide, which the server carries, as elements. Its markup is the part of Markdown that the guide uses.
import { h, notice } from "./dom.js";

let guide = null;

export async function load() {
  if (guide === null) {
    const response = await fetch("/assets/operating.txt", { credentials: "same-origin" });
    if (!response.ok) throw new Error("The guide cannot be read.");
    guide = await response.text();
  }
  return guide;
}

/** The name by which links call a heading: "loop, topic_loop" → "loop-topic_loop". */
export function anchor(heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, "").trim().replace(/ /g, "-");
}

/** The paragraphs under a heading, up to the next of its level; the whole guide without one. */
export function excerpt(text, name) {
  const lines = text.split("\n");
  if (!name) return lines;
  const start = lines.findIndex((line) => /^#+ /.test(line) && anchor(line.replace(/^#+ /, "")) === name);
  if (start < 0) return null;
  const level = lines[start].match(/^#+/)[0].length;
  const end = lines.findIndex((line, index) => index > start && /^#+ /.test(line) && line.match(/^#+/)[0].length <= level);
  return lines.slice(start, end < 0 ? lines.length : end);
}

/** The blocks of some lines; the highest heading among them is of the second level. */
export function blocks(lines) {
  const levels = lines.map((line) => line.match(/^(#+) /)?.[1].length ?? 9);
  const highest = Math.min(...levels);
  const found = [];
  let place = 0;
  const takeWhile = (holds) => {
    const taken = [];
    while (place < lines.length && holds(lines[place])) taken.push(lines[place++]);
    return taken;
  };
  while (place < lines.length) {
    const line = lines[place];
    if (line.trim() === "") {
      place += 1;
    } else if (/^#+ /.test(line)) {
      place += 1;
      const level = line.match(/^#+/)[0].length;
      const text = line.replace(/^#+ /, "");
      found.push(h(`h${Math.min(level - highest + 2, 4)}`, { id: `guide-${anchor(text)}` }, inline(text)));
    } else if (line.startsWith("    ")) {
      const code = takeWhile((one) => one.startsWith("    ") || (one.trim() === "" && lines[place + 1]?.startsWith("    ")));
      found.push(h("pre", { tabindex: "0", text: code.map((one) => one.slice(4)).join("\n") }));
    } else if (line.startsWith("|")) {
      found.push(table(takeWhile((one) => one.startsWith("|"))));
    } else if (/^(- |\d+\. )/.test(line)) {
      found.push(list(takeWhile((one) => one.trim() === ""
        ? /^(- |\d+\. |  )/.test(lines[place + 1] ?? "") : /^(- |\d+\. | )/.test(one))));
    } else {
      found.push(h("p", {}, inline(takeWhile((one) => one.trim() !== "" && !/^(#+ |\||- |    )/.test(one)).join(" "))));
    }
  }
  return found;
}

function table(lines) {
  const rows = lines.map((line) => line.replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.replace(/\\\|/g, "|").trim()));
  return h("div", { class: "region", role: "region", tabindex: "0", "aria-label": rows[0].join(", ") || "table" },
    h("table", {},
      h("thead", {}, h("tr", {}, rows[0].map((cell) => h("th", { scope: "col" }, inline(cell))))),
      h("tbody", {}, rows.slice(2).map((row) => h("tr", {}, row.map((cell) => h("td", {}, inline(cell))))))));
}

function list(lines) {
  const isNumbered = /^\d+\. /.test(lines[0]);
  const items = [];
  for (const line of lines) {
    if (/^(- |\d+\. )/.test(line)) items.push([line.replace(/^(- |\d+\. )/, "")]);
    else items[items.length - 1]?.push(line.replace(/^ {1,3}/, ""));
  }
  return h(isNumbered ? "ol" : "ul", {}, items.map((item) => {
    const [first, ...rest] = [[]].concat(item).slice(1);
    const text = [first];
    while (rest.length && rest[0].trim() !== "" && !/^(- | {4})/.test(rest[0])) text.push(rest.shift().trim());
    return h("li", {}, inline(text.join(" ")), rest.length ? blocks(rest) : null);
  }));
}

/** Code, strong words and links of a line; links that lead out of the guide are their words alone. */
export function inline(text) {
  const parts = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)]+)\)/g;
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1] !== undefined) parts.push(h("code", { text: match[1] }));
    else if (match[2] !== undefined) parts.push(h("strong", {}, inline(match[2])));
    else if (match[4].startsWith("#")) parts.push(h("a", { href: `#/guide/${encodeURIComponent(match[4].slice(1))}` }, inline(match[3])));
    else parts.push(h("span", { title: `docs: ${match[4]}` }, inline(match[3])));
  }
  parts.push(text.slice(from));
  return parts;
}

/** The view of the guide, or of one paragraph of it. */
export function view(root, [name]) {
  const body = h("div", { class: "prose" });
  root.append(body);
  load().then((text) => {
    const lines = excerpt(text, name);
    if (lines === null) {
      body.append(notice(`The guide has no paragraph "${name}".`, "bad"),
        h("p", {}, h("a", { href: "#/guide", text: "The whole guide" })));
      return;
    }
    // Its own title stands above it already.
    body.append(...blocks(name ? lines : lines.filter((line) => !line.startsWith("# "))));
    if (name) body.append(h("p", {}, h("a", { href: "#/guide", text: "The whole guide" })));
  }, (error) => body.append(notice(error.message, "bad")));
  return {};
}
