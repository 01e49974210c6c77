/** A preview of another horizon stores missing snapshots, so it takes turns as a run does. */
import { expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { answerAnalysis, type StartedAnalysis } from "../../server/between/analysis-routes.ts";
import { remoteAnalysis } from "../../server/between/remote/remote-analysis.ts";
import { OrganizationGone } from "../../server/ledger/transact.ts";
import { CallFailed } from "../../server/process/control.ts";
import type { ScoringService } from "../../server/scoring/run/scoring.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const today = 170;
const changed = { before: defaultSettings, after: { ...defaultSettings, churnHorizonDays: 14 as const } };

/** An organization with scores of today, whose Mondays of another horizon have no snapshots yet. */
async function scored() {
  const installation = new Installation(subject, today);
  const id = installation.organization();
  const days = Array.from({ length: 38 }, (_, index) => 20 + 4 * index);
  await installation.insert(all(id, 8, days));
  await installation.work();
  const { scoring } = installation;
  if (scoring === undefined) throw new Error("there is no scoring");
  return { installation, id, scoring };
}

/** Holds the first statement that contains a text. The other statements that come meanwhile are counted. */
function heldAt(installation: Installation, text: string) {
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = false;
  const held = { reached: reached.promise, goOn: goOn.resolve, others: 0 };
  installation.beforeStatement = async (sql) => {
    if (isHeld) held.others += 1;
    if (isHeld || !sql.includes(text)) return;
    isHeld = true;
    reached.resolve();
    await goOn.promise;
    isHeld = false;
    installation.beforeStatement = async () => undefined;
  };
  return held;
}

test("it waits for a run of the same organization, and changes no snapshot that the run stores", async () => {
  const { installation, id, scoring } = await scored();
  const held = heldAt(installation, "INSERT INTO user_snapshots");
  const run = installation.work();
  await held.reached;
  const preview = scoring.preview({ organization: id, ...changed });
  // A preview that did not wait would have asked more by the time that twenty others have had their answers.
  for (let asked = 0; asked < 20; asked += 1) await subject.warehouse.rows("SELECT 1 AS one");
  // Its settings and its organization are read before its turn.
  const others = held.others;
  held.goOn();
  await run;
  expect((await preview).map(({ kind, day }) => [kind, day])).toEqual([
    ["user", today],
    ["account", today],
  ]);
  expect(others).toBeLessThan(4);
  const lacking = await subject.warehouse.rows(
    `SELECT day FROM score_records FINAL
     LEFT JOIN (SELECT day, version, count() AS users FROM user_snapshots FINAL
       WHERE organization = {id:UInt32} GROUP BY day, version) AS stored
       ON stored.day = score_records.day AND stored.version = score_records.rows_version
     WHERE organization = {id:UInt32} AND kind = 'user' AND what = 'snapshot' AND users != 8`,
    { id },
  );
  expect(lacking).toEqual([]);
});

test("it is refused when it waits too long, and does nothing afterwards", async () => {
  const { installation, id, scoring } = await scored();
  const held = heldAt(installation, "INSERT INTO user_snapshots");
  const run = installation.work();
  await held.reached;
  const late = scoring.preview({ organization: id, ...changed }, 200);
  await expect(late).rejects.toThrow("the preview took longer than a minute");
  held.goOn();
  await run;
  const asked: string[] = [];
  installation.beforeStatement = async (sql) => void asked.push(sql);
  // A later preview has its turn after the refused one.
  const same = { before: defaultSettings, after: { ...defaultSettings, churnHorizonDays: 56 as const } };
  await scoring.preview({ organization: id, ...same });
  expect(asked.length).toBeGreaterThan(0);
  expect((await newestRun(subject.warehouse, id, "user", today))?.body.settings.churnHorizonDays).toBe(28);
});

test("it writes nothing for an organization that is deleted meanwhile", async () => {
  const { installation, id, scoring } = await scored();
  let writes = 0;
  installation.beforeStatement = async (sql) => {
    if (!sql.includes("INSERT INTO")) return;
    writes += 1;
    installation.deleteOrganization(id);
  };
  await expect(scoring.preview({ organization: id, ...changed })).rejects.toThrow(OrganizationGone);
  expect(writes).toBe(1);
});

test("a node that does not lead asks the leader, and passes its refusal on", async () => {
  const asked = { organization: 7, ...changed };
  const kinds = [
    { kind: "user", day: null, moves: [], health: null, definition: null, horizons: null },
  ] as const;
  const through = (leader: Pick<ScoringService, "preview">) => {
    const parts = {} as unknown as Parameters<typeof answerAnalysis>[0];
    const started = { analysis: {}, scoring: leader } as unknown as StartedAnalysis;
    return remoteAnalysis({
      fetch: async (path, init) =>
        path === "/status"
          ? Response.json({ state: "ready" })
          : answerAnalysis(parts, started, new Request(`http://leader${path}`, init)),
    }).scoring;
  };
  const heard: unknown[] = [];
  const leader = through({
    preview: async (question) => {
      heard.push(question);
      return kinds;
    },
  });
  expect(await leader.preview(asked)).toEqual(kinds);
  expect(heard).toEqual([asked]);
  const refusing = through({ preview: () => Promise.reject(new Refusal("it takes too long.")) });
  await expect(refusing.preview(asked)).rejects.toThrow(
    new CallFailed("it takes too long.", { isRefusal: true }),
  );
  const failing = through({ preview: () => Promise.reject(new Error("the engine is gone")) });
  await expect(failing.preview(asked)).rejects.toThrow(CallFailed);
});
