/** Messages about whole organizations, case by case, and the run over all organizations. */
import { describe, expect, test } from "bun:test";
import pino from "pino";
import { noticeTypes } from "../../contract/destinations/destinations.ts";
import {
  noticesFor,
  type OrganizationNow,
  type WatchedSource,
} from "../../server/features/destinations/notices.ts";
import { Notifier } from "../../server/features/destinations/notifier.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { DestinationWithCounts } from "../../server/sending/destinations.ts";

const hour = 3_600_000;
const madeAtMs = Date.UTC(2026, 10, 20);
const nowMs = madeAtMs + 24 * hour;
const destination: Asking = { createdAtMs: madeAtMs, notices: [...noticeTypes] };
const quiet: OrganizationNow = { id: 7, name: "Engines", scores: null, sources: [] };

const user = { kind: "user", scored: 400, highRisk: 38, newModel: null } as const;
const account = { kind: "account", scored: 60, highRisk: 1, newModel: null } as const;
const scores = { day: madeAtMs / 86_400_000 + 1, finishedAtMs: madeAtMs + hour, kinds: [user, account] };
const silent: WatchedSource = {
  source: "segment",
  state: "silent",
  lastHeardMs: madeAtMs + hour,
  silentFromMs: madeAtMs + 5 * hour,
};

/** The types and texts of the messages. */
function told(now: Partial<OrganizationNow>, more: Partial<Asking> = {}, sent: readonly SentNotice[] = []) {
  const messages = noticesFor(
    { ...destination, ...more },
    { ...quiet, ...now },
    sent,
    "https://x.example",
    nowMs,
  );
  return messages.map(
    ({ type, body }) => `${type} ${(JSON.parse(body) as { data: { text: string } }).data.text}`,
  );
}
type Asking = Parameters<typeof noticesFor>[0];
type SentNotice = Parameters<typeof noticesFor>[2][number];

describe("an organization", () => {
  test("without news is silent", () => {
    expect(told({})).toEqual([]);
  });

  test("tells of the scores of a day, and of another model", () => {
    const newModel = { from: null, to: "logistic" } as const;
    expect(told({ scores: { ...scores, kinds: [user, { ...account, highRisk: null, newModel }] } })).toEqual([
      "scores.completed Engines: the scores of 2026-11-21 are ready. At high risk: 38 users.",
      "model.changed Engines: Churn risks of accounts now come from the model logistic. Before, no model gave any.",
    ]);
    expect(told({ scores })).toEqual([
      "scores.completed Engines: the scores of 2026-11-21 are ready. At high risk: 38 users, 1 account.",
    ]);
  });

  test("tells which model gave churn risks before, and which one does now", () => {
    const toldOf = (newModel: NonNullable<(typeof models)[number]>) =>
      told({ scores: { ...scores, kinds: [{ ...user, newModel }] } }, { notices: ["model.changed"] });
    const models = [
      { from: "bgbb", to: "logistic" },
      { from: "bgbb", to: null },
    ] as const;
    expect(models.flatMap(toldOf)).toEqual([
      "model.changed Engines: Churn risks of users now come from the model logistic. Before, they came from the model bgbb.",
      "model.changed Engines: No model gives churn risks of users now. Before, they came from the model bgbb.",
    ]);
  });

  test("tells nothing of scores, or of a silence, from before the destination was made", () => {
    expect(told({ scores: { ...scores, finishedAtMs: madeAtMs } })).toEqual([]);
    expect(told({ sources: [{ ...silent, silentFromMs: madeAtMs }] })).toEqual([]);
  });

  test("tells of a source that is silent, and of the same when it sends again", () => {
    const sources = [silent];
    expect(told({ sources })).toEqual([
      "source.silent Engines: Segment has sent no data since 20 Nov 2026, 01:00 UTC.",
    ]);
    const sent = noticesFor(destination, { ...quiet, sources }, [], "https://x.example", nowMs);
    const again = [{ ...silent, state: "sending" } as const];
    expect(told({ sources: again }, {}, sent)).toEqual([
      "source.resumed Engines: Segment has sent data again, for the first time since 20 Nov 2026, 01:00 UTC.",
    ]);
    expect(told({ sources: again }, { notices: ["source.silent"] }, sent)).toHaveLength(1);
    expect(told({ sources: again }, { notices: ["model.changed"] }, sent)).toEqual([]);
    expect(told({ sources: [{ ...silent, state: "retired" }] }, {}, sent)).toEqual([]);
    expect(told({ sources: again })).toEqual([]);
  });

  test("tells a destination what it asked for only", () => {
    expect(told({ scores, sources: [silent] }, { notices: [] })).toEqual([]);
    expect(told({ scores, sources: [silent] }, { notices: ["source.silent"] })).toHaveLength(1);
  });

  test("tells the same with the same id, and something else with another", () => {
    const idsOf = (now: Partial<OrganizationNow>) =>
      noticesFor(destination, { ...quiet, ...now }, [], "https://x.example", nowMs).map(
        ({ messageId }) => messageId,
      );
    expect(idsOf({ scores })).toEqual(idsOf({ scores: { ...scores, finishedAtMs: nowMs } }));
    const changedTo = (to: "bgbb" | "logistic") =>
      idsOf({ scores: { ...scores, kinds: [{ ...user, newModel: { from: null, to } }] } }).slice(1);
    expect(changedTo("bgbb")).not.toEqual(changedTo("logistic"));
    const ids = [
      ...idsOf({ scores }),
      ...idsOf({ scores: { ...scores, day: scores.day + 1 } }),
      ...idsOf({ scores, id: 8 }),
      ...idsOf({ sources: [silent] }),
      ...idsOf({ sources: [{ ...silent, lastHeardMs: nowMs }] }),
    ];
    expect(new Set(ids).size).toBe(5);
  });
});

test("an organization that cannot be read keeps no message of another back", async () => {
  const added: number[] = [];
  const asking = [1, 2, 3].map((organization) => ({ ...destination, id: organization, organization }));
  const notifier = new Notifier({
    ledger: {
      destinations: { asking: async () => asking as readonly object[] as DestinationWithCounts[] },
      organizations: { find: async (id: number) => ({ id }) as Organization },
      deliveries: {
        list: async () => [],
        add: async (organization: number) => void added.push(organization),
      },
    } as object as SharedLedger,
    readNow: async ({ id }) => {
      if (id === 2) throw new Error("The warehouse does not answer.");
      return { ...quiet, id, sources: [silent] };
    },
    address: "https://x.example",
    nowMs: () => nowMs,
    log: pino({ level: "silent" }),
  });
  await notifier.run();
  expect(added).toEqual([1, 3]);
});
