/** When runs happen by themselves, on a clock that the test sets. */
import { describe, expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { changeBetween } from "../../server/scoring/run/entity.ts";
import { marksOf } from "../../server/scoring/run/marks.ts";
import { listRuns } from "../../server/scoring/run/records.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all, on, scoresOf } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const settings = defaultSettings;

/** The horizon under which a day was scored. */
async function horizonsOf(organization: number): Promise<Map<number, number>> {
  const days = await runDays(organization);
  const runs = days.map(async (day) => {
    const run = await newestRun(subject.warehouse, organization, "user", day);
    return [day, run?.body.settings.churnHorizonDays ?? 0] as const;
  });
  return new Map(await Promise.all(runs));
}

async function runOf(organization: number, day: number) {
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run?.day !== day) throw new Error(`day ${day} was not scored`);
  return run;
}

/** A promise with its own resolver. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { given: promise, give: resolve };
}

async function runDays(organization: number): Promise<number[]> {
  const runs = await listRuns(subject.warehouse, organization);
  return runs.filter(({ kind, stale }) => kind === "account" && !stale).map(({ day }) => day);
}

/** Days with scores that lack events. */
async function staleDays(organization: number): Promise<number[]> {
  const runs = await listRuns(subject.warehouse, organization);
  return runs.filter(({ kind, stale }) => kind === "account" && stale).map(({ day }) => day);
}

