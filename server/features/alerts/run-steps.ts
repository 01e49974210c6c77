/** Runs the steps of all alert rules that are due: once a day, and after each decision. Most runs find
 * nothing to do. */
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Logger } from "../../process/log.ts";
import { clockOf } from "./next-morning.ts";

interface StepParts {
  readonly ledger: Pick<SharedLedger, "ruleDecisions" | "ruleSteps" | "organizations">;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** @throws Refusal when another node leads */
export async function runRuleSteps({ ledger, nowMs, log }: StepParts): Promise<void> {
  for (const id of await ledger.ruleDecisions.deciding()) {
    const organization = await ledger.organizations.find(id);
    if (organization === undefined) continue;
    const zone = zoneOf(organization.timezone);
    const { nextMorningMs } = clockOf(zone, nowMs());
    const today = zone.dayOf(nowMs());
    for (const rule of await ledger.ruleSteps.due(id, today)) {
      let refused = 0;
      for (let after: number | null = 0; after !== null; ) {
        const ran = await ledger.ruleSteps.run(id, rule, after, { today, nowMs: nowMs(), nextMorningMs });
        refused += ran.refusedTasks;
        after = ran.after;
      }
      if (refused > 0)
        log.warn(
          { organization: id, rule, alerts: refused },
          "tasks of a rule were not added: there are too many",
        );
    }
  }
}
