/** Values that JSON or UTF-8 cannot carry: kept on connected paths and in imports with a warning, refused
 * natively. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseKeptBody } from "../../server/intake/admission/kept-values.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { identify, sent } from "./subscription-support.ts";
import { eventsOf } from "./webhooks-support.ts";

export const runsOn = { postgres: true };

const server: Server = await ownServer(() => server, { time: quick });

/** JSON texts of a value, what is kept of it, and the warning. */
const values: readonly (readonly [json: string, kept: string, warning: string])[] = [
  ["1234567890123456789", "1234567890123456789", "number_kept_as_text"],
  ["-9223372036854775808", "-9223372036854775808", "number_kept_as_text"],
  ["9007199254740993", "9007199254740993", "number_kept_as_text"],
  ["1e400", "1e400", "number_kept_as_text"],
  ['"Party time \\ud83c"', "Party time \ufffd", "half_character_replaced"],
  ['"\\udf89 over"', "\ufffd over", "half_character_replaced"],
];

/** One of each warning. */
const sample = values.filter(
  ([, , warning], index) => values.findIndex(([, , one]) => one === warning) === index,
);

/** Waits for the warnings of an organization: `kind detail` with their counts. */
async function warned(name: string, expected: readonly string[]): Promise<void> {
  const owner = await joined(server, name, "owner", `${name} owner`);
  const path = `/api/ingestion-warnings?organization=${owner.organization}`;
  const kinds = ["number_kept_as_text", "half_character_replaced"];
  await until(
    "the warnings are counted",
    async () => {
      const { warnings } = await owner.json<{ warnings: { kind: string; detail: string }[] }>("GET", path);
      const own = warnings.filter(({ kind }) => kinds.includes(kind));
      return own.map(({ kind, detail }) => `${kind} ${detail}`).sort();
    },
    (seen) => JSON.stringify(seen) === JSON.stringify(expected.toSorted()),
  );
}

/** A body of each connected path with one odd value, and the path that the warning names. */
const paths: readonly (readonly [
  path: string,
  body: (json: string, token: string) => string,
  detail: string,
])[] = [
  ["/v1/track", (json) => `{"userId":"ada","event":"done","properties":{"odd":${json}}}`, "properties.odd"],
  [
    "/v1/batch",
    (json) =>
      `{"batch":[{"type":"track","userId":"ada","event":"done","properties":{"list":[{"odd":${json}}]}}]}`,
    "properties.list.0.odd",
  ],
  ["/v1/identify", (json) => `{"userId":"ada","traits":{"odd":${json}}}`, "traits.odd"],
  [
    "/e/",
    (json, token) => `{"api_key":"${token}","event":"done","distinct_id":"ada","properties":{"odd":${json}}}`,
    "properties.odd",
  ],
  [
    "/batch",
    (json, token) =>
      `{"api_key":"${token}","batch":[{"event":"done","distinct_id":"ada","properties":{"odd":${json}}}]}`,
    "properties.odd",
  ],
];

test.each(values)("%s is %p, and its place is known", (json, kept, kind) => {
  const body = parseKeptBody(Buffer.from(`{"a":[{"b c":${json}}],"ok":9007199254740991,"x":1e300}`));
  expect(body).toMatchObject({
    value: { a: [{ "b c": kept }], ok: 9_007_199_254_740_991, x: 1e300 },
    changed: [{ kind, path: ["a", "0", "b c"], text: kept }],
  });
});

