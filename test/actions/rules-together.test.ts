/** Rules that are decided together: one that cannot be read or committed keeps no other back. */
import { expect, test } from "bun:test";
import type { RuleExemptions } from "../../contract/alerts/rules.ts";
import { decideDays } from "../../server/features/alerts/rules/decide-days.ts";
import type { DecisionParts } from "../../server/features/alerts/rules/decision-parts.ts";
import { SeenOwners } from "../../server/features/alerts/rules/seen-owners.ts";
import type { RuleToDecide, RuleVersion } from "../../server/features/alerts/store/decisions.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { runsBetween } from "../../server/scoring/run/records.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { rowsOfRisks, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const firstDay = 20_000;
const condition = { kind: "riskBand", band: "high" } as const;

function ruleOf(organization: number, rule: number, exemptions: RuleExemptions): RuleToDecide {
  const version = {
    organization,
    rule,
    version: 1,
    name: `Rule ${rule}`,
    condition,
    scope: { kind: "users" },
    exemptions,
    cooldownDays: null,
    createdAtMs: 0,
    updatedAtMs: 0,
  } as object as RuleVersion;
  const watermark = { version: 1, sequence: 0, decidedThrough: firstDay, part: null, takesOver: false };
  return { version, watermark: { ...watermark, cursor: null } };
}

test("a rule without its segment, and one that was changed meanwhile, fail alone", async () => {
  const organization = subject.newOrganization();
  const days = [firstDay, firstDay + 1, firstDay + 2];
  const rows = rowsOfRisks([1, 2, 3], firstDay, [0.1, 0.1, 0.9]);
  await storeDays(subject, { organization, kind: "user", days, rows });
  const committed: [rule: number, day: number | null, fired: number][] = [];
  const parts: DecisionParts = {
    warehouse: subject.warehouse,
    mrrOf: async () => new Map(),
    worthOf: async () => new Map(),
    rules: { states: async () => [], toDecide: async () => [], openMoments: async () => [] },
    horizonOf: async () => 28,
    sources: { statuses: async () => [] },
    seenOwners: new SeenOwners(),
    loadedUserBatches: () => 0,
    commit: async ({ rule }, chunk) => {
      if (rule === 3) throw new Error("the rule was changed meanwhile");
      committed.push([rule, chunk.next.decidedThrough, chunk.fired.length]);
      return { ...chunk.next, version: 1, sequence: chunk.after + 1, takesOver: false };
    },
    newestRun: (id, kind, uptoDay) => newestRun(subject.warehouse, id, kind, uptoDay),
    runsBetween: (of, span) => runsBetween(subject.warehouse, of, span),
    segmentOf: () => Promise.reject(new Error("there is no such segment")),
    isPastImported: async () => false,
    lateEvents: async () => "none",
    lastBulkLoadAtMs: async () => null,
    erasedSince: async () => [],
    nowMs: () => (firstDay + 2.5) * msPerDay,
  };
  const failures: [rule: number, message: string][] = [];
  const rules = [{}, { segment: 9 }, {}, {}].map((exemptions, at) =>
    ruleOf(organization, at + 1, exemptions),
  );
  await decideDays(
    parts,
    { id: organization, timezone: "UTC" } as Organization,
    rules.map((rule) => [rule, condition] as const),
    ({ version: { rule } }, error) => failures.push([rule, error instanceof Error ? error.message : ""]),
  );
  expect(failures.toSorted()).toEqual([
    [2, "there is no such segment"],
    [3, "the rule was changed meanwhile"],
  ]);
  const of = (rule: number) =>
    committed.filter((one) => one[0] === rule).map(([, day, fired]) => [day, fired]);
  for (const rule of [1, 4]) {
    expect(of(rule)).toEqual([
      [firstDay + 1, 0],
      [firstDay + 2, 3],
    ]);
  }
  expect(of(2)).toEqual([[firstDay + 1, 0]]);
});
