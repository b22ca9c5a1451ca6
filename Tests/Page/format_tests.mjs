// Tests of the page's pure functions: node --test Tests/Page/format_tests.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

// The page's files are modules by their type, not by their name.
const source = readFileSync(new URL("../../Sources/Programs/Server/Page/Assets/format.js", import.meta.url), "utf8");
const format = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
const plain = (text) => text.replaceAll("\u202f", " ");

test("counts have thin separators", () => {
  assert.equal(format.count(1234567), "1\u202f234\u202f567");
  assert.deepEqual([0, 999, 1000, -1234, undefined, NaN, "7"].map(format.count).map(plain), ["0", "999", "1 000", "−1 234", "–", "–", "–"]);
});

test("durations are as long as one reads them", () => {
  const told = [0, 0.4, 21, 999, 1000, 3400, 9949, 9999, 42000, 59499, 60000, 200000, 3600000, 7500000, 273600000, -5, undefined];
  assert.deepEqual(told.map(format.duration).map(plain), [
    "0 s", "1 ms", "21 ms", "999 ms", "1.0 s", "3.4 s", "9.9 s", "10 s", "42 s", "59 s", "1 m", "3 m 20 s", "1 h", "2 h 5 m", "3 d 4 h", "0 s", "–",
  ]);
});

test("a share is never all or nothing when it is not", () => {
  const told = [[1, 100000], [99999, 100000], [100, 100], [0, 100], [976, 1000], [1, 0]];
  assert.deepEqual(told.map(([part, whole]) => plain(format.percent(part, whole))), ["0.1 %", "99.9 %", "100 %", "0 %", "97.6 %", "–"]);
});

test("rates, bytes and answer times have their units", () => {
  assert.deepEqual([0, 0.5, 9.94, 10, 24003, undefined].map(format.rate).map(plain), ["0/s", "0.5/s", "9.9/s", "10/s", "24 003/s", "–"]);
  assert.deepEqual([0, 1023, 1536, 180 << 20, undefined].map(format.bytes).map(plain), ["0 B", "1023 B", "1.5 KiB", "180 MiB", "–"]);
  assert.deepEqual([1, 500, 2000, 60000, undefined].map(format.within).map(plain), ["≤ 1 ms", "≤ 500 ms", "≤ 2 s", "> 10 s", "–"]);
});

test("a job's sum adds up, or says that it does not", () => {
  const job = { total: 10, accepted: 4, rejected: 1, uninstalled: 1, expired: 1, skipped: 1, failed: 1, pending: 1, retries: 7 };
  assert.equal(format.sum(job).addsUp, true);
  assert.equal(format.settled(job), 9);
  assert.equal(format.sum({ ...job, accepted: 5 }).addsUp, false);
  assert.equal(format.sum({}).addsUp, true);
});

test("an audience is told in words", () => {
  const told = [{ users: 1 }, { users: 1200 }, { list: "users" }, { topic: "news" }, { users_key: "vip" }, { all: true }, {}, undefined];
  assert.deepEqual(told.map(format.audience).map(plain),
    ["1 user", "1 200 users", "a list of users", "topic news", "users key vip", "all users of the app", "", ""]);
});

test("paces are those between two points", () => {
  const points = [[0, 0, 0], [1000, 100, 90], [1200, 110, 99], [2000, 200, 190], [3000, 150, 190]]
    .map(([at, settled, accepted]) => ({ at, settled, accepted }));
  assert.deepEqual(format.paces(points).map((span) => [span.from, span.to, span.perSecond, span.acceptedPerSecond]),
    [[0, 1000, 100, 90], [1000, 2000, 100, 100], [2000, 3000, 0, 0]]);
  assert.deepEqual(format.paces(points.slice(0, 1)), []);
});

test("axes have few round marks, the last at or above the highest value", () => {
  for (const max of [0.3, 1, 3, 7, 99, 100, 101, 12345, 600000]) {
    const marks = format.ticks(max);
    assert.ok(marks.length >= 2 && marks.length <= 5, `${max}: ${marks}`);
    assert.ok(marks.at(-1) >= max * 0.999, `${max}: ${marks}`);
  }
  assert.deepEqual(format.ticks(0), [0, 1]);
  assert.deepEqual(format.ticks(1, { isWhole: true }), [0, 1]);
});

test("routes take any name and give it back", () => {
  for (const id of ["plain", "a/b", "a%2Fb", "a?b#c", "日本", "..", "<b>", "a b"]) {
    assert.deepEqual(format.route(format.link(["jobs", "shop", id], { x: id })), { path: ["jobs", "shop", id], query: { x: id } });
  }
  assert.deepEqual(format.route("").path, []);
  assert.deepEqual(format.route("#main").path, []);
  assert.deepEqual(format.route("#/jobs/%zz").path, ["jobs", "%zz"]);
  assert.equal(format.link(["dead-letters"], { app: "", reason: undefined }), "#/dead-letters?app=");
});

test("each alarm has a paragraph and an urgency", () => {
  assert.equal(format.paragraph("topic_loop"), "loop-topic_loop");
  assert.equal(format.urgency("lost_work"), "loss");
  assert.equal(format.urgency("breaker"), "waiting");
  assert.equal(format.urgency("clock"), "note");
  assert.equal(format.urgency("redis_apps"), "note");
});

test("instants are local, and UTC for whoever points at them", () => {
  const now = new Date(2026, 10, 29, 12, 0, 0).getTime();
  assert.equal(format.instant(now - 1000, now), "11:59:59");
  assert.equal(format.instant(now - 86400000, now), "2026-11-28 12:00:00");
  assert.equal(format.utc(0), "1970-01-01T00:00:00.000Z");
  assert.equal(format.instant(undefined), "–");
  assert.equal(format.instant(1e30), "–");
});
