/** An import of users with more held events than one commit of requests takes. Its rows are stored in several
 * commits. */
import { expect, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import { importBench } from "./bench.ts";
import { countsOf } from "./support.ts";

const bench = importBench();

const people = ["w1", "w2", "w3", "w4", "w5", "w6"];

test("an import of users with 6,000 held events gives each theirs, once", async () => {
  const token = await bench.server.organization("waiting");
  const headers = { Authorization: `Basic ${btoa(`${token}:`)}`, "Content-Type": "application/json" };
  const batch = people.flatMap((userId) =>
    Array.from({ length: limits.heldEvents }, (_, n) => ({
      type: "track",
      userId,
      event: "opened",
      messageId: `${userId} ${n}`,
      properties: { n },
    })),
  );
  const body = JSON.stringify({ batch });
  const sent = () => fetch(`${bench.server.url}/v1/batch`, { method: "POST", headers, body });
  expect((await sent()).status).toBe(200);
  expect(await bench.server.exported("events", "waiting")).toEqual([]);

  const rows = people.map((userId) => `${userId},${userId}@example.com\n`).join("");
  const file = bench.file("waiting.csv", `userId,email\n${rows}`);
  expect(countsOf(await bench.import(file, "waiting"))).toEqual({
    rows: people.length,
    new: people.length,
    duplicate: 0,
    rejected: 0,
  });
  const stored = await bench.server.exported("events", "waiting");
  const seen = new Set(stored.map(({ userId, properties }) => `${userId} ${JSON.stringify(properties)}`));
  expect([stored.length, seen.size]).toEqual([batch.length, batch.length]);
  // The same run and the same messages again add nothing.
  expect(countsOf(await bench.import(file, "waiting")).new).toBe(0);
  expect((await sent()).status).toBe(200);
  expect(await bench.server.exported("events", "waiting")).toHaveLength(batch.length);
  expect(await bench.server.command("doctor")).toContain("agree");
});
