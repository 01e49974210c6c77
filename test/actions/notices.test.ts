/** Messages about whole organizations: case by case, and from the scores to the receiver. */
import { describe, expect, test } from "bun:test";
import { noticeTypes } from "../../contract/actions/destinations.ts";
import {
  noticesFor,
  type OrganizationNow,
  type WatchedSource,
} from "../../server/actions/notices/notices.ts";

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
      "model.changed Engines: the model of churn risk of accounts is logistic now, and was none.",
    ]);
    expect(told({ scores })).toEqual([
      "scores.completed Engines: the scores of 2026-11-21 are ready. At high risk: 38 users, 1 account.",
    ]);
  });

  test("tells nothing of scores, or of a silence, from before the destination was made", () => {
    expect(told({ scores: { ...scores, finishedAtMs: madeAtMs } })).toEqual([]);
    expect(told({ sources: [{ ...silent, silentFromMs: madeAtMs }] })).toEqual([]);
  });

  test("tells of a source that is silent, and of the same when it sends again", () => {
    const sources = [silent];
    expect(told({ sources })).toEqual([
      "source.silent Engines: segment is silent. It sent its last data at 2026-11-20T01:00:00.000Z.",
    ]);
    const sent = noticesFor(destination, { ...quiet, sources }, [], "https://x.example", nowMs);
    const again = [{ ...silent, state: "sending" } as const];
    expect(told({ sources: again }, {}, sent)).toEqual([
      "source.resumed Engines: segment sends again. It was silent since 2026-11-20T01:00:00.000Z.",
    ]);
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
