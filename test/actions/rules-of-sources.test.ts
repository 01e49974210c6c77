/** Rules about silent sources: an alert ends with the next item of its source, and the cooldown only keeps
 * the rule from firing again. */
import { expect, test } from "bun:test";
import type { SourceStatus } from "../../server/scoring/run/source-watch.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { msPerDay } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";

/** Rules about sources read no warehouse. */
const warehouse = {} as Warehouse;
const today = 20_090;

/** A rule, and looks at it at times of day. Sources send, or they are silent. */
function ruleOfSources() {
  const ledger = new LedgerInMemory(1, { kind: "sourceSilent" });
  return {
    ledger,
    async look(day: number, silent: Readonly<Record<string, boolean>>) {
      const statuses = Object.entries(silent).map(([source, isSilent]) => ({
        source,
        state: isSilent ? "silent" : "sending",
        lastHeardMs: 0,
      }));
      ledger.sources = { statuses: async () => statuses as object as SourceStatus[] };
      await ledger.decide(warehouse, day * msPerDay);
    },
    fired: () => ledger.fired.map(({ entity, day }) => [entity.kind === "source" && entity.source, day]),
    closed: () => ledger.closed.map(({ day, firedOn, why }) => [day, firedOn, why]),
  };
}

test("a source fires when it falls silent, and its alert closes with its next item", async () => {
  const { ledger, look, fired, closed } = ruleOfSources();
  await look(today, { segment: false, stripe: true });
  expect(ledger.fired).toEqual([]);
  await look(today, { segment: true, stripe: true });
  await look(today, { segment: true, stripe: true });
  expect(fired()).toEqual([["segment", today]]);
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("No data since 1970-01-01T00:00:00.000Z");
  await look(today, { segment: false, stripe: false });
  expect(closed()).toEqual([[today, today, "resolved"]]);
});

test("a source that is silent again in the cooldown fires once that is over", async () => {
  const { look, fired, closed } = ruleOfSources();
  for (const silent of [false, true, false, true]) await look(today, { segment: silent });
  expect(fired()).toEqual([["segment", today]]);
  for (const day of [today, today + 1, today + 2]) await look(day, { segment: true });
  expect(fired()).toEqual([
    ["segment", today],
    ["segment", today + 1],
  ]);
  expect(closed()).toEqual([[today, today, "resolved"]]);
});

test("a clock that was a year ahead keeps no source silent after it is set back", async () => {
  const { look, fired, closed } = ruleOfSources();
  await look(today, { segment: false });
  await look(today + 365, { segment: true });
  for (const [day, silent] of [
    [0, false],
    [1, false],
    [2, true],
  ] as const) {
    await look(today + day, { segment: silent });
  }
  expect(fired()).toEqual([
    ["segment", today + 365],
    ["segment", today + 2],
  ]);
  expect(closed()).toEqual([[today, today + 365, "resolved"]]);
});