describe("a value that cannot be kept as it is", () => {
  test.each(paths)("is kept on %s, with a warning", async (path, body, detail) => {
    const name = `Kept ${path}`;
    const token = await sent(server, name, identify("ada"));
    const isOfPosthog = body("0", "").includes("api_key");
    for (const [json, kept] of sample) {
      const response = await server.post(path, isOfPosthog ? undefined : token, body(json, token));
      expect(response.status).toBe(200);
      const events = await eventsOf(server, name);
      const [ada] = await server.exported("users", name);
      const found = JSON.stringify(path === "/v1/identify" ? ada?.properties : events);
      expect(found).toContain(`"odd":${JSON.stringify(kept)}`);
    }
    await warned(
      name,
      sample.map(([, , warning]) => `${warning} ${detail}`),
    );
  });

  test("is an id as its digits, and one message of a batch has only its own warnings", async () => {
    const name = "Kept ids";
    const token = await sent(server, name, identify("ada"));
    const message = (id: string, n: number) =>
      `{"type":"track","userId":${id},"event":"done","properties":{"n":${n}}}`;
    const user = '{"type":"identify","userId":10152368852405295123,"traits":{"email":"big@example.com"}}';
    const batch = [user, message("10152368852405295123", 1), message('"ada"', 2)];
    const response = await server.post("/v1/batch", token, `{"batch":[${batch.join(",")}]}`);
    expect(response.status).toBe(200);
    const events = await server.exported("events", name);
    expect(events.map(({ userId }) => userId).sort()).toEqual(["10152368852405295123", "ada"]);
    await warned(name, ["number_kept_as_text userId"]);
  });

  test("is kept by a webhook with a mapping, and not told where the mapping leaves it out", async () => {
    const name = "Kept by a mapping";
    const token = await sent(server, name, identify("ada"));
    const owner = await joined(server, name, "owner", `${name} maker`);
    const mapping = { userId: "user", event: { text: "done" }, properties: { odd: "odd" } };
    const at = `/api/webhooks?organization=${owner.organization}`;
    await owner.json("POST", at, { name: "forms", mapping }, 201);
    const body = '{"user":"ada","odd":1234567890123456789,"other":9007199254740993}';
    expect((await server.post(`/v1/webhooks/forms/${token}`, undefined, body)).status).toBe(200);
    const [event] = await eventsOf(server, name);
    expect(event?.properties).toEqual({ odd: "1234567890123456789" });
    await warned(name, ["number_kept_as_text odd"]);
  });

  test("is refused natively, with the reason", async () => {
    const name = "Refused natively";
    const token = await sent(server, name, identify("ada"));
    for (const [json, , warning] of values) {
      const event = `{"userId":"ada","event":"done","properties":{"odd":${json}}}`;
      const why = warning === "half_character_replaced" ? "surrogate" : "send it as a string";
      await expectError(await server.post("/track", token, event), "validation_error", "properties.odd");
      const user = `{"userId":"ada","email":"ada@example.com","properties":{"odd":${json}}}`;
      await expectError(await server.post("/identify", token, user), "validation_error", why);
    }
    expect(await server.exported("events", name)).toEqual([]);
  });
});

describe("an import keeps them", () => {
  const time = "2026-03-01T12:00:00Z";
  const odd = `{${sample.map(([json], at) => `"odd${at}":${json}`).join(",")}}`;
  const names = sample.map((_, at) => `odd${at}`);
  const [cell, message] = [
    `"${odd.replaceAll('"', '""')}"`,
    `{"type":"track","userId":"ada","event":"done","messageId":"m","timestamp":"${time}","properties":${odd}}`,
  ];
  const files: readonly (readonly [what: string, file: string, content: string, options: string[]])[] = [
    [
      "JSON lines",
      "own.jsonl",
      `{"userId":"ada","event":"done","timestamp":"${time}",${odd.slice(1)}`,
      ["--type", "events", ...names.flatMap((name) => ["--property", name])],
    ],
    ["an archive of Segment", "archive.jsonl", message, ["--from", "segment"]],
    [
      "a cell of JSON",
      "cells.csv",
      `userId,event,timestamp,properties\nada,done,${time},${cell}`,
      ["--type", "events"],
    ],
  ];

  test.each(files)("from %s", async (what, file, content, options) => {
    const name = `Imported from ${what}`;
    await sent(server, name, identify("ada"));
    const path = join(server.dataDir, file);
    writeFileSync(path, `${content}\n`);
    await server.command("import", path, "--organization", name, ...options);
    const [event] = await eventsOf(server, name);
    expect(event?.properties).toEqual(Object.fromEntries(sample.map(([, kept], at) => [`odd${at}`, kept])));
    const prefix = what === "JSON lines" ? "" : "properties.";
    await warned(
      name,
      sample.map(([, , warning], at) => `${warning} ${prefix}odd${at}`),
    );
  });

  test("also from a column of numbers", async () => {
    await sent(server, "A column of numbers", identify("ada"));
    const path = join(server.dataDir, "numbers.csv");
    writeFileSync(path, `userId,event,timestamp,odd\nada,done,${time},1234567890123456789\n`);
    const options = ["--organization", "A column of numbers", "--type", "events", "--number", "odd"];
    await server.command("import", path, ...options);
    const [event] = await eventsOf(server, "A column of numbers");
    expect(event?.properties).toEqual({ odd: "1234567890123456789" });
    await warned("A column of numbers", ["number_kept_as_text odd"]);
  });

  test("also of event names with white space, which pages show as they were", async () => {
    const name = "Names with white space";
    await sent(server, name, identify("ada"));
    const path = join(server.dataDir, "names.csv");
    writeFileSync(path, `userId,event,timestamp\nada,Signed In,${time}\nada, Signed  In ,${time}\n`);
    await server.command("import", path, "--organization", name);
    expect((await server.exported("events", name)).map(({ event }) => event)).toEqual([
      "Signed_In",
      "Signed_In",
    ]);
    const key = (await server.command("key", "create", "--organization", name)).trim();
    const overTime = await fetch(
      `${server.url}/api/events-over-time?breakdown=event&period=month&periods=1&to=${time.slice(0, 10)}`,
      { headers: { Authorization: `Bearer ${key}` } },
    );
    expect(await overTime.json()).toMatchObject({
      periods: [{ value: "Signed_In", label: "Signed In", isRest: false, count: 2 }],
    });
  });
});
