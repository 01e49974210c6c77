/** Exports that are broken, foreign or made to cost: clear words, bounded work, and every good row is
 * kept. */
import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { CommandResult } from "../printed-by.ts";
import { importBench } from "./bench.ts";
import { countsOf } from "./support.ts";
import { zipOf } from "./zip.ts";

const bench = importBench({ acmeUsers: 1 });

const event = (some: object = {}) =>
  `${JSON.stringify({ user_id: "ada", event_type: "a", event_time: "2024-01-01 00:00:00", uuid: "u", ...some })}\n`;

function expectRefusal({ exitCode, stderr, stdout }: CommandResult, text: string): void {
  expect(stderr).toContain(text);
  expect(stderr).not.toMatch(/\bat \S+ \(|\.ts:/);
  expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^(rows +0\n[\s\S]*)?$/)]);
}

const megabyte = Buffer.alloc(1024 * 1024, " ");
const bomb = gzipSync(Buffer.concat(Array.from({ length: 128 }, () => megabyte)));

test.each([
  ["a file of a .zip", zipOf([{ name: "a.json", content: Buffer.concat(Array(128).fill(megabyte)) }])],
  ["a .gz in a .zip", zipOf([{ name: "a.json.gz", content: bomb }])],
  ["a .gz", bomb],
])("%s that inflates to far more than its size is refused", async (name, content) => {
  const file = bench.file(`${name.replaceAll(/\W/g, "")}.bomb`, content);
  expectRefusal(
    await bench.import(file, "acme", "--from", "amplitude"),
    "inflates to more than 200 times its size",
  );
});

const small = zipOf([{ name: "a.json.gz", content: gzipSync(event()), isStored: true }]);
const cutInside = zipOf([{ name: "a.json.gz", content: gzipSync(event()).subarray(0, 30), isStored: true }]);

test.each([
  ["cut.zip", small.subarray(0, small.length - 30), "the .zip file is damaged or cut off"],
  ["inside.zip", cutInside, "the .gz file is damaged or cut off"],
  ["cut.json.gz", gzipSync(event()).subarray(0, 30), "the .gz file is damaged or cut off"],
  ["twice.zip", zipOf([{ name: "b.zip", content: small }]), "a file in the .zip is a .zip itself"],
])("%s is refused as a whole", async (name, content, words) => {
  expectRefusal(await bench.import(bench.file(name, content), "acme", "--from", "amplitude"), words);
});

test("values of wrong types are rejected with the field's name, and good rows are kept", async () => {
  const rows = [
    ["[1]\n", "is not a JSON object"],
    [event({ event_type: { a: 1 } }), "event_type is missing"],
    [event({ event_time: { a: 1 } }), "event_time is not a time that can be read"],
    [event({ event_time: null }), "event_time is missing"],
    [event({ user_id: ["ada"] }), "user_id is not valid"],
    [event({ uuid: { a: 1 } }), "uuid is not valid"],
    [event({ user_id: null }), "user_id and device_id are missing"],
    [event({ event_type: "x".repeat(5_000), uuid: "long" }), "event is not valid"],
    ['{"event_type":\n', ""],
  ] as const;
  const odd = event({
    user_properties: ["a"],
    groups: { company: [{}] },
    event_properties: "text",
    uuid: "odd",
  });
  const proto = event({ uuid: "proto" }).replace(
    '"uuid"',
    '"event_properties":{"__proto__":{"x":1},"constructor":1},"uuid"',
  );
  const content = `${rows.map(([text]) => text).join("")}${odd}${proto}`;
  const result = await bench.import(bench.file("wrong.json", content), "acme", "--from", "amplitude");
  expect(countsOf(result)).toEqual({ rows: 11, new: 2, duplicate: 0, rejected: 9 });
  rows.forEach(([, words], index) => {
    expect(result.stdout).toMatch(new RegExp(`line ${index + 1}: .*${words}`));
  });
});

test.each([
  ["mixpanel", '{"event":"a","properties":{"time":"soon","distinct_id":"u"}}', "time is not a time"],
  ["mixpanel", '{"event":"a","properties":[]}', "properties is not a JSON object"],
  ["mixpanel", '{"event":"a","properties":{"time":1700000000}}', "distinct_id is missing"],
  ["posthog", '{"event":"a","distinct_id":"u","properties":"{"}', "timestamp is missing"],
  [
    "posthog",
    '{"event":"a","distinct_id":null,"timestamp":"2024-01-01T00:00:00Z"}',
    "distinct_id is missing",
  ],
  ["segment", '{"type":"dance","timestamp":"2024-01-01T00:00:00Z"}', "type is not known"],
  ["rudderstack", '{"type":"track","timestamp":[1],"userId":"u"}', "timestamp is not a time"],
  ["stripe", '{"object":"subscription","id":"sub_1","status":"active"}', "subscription has no time"],
  [
    "stripe",
    '{"object":"invoice","id":"in_1","status":"paid","amount_paid":1,"created":1700000000}',
    "customer is",
  ],
  ["stripe", '{"id":"cus_1"}', 'id "cus_1" is neither a subscription'],
])("%s: %s is rejected", async (tool, row, words) => {
  const file = bench.file(`${tool}-${Bun.hash(row)}.jsonl`, `${row}\n`);
  const result = await bench.import(file, "acme", "--from", tool);
  expect(result.stdout).toContain(`line 1: ${words}`);
  expect(result.exitCode).toBe(1);
});

test.each([
  [["--from", "amplitude", "--timezone", "Europe/Paris"], "--timezone means nothing for amplitude"],
  [["--from", "mixpanel", "--timezone", "Mars"], '--timezone "Mars" is no timezone'],
  [["--from", "segment", "--account-property", "a"], "--account-property means nothing for segment"],
  [["--from", "segment", "--user-id", "a"], "--from knows the columns: leave out --user-id"],
  [["--from", "segment", "--format", "csv"], "--from knows the columns: leave out --format"],
  [["--account-property", "a"], "--account-property is for exports of a tool"],
  [["--timezone", "Mars"], '--timezone "Mars" is no timezone'],
  [["--timezone", "Europe/Paris", "--timestamp-format", "utc"], "both say the timezone: leave one out"],
])("%p is refused in words", async (options, words) => {
  const file = bench.file("options.jsonl", event());
  expectRefusal(await bench.import(file, "acme", ...options), words);
});