describe("by itself", () => {
  test("today is scored first, then the past of an import, of each organization in turn", async () => {
    const installation = new Installation(subject, 200);
    const [first, second] = [installation.organization(), installation.organization()];
    for (const id of [first, second]) await installation.insert(all(id, 6, [189, 190, 195, 199]));
    expect(await installation.work()).toBe(2);
    expect([await runDays(first), await runDays(second)]).toEqual([[200], [200]]);
    expect(installation.earlierScores(first)).toEqual({ done: 0, of: 4 });
    await installation.work();
    expect(installation.earlierScores(first)).toEqual({ done: 1, of: 4 });
    await installation.finish();
    expect(installation.earlierScores(first)).toBeNull();
    expect(await runDays(first)).toEqual([196, 197, 198, 199, 200]);
    installation.restart();
    expect(await installation.work()).toBe(0);
    installation.today = 201;
    expect(await installation.work()).toBe(2);
    expect((await runDays(second)).at(-1)).toBe(201);
  });

  test("single events that come late are in today's scores, and of no earlier day", async () => {
    const installation = new Installation(subject, 200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [192]));
    await installation.finish();
    const before = await scoresOf(subject, id, "user", 199);
    await installation.insert([on(id, 1, 196)]);
    expect(await installation.work()).toBe(1);
    expect((await scoresOf(subject, id, "user", 200)).map(({ idle_days }) => idle_days)).toEqual([
      4, 8, 8, 8, 8, 8,
    ]);
    installation.restart();
    expect(await installation.work()).toBe(0);
    expect(await scoresOf(subject, id, "user", 199)).toEqual(before);
    expect(await staleDays(id)).toEqual([]);
  });

  test("in another timezone all days are scored again at once", async () => {
    const installation = new Installation(subject, 200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [191]));
    await installation.finish();
    installation.rebuildsPending = [id];
    await rebuild(subject.warehouse, id, [{ fromMs: Number.MIN_SAFE_INTEGER, offsetSeconds: 43_200 }]);
    expect(await installation.work()).toBe(0);
    installation.rebuildsPending = [];
    await installation.work();
    expect(await staleDays(id)).toEqual([198, 199]);
  });

  test("today waits for more late events, which are not looked for meanwhile, and new settings do not wait for them", async () => {
    const installation = new Installation(subject, 200);
    installation.restTimesRunBeforeLateEvents = 1_000_000;
    installation.restart();
    const id = installation.organization();
    await installation.insert(all(id, 6, [192]));
    await installation.finish();
    const asked: string[] = [];
    installation.beforeStatement = async (sql) => void asked.push(sql);
    await installation.insert([on(id, 1, 196)]);
    await installation.finish();
    expect(asked.filter((sql) => sql.includes("FROM user_event_days"))).toEqual([]);
    installation.settings = { ...defaultSettings, churnHorizonDays: 56 };
    expect(await installation.work()).toBe(1);
    expect((await scoresOf(subject, id, "user", 200))[0]).toMatchObject({ idle_days: 4 });
    await installation.insert([on(id, 1, 195)]);
    installation.lastBulkLoadAtMs = 200.5 * msPerDay;
    await installation.work();
    expect(await staleDays(id)).toContain(199);
  });

  test("an organization without work costs no statement until events of earlier days come, or a day begins", async () => {
    const installation = new Installation(subject, 200);
    installation.restBetweenChecksMs = 3_600_000;
    installation.restart();
    const id = installation.organization("America/Los_Angeles");
    await installation.insert(all(id, 6, [192]));
    await installation.finish();
    const asked: string[] = [];
    installation.beforeStatement = async (sql) => void asked.push(sql);
    await installation.insert(all(id, 6, [200]));
    installation.settings = { ...defaultSettings, churnHorizonDays: 56 };
    expect([await installation.work(), asked]).toEqual([0, []]);
    await installation.insert([on(id, 1, 196)]);
    expect(await installation.work()).toBe(1);
    expect((await runOf(id, 200)).body.settings.churnHorizonDays).toBe(56);
    await installation.finish();
    installation.today = 201;
    expect(await installation.work()).toBe(1);
    await runOf(id, 201);
  });

  test("the events of an import are at once in the scores of all later days, and of no earlier one", async () => {
    const installation = new Installation(subject, 200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [190]));
    await installation.finish();
    const before = await scoresOf(subject, id, "user", 197);
    expect(before.length).toBe(6);
    installation.lastBulkLoadAtMs = 200.5 * msPerDay;
    await installation.insert([on(id, 1, 197)]);
    await installation.work();
    expect(await staleDays(id)).toEqual([198, 199]);
    await installation.finish();
    expect((await scoresOf(subject, id, "user", 198))[0]).toMatchObject({ idle_days: 1 });
    expect(await scoresOf(subject, id, "user", 197)).toEqual(before);
    expect(await staleDays(id)).toEqual([]);
  });

  test("a day that changed in bulk is in the scores of later days from the next night on", async () => {
    const installation = new Installation(subject, 200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [189, 190, 199]));
    await installation.finish();
    const late = (times: number) => Array.from({ length: times }, () => on(id, 1, 196));
    await installation.insert(late(99));
    await installation.finish();
    expect((await scoresOf(subject, id, "user", 197))[0]).toMatchObject({ idle_days: 7 });
    installation.today = 201;
    await installation.insert(all(id, 6, [200]));
    await installation.finish();
    expect((await scoresOf(subject, id, "user", 197))[0]).toMatchObject({ idle_days: 7 });
    await installation.insert(late(1));
    await installation.finish();
    expect((await scoresOf(subject, id, "user", 197))[0]).toMatchObject({ idle_days: 7 });
    installation.today = 202;
    await installation.insert(all(id, 6, [201]));
    await installation.finish();
    expect((await scoresOf(subject, id, "user", 197))[0]).toMatchObject({ idle_days: 1 });
    expect((await scoresOf(subject, id, "user", 196))[0]).toMatchObject({ idle_days: 6 });
    installation.today = 203;
    await installation.insert([...all(id, 6, [202]), on(id, 1, 194)]);
    await installation.work();
    expect(await staleDays(id)).toEqual([]);
  });

  test.each(["UTC", "America/Los_Angeles"])(
    "events of today change nothing in %s, and neither hurry the loader nor ask the warehouse for new days",
    async (timezone) => {
      const installation = new Installation(subject, 200);
      const id = installation.organization(timezone);
      await installation.insert(all(id, 6, [195, 198]));
      await installation.finish();
      const drains = installation.drains;
      const asked: string[] = [];
      installation.beforeStatement = async (sql) => void asked.push(sql);
      await installation.insert(all(id, 6, [200]));
      expect(await installation.work()).toBe(0);
      expect(installation.drains).toBe(drains);
      expect(asked.filter((sql) => sql.includes("FROM user_event_days"))).toEqual([]);
      await installation.insert([on(id, 1, 199)]);
      await installation.work();
      expect(asked.filter((sql) => sql.includes("FROM user_event_days"))).not.toEqual([]);
    },
  );

  test("new settings apply to today and to days that were first published today, and the others keep theirs", async () => {
    const installation = new Installation(subject, 200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [191, 195]));
    await installation.finish();
    expect([...(await horizonsOf(id)).values()]).toEqual([28, 28, 28]);
    installation.settings = { ...defaultSettings, churnHorizonDays: 56 };
    await installation.work();
    // Some days are under the new settings, and the others wait for them.
    const asked = { organization: id, kind: "user", fromDay: 0, toDay: 300 } as const;
    expect(new Set((await horizonsOf(id)).values())).toEqual(new Set([28, 56]));
    expect(await marksOf(subject.warehouse, zone, asked)).toEqual([]);
    await installation.finish();
    // The past of an import was not published before today.
    expect([...(await horizonsOf(id)).values()]).toEqual([56, 56, 56]);
    installation.today = 201;
    installation.settings = { ...defaultSettings, churnHorizonDays: 14 };
    await installation.finish();
    const kept: [number, number][] = [
      ...[198, 199, 200].map((day): [number, number] => [day, 56]),
      [201, 14],
    ];
    expect([...(await horizonsOf(id))]).toEqual(kept);
    installation.lastBulkLoadAtMs = 201.5 * msPerDay;
    await installation.insert([on(id, 1, 197)]);
    await installation.finish();
    expect([...(await horizonsOf(id))]).toEqual(kept);
    expect((await scoresOf(subject, id, "user", 199))[0]).toMatchObject({ idle_days: 2 });
    installation.restart();
    expect(await installation.work()).toBe(0);
    expect(await marksOf(subject.warehouse, zone, asked)).toEqual([
      { day: 201, changes: [{ setting: "churnHorizonDays", from: 56, to: 14 }], exclusionsChanged: false },
    ]);
  });

  test("while one organization is scored the next round serves the others, and a stop ends it in between", async () => {
    const installation = new Installation(subject, 200);
    const [slow, quick] = [installation.organization(), installation.organization()];
    for (const id of [slow, quick]) await installation.insert(all(id, 6, [195, 199]));
    const [reached, goOn] = [signal(), signal()];
    installation.beforeStatement = async (sql) => {
      if (!sql.includes("INSERT INTO user_scores") || (await runDays(slow)).length > 0) return;
      installation.beforeStatement = async () => undefined;
      reached.give();
      await goOn.given;
    };
    const first = installation.work();
    await reached.given;
    expect(await installation.work()).toBe(1);
    expect([await runDays(slow), await runDays(quick)]).toEqual([[], [200]]);
    installation.scoring?.stop();
    goOn.give();
    expect(await first).toBe(0);
    expect([await runDays(slow), installation.failing]).toEqual([[], []]);
    installation.restart();
    await installation.finish();
    expect((await runDays(slow)).at(-1)).toBe(200);
  });

  test("an organization that fails does not stop the others, is tried again after a rest, and is reported", async () => {
    const installation = new Installation(subject, 200);
    installation.restAfterFailureMs = 3_600_000;
    installation.restart();
    const [broken, other] = [installation.organization(), installation.organization()];
    for (const id of [broken, other]) await installation.insert(all(id, 6, [195, 199]));
    let attempts = 0;
    installation.beforeStatement = async (sql, parameters) => {
      if (!sql.includes("user_spans") || parameters?.organization !== broken) return;
      attempts += 1;
      throw new Error("broken");
    };
    expect(await installation.work()).toBe(1);
    await installation.finish();
    expect([await runDays(broken), (await runDays(other)).at(-1)]).toEqual([[], 200]);
    expect([attempts, installation.failing]).toEqual([1, [broken]]);
    installation.restAfterFailureMs = 0;
    installation.restart();
    await installation.work();
    await installation.work();
    expect([attempts, installation.failing]).toEqual([3, [broken]]);
    installation.beforeStatement = async () => undefined;
    await installation.finish();
    expect([(await runDays(broken)).at(-1), installation.failing]).toEqual([200, []]);
  });

  test("an organization that failed counts as failing until its run succeeds, or nothing is due any more", async () => {
    const installation = new Installation(subject, 200);
    installation.restBeforeTodayMs = 3_600_000;
    installation.restart();
    const due = installation.organization();
    await installation.insert(all(due, 6, [195]));
    const breakAt = (statement: string) => {
      installation.beforeStatement = async (sql) => {
        if (sql.includes(statement)) throw new Error("broken");
      };
    };
    breakAt("INSERT INTO user_scores");
    expect([await installation.work(), installation.failing]).toEqual([0, [due]]);
    installation.beforeStatement = async () => undefined;
    // It rests before its run of today, which is still due.
    expect([await installation.work(), installation.failing]).toEqual([0, [due]]);

    installation.restBeforeTodayMs = 0;
    installation.restart();
    breakAt("INSERT INTO user_scores");
    expect([await installation.work(), installation.failing]).toEqual([0, [due]]);
    installation.beforeStatement = async () => undefined;
    // Its earlier days are still due.
    expect([await installation.work(), installation.failing]).toEqual([1, []]);
    await installation.finish();
    const idle = installation.organization();
    await installation.insert(all(idle, 6, [200]));
    breakAt("active_days");
    expect([await installation.work(), installation.failing]).toEqual([0, expect.arrayContaining([idle])]);
    installation.beforeStatement = async () => undefined;
    expect([await installation.work(), installation.failing]).toEqual([0, []]);
  });

  test("an earlier day that fails keeps no other day from its scores", async () => {
    const installation = new Installation(subject, 200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [189, 190, 195, 199]));
    let isBroken = true;
    installation.beforeStatement = async (sql, parameters) => {
      if (isBroken && sql.includes("INSERT INTO user_scores") && parameters?.cutoffDay === 198)
        throw new Error("broken");
    };
    for (let round = 0; round < 12; round += 1) await installation.work();
    expect(await runDays(id)).toEqual([196, 197, 199, 200]);
    expect(installation.earlierScores(id)).toEqual({ done: 3, of: 4 });
    isBroken = false;
    await installation.finish();
    expect(await runDays(id)).toContain(198);
  });

  test("while data has stopped no day after its last is scored; when it is back, all are", async () => {
    const installation = new Installation(subject, 230);
    const id = installation.organization();
    await installation.insert(all(id, 6, [222, 228, 229]));
    await installation.work();
    expect((await runDays(id)).at(-1)).toBe(230);
    // The source's last message came in the middle of day 230. Scores as of day 230 need only the days
    // before.
    installation.stopped = { source: "segment", sinceMs: 230.5 * msPerDay };
    installation.today = 231;
    await installation.insert(all(id, 6, [230]));
    await installation.finish();
    installation.today = 232;
    await installation.insert(all(id, 3, [231]));
    await installation.finish();
    expect((await runDays(id)).at(-1)).toBe(230);
    // Nothing comes for an earlier day, and no other setting: only the silence is over.
    installation.stopped = null;
    await installation.finish();
    expect((await runDays(id)).slice(-3)).toEqual([230, 231, 232]);
  });

  test("a week with few users is a period; a week without data is none", async () => {
    const installation = new Installation(subject, 260);
    const id = installation.organization();
    const days = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
    // Five of thirteen users are active in the week before the outage. The thirteenth never comes back.
    await installation.insert([...all(id, 13, days(150, 253)), ...all(id, 5, days(253, 260))]);
    await installation.work();
    installation.today = 261;
    await installation.work();
    const organization = { id, zone, settings };
    await installation.insert(all(id, 12, days(267, 274)));
    installation.today = 274;
    expect(await installation.work()).toBe(1);
    const rows = await scoresOf(subject, id, "user", 274);
    // There are 18 weeks from 148 on. The week without data does not count as inactive; the one with few
    // users does.
    const cells = rows.slice(0, 12).map(({ x, t, n }) => [x, t, n]);
    expect(cells).toEqual(Array.from({ length: 12 }, (_, index) => [index < 5 ? 16 : 15, 16, 16]));
    // The silence since then is behaviour, in every score.
    const [earlier, later] = await Promise.all([runOf(id, 261), runOf(id, 274)]);
    const away = { organization, kind: "user", entity: 13 } as const;
    const change = await changeBetween(subject.warehouse, away, earlier, later);
    for (const part of [change?.engagement, change?.health]) {
      expect(part?.behaviour).toBeLessThan(0);
      expect(part?.time).toBeCloseTo(0, 9);
    }
  });
});
