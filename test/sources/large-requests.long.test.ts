/** Large requests of connected sources: stored in parts, in order, and once however often they are sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import { Server } from "../server.ts";
import { asTemplate, inLedger } from "../stored.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { identify, nowMs, SpokenTo, track } from "./spoken-to.ts";

describe("a large request", () => {
  const subject = new WarehouseUnderTest();
  let spokenTo: SpokenTo;
  beforeAll(async () => {
    spokenTo = await SpokenTo.open(subject);
  });
  afterAll(() => spokenTo.close());

  test("lets the event loop turn between parts of which nothing is valid", async () => {
    const { say } = await spokenTo.organization("invalid");
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const outcomes = await say(...Array.from({ length: 2_000 }, () => track({ userId: "u", event: "" })));
    isOver = true;
    expect(outcomes.every((outcome) => typeof outcome === "object")).toBe(true);
    expect(turns).toBeGreaterThan(5);
  });

  test("lets another organization's requests be stored between its parts", async () => {
    const { ledger } = spokenTo;
    const large = await spokenTo.organization("large");
    const other = await spokenTo.organization("other");
    await other.identify({ userId: "ada", email: "ada@example.com" });
    const aliases = Array.from({ length: 1_000 }, (_, n): SourcedItem => {
      const [previousId, userId] = [`visitor-${n}`, `person-${n}`];
      return { type: "alias", previousId, userId, atMs: nowMs, messageId: null };
    });
    let isOver = false;
    const stored = large.say(...aliases).finally(() => {
      isOver = true;
    });
    const seen = new Set<number>();
    for (let sent = 0; !isOver; sent += 1) {
      expect(await other.track({ userId: "ada", event: `e${sent}` })).toBe("stored");
      if (!isOver) seen.add((await ledger.heldEvents.counts(large.id)).links);
    }
    expect(await stored).toEqual(aliases.map(() => "stored"));
    // How many links were stored when another organization's request was: more than once some of them, not
    // all.
    expect([...seen].filter((links) => links > 0 && links < 2_000).length).toBeGreaterThan(1);
    expect((await ledger.heldEvents.counts(large.id)).links).toBe(2_000);
  });

  test("is decided in its order: an item may rely on one of an earlier part", async () => {
    const { id, say } = await spokenTo.organization("in order");
    const people = Array.from({ length: 150 }, (_, n) => n);
    const outcomes = await say(
      ...people.map((n) => track({ anonymousId: `visitor-${n}`, event: "seen" })),
      ...people.map((n) => identify(`u${n}`, { anonymousId: `visitor-${n}` })),
      ...people.map((n) => track({ userId: `u${n}`, event: "known" })),
    );
    const expected = (["held", "stored", "stored"] as const).flatMap((outcome) => people.map(() => outcome));
    expect(outcomes).toEqual(expected);
    await spokenTo.loaded();
    const events = await spokenTo.exported(id, "events");
    const wanted = people.flatMap((n) => [`u${n} known`, `u${n} seen`]).toSorted();
    expect(events.map(({ userId, event }) => `${userId} ${event}`).toSorted()).toEqual(wanted);
    expect(await spokenTo.differences(id)).toEqual([]);
  });
});

describe("a server", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
    await server.ready();
  });
  afterAll(() => server?.stop());

  /** From now on no second user of any organization has this address: its identify cannot be written. */
  const refuse = (email: string) =>
    inLedger(server.dataDir, (run) =>
      run(asTemplate(`CREATE UNIQUE INDEX refused ON users (email) WHERE email = '${email}'`)),
    );
  const allow = () => inLedger(server.dataDir, (run) => run(asTemplate("DROP INDEX refused")));

  test("that fails in the middle of a large request stores all of it once when it is sent again", async () => {
    const token = await server.organization("Again");
    const email = "again@example.com";
    await server.post("/identify", token, { userId: "first", email });
    await refuse(email);
    const batch = Array.from({ length: 1_200 }, (_, n) => ({
      userId: `u${n % 300}`,
      messageId: `m${n}`,
      ...(n < 300 && { type: "identify", traits: { n } }),
      ...(n >= 300 && { type: "track", event: `e${n}` }),
      ...(n === 700 && { type: "identify", userId: "second", traits: { email } }),
    }));
    const send = () => server.post("/v1/batch", token, { batch });
    expect((await send()).status).toBe(500);
    const early = await server.exported("events", "Again");
    expect(early.length).toBeGreaterThan(0);
    expect(early.length).toBeLessThan(899);
    await allow();
    expect((await send()).status).toBe(200);
    const events = await server.exported("events", "Again");
    const names = batch.flatMap((item) => ("event" in item && item.type === "track" ? [item.event] : []));
    expect(events.map(({ event }) => String(event)).toSorted()).toEqual(names.toSorted());
    const users = await server.exported("users", "Again");
    expect(users).toHaveLength(302);
    expect(await server.command("doctor")).toContain("agree");
  });

  test("rejects only the request that cannot be written, of many that arrive together", async () => {
    const token = await server.organization("Together");
    const email = "together@example.com";
    await server.post("/identify", token, { userId: "first", email });
    await refuse(email);
    const requests = Array.from({ length: 100 }, (_, n) =>
      server.post("/identify", token, { userId: `u${n}`, email: n === 50 ? email : `u${n}@example.com` }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    await allow();
    expect(statuses).toEqual(statuses.map((_, n) => (n === 50 ? 500 : 201)));
    expect(await server.exported("users", "Together")).toHaveLength(100);
  });
});
