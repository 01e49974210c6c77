/** Takes excluded users and accounts out of messages that wait to be sent: a message of the morning waits for
 * hours after its decision. */
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { RuleEntity } from "../../ledger/ports/actions/rule-entities.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { gatherWithout } from "./commit-chunk.ts";
import { clockOf } from "./next-morning.ts";
import { excludedAmong } from "./rules/standing.ts";
import { worthReader } from "./rules/worth.ts";
import { worthByKey } from "./worth-by-key.ts";

interface Parts {
  readonly ledger: Pick<
    SharedLedger,
    "ruleDecisions" | "destinations" | "organizations" | "settings" | "members"
  >;
  readonly warehouse: Warehouse;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Only messages that are due within this time are checked, every ten seconds: a check reads the warehouse
 * for each of their organizations. */
const aheadMs = 120_000;

export class MessageExclusions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes excluded users and accounts out of the messages that are due soon. */
  async run(): Promise<void> {
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
    if (excluded.length === 0) return;
    await this.#gatherWithout(organization, excluded);
    await ledger.ruleDecisions.leaveOut(organization, excluded);
  }

  /** Fills the places of excluded entities in gathered messages with the next alerts. Where that fails, the
   * excluded entities still leave the messages. */
  async #gatherWithout(id: number, excluded: readonly RuleEntity[]): Promise<void> {
    const { ledger, warehouse, address, nowMs, log } = this.#parts;
    const organization = await ledger.organizations.find(id);
    if (organization === undefined) return;
    const read = worthReader(warehouse, ledger, nowMs);
    const ground = {
      ...clockOf(zoneOf(organization.timezone), nowMs()),
      address,
      excludedAmong: (entities: readonly RuleEntity[]) => excludedEntities(warehouse, id, entities),
      worthOf: (entities: readonly RuleEntity[]) => worthByKey(read, organization, entities),
    };
    for (const rule of await ledger.ruleDecisions.toDecide(id)) {
      await gatherWithout(ledger, rule, excluded, ground).catch((error: unknown) =>
        log.warn({ err: error, organization: id, rule: rule.version.rule }, "a message names fewer alerts"),
      );
    }
  }
}

/** Which of the users and accounts are excluded now. @throws WarehouseError */
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
