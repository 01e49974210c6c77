/** The checks of a ClickHouse server, in words for its administrators. */
import { expect, spyOn, test } from "bun:test";
import type { Probed } from "../../server/process/probed.ts";
import { probeClickHouse } from "../../server/warehouse/engine/probe.ts";
import { serverOfThisFile } from "./clickhouse-support.ts";

const server = await serverOfThisFile({ version: "26.3.4.5" });

const okByName = (probed: readonly Probed[]) => Object.fromEntries(probed.map(({ name, ok }) => [name, ok]));
const wordsOf = (probed: readonly Probed[], wanted: string) =>
  probed.find(({ name }) => name === wanted)?.words;

test("all is well with a good server, and nothing is left there", async () => {
  const probed = await probeClickHouse({ url: server.url("probed") });
  expect(okByName(probed)).toEqual({
    version: true,
    clock: true,
    settings: true,
    rights: true,
    deduplication: true,
  });
  expect(wordsOf(probed, "version")).toBe("26.3.4.5");
  const made = server.queries.filter(({ sql }) => /^\s*CREATE (TABLE|MATERIALIZED)/.test(sql)).length;
  const dropped = server.queries.filter(({ sql }) => sql.startsWith("DROP ")).length;
  expect([made, dropped]).toEqual([3, 3]);
});

test("a server that answers late has no wrong clock", async () => {
  const wasAsked = () => server.queries.some(({ sql }) => sql.includes("toUnixTimestamp64Milli"));
  server.queries.length = 0;
  const real = Date.now;
  const clock = spyOn(Date, "now").mockImplementation(() => real() + (wasAsked() ? 20_000 : 0));
  try {
    const probed = await probeClickHouse({ url: server.url("probed") });
    expect(okByName(probed)).toMatchObject({ clock: true });
  } finally {
    clock.mockRestore();
  }
});

test("a wrong password and a server that is away are said once", async () => {
  const wrong = await probeClickHouse({ url: server.url().replace(/:[^:@]*@/, ":wr0ng@") });
  expect(okByName(wrong)).toEqual({ answers: false });
  expect(wordsOf(wrong, "answers")).toContain("Authentication failed");
  const away = await probeClickHouse({ url: "http://127.0.0.1:1/rekindle" });
  expect(okByName(away)).toEqual({ answers: false });
  expect(wordsOf(away, "answers")).toContain("nothing listens there");
});

test("a cluster that the server does not know is named", async () => {
  const probed = await probeClickHouse({ url: server.url(), cluster: "elsewhere" });
  expect(okByName(probed)).toEqual({ version: true, replicas: false });
  expect(wordsOf(probed, "replicas")).toContain("elsewhere");
});

test("tokens that do not work, and a right that is missing, are found", async () => {
  server.plan(/^CHECK GRANT INSERT/, { kind: "answer", body: "0\n" });
  server.plan(/^CREATE MATERIALIZED VIEW/, { kind: "answer", body: "" });
  const probed = await probeClickHouse({ url: server.url("probed") });
  expect(okByName(probed)).toMatchObject({ rights: false, deduplication: false });
  expect(wordsOf(probed, "rights")).toContain("this user lacks INSERT on probed");
  expect(wordsOf(probed, "deduplication")).toContain("2 are stored and 0 counted");
});
