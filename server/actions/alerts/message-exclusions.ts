/** Takes excluded users and accounts out of messages before these are sent: those of the morning wait for hours after their decision. */
import type { RuleEntity, SharedLedger } from "../../ledger/ledger.ts";
import type { EntityKind } from "../../scoring/scoring.ts";
import type { Logger } from "../../telemetry/telemetry.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { excludedAmong } from "../rules/standing.ts";

interface Parts {
  readonly ledger: Pick<SharedLedger, "ruleDecisions">;
  readonly warehouse: Warehouse;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Messages that are due within this time are looked at, every ten seconds: a look reads the warehouse for each of their organizations. */
const aheadMs = 120_000;

export class MessageExclusions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Looks once. */
  async work(): Promise<void> {
    const { ledger, nowMs, log } = this.#parts;
    const named = await ledger.ruleDecisions.namedInMessages(nowMs() + aheadMs);
    for (const [organization, some] of Map.groupBy(named, (one) => one.organization)) {
      await this.#leaveOut(
        organization,
        some.map(({ entity }) => entity),
      ).catch((error: unknown) =>
        log.warn({ err: error, organization }, "the next look takes excluded users out of messages"),
      );
    }
  }

  async #leaveOut(organization: number, named: readonly RuleEntity[]): Promise<void> {
    const { ledger, warehouse } = this.#parts;
    const excluded = await excludedEntities(warehouse, organization, named);
    if (excluded.length > 0) await ledger.ruleDecisions.leaveOut(organization, excluded);
  }
}

/** Those of the users and accounts that are excluded now. @throws WarehouseError */
export async function excludedEntities(
  warehouse: Warehouse,
  organization: number,
  entities: readonly RuleEntity[],
): Promise<readonly RuleEntity[]> {
  const excluded: RuleEntity[] = [];
  for (const kind of ["user", "account"] as const satisfies readonly EntityKind[]) {
    const numbers = entities.flatMap((one) => (one.kind === kind ? [one.number] : []));
    const found = await excludedAmong(warehouse, organization, kind, numbers);
    excluded.push(...found.map((number) => ({ kind, number })));
  }
  return excluded;
}
