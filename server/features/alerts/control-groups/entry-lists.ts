/** Lists who may enter the experiments of rules about events, so that `POST /arm` need not ask the warehouse:
 * once a day, and after a change of the rule. The facts are those by which an alert is drawn. */
import { canBeAsked } from "../../../../contract/alerts/rules.ts";
import { numbersOfSet } from "../../../analytics/entities/entity-sets.ts";
import { zoneOf } from "../../../calendar/zone.ts";
import type { SharedLedger } from "../../../ledger/ledger.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../../process/log.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { DecisionParts } from "../rules/decision-parts.ts";
import { mrrReader, payersAbove } from "../rules/mrr.ts";
import { allExcluded } from "../rules/standing.ts";
import type { RuleVersion } from "../store/decisions.ts";
import type { ListedUnit } from "./asked-arms.ts";

interface ListParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<SharedLedger, "askedArms" | "ruleDecisions" | "organizations" | "settings">;
  readonly segmentOf: DecisionParts["segmentOf"];
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Writes the lists that are due. A list that fails is tried again, and the one before holds meanwhile. */
export async function listEntries(parts: ListParts): Promise<void> {
  const { ledger, nowMs, log } = parts;
  for (const id of await ledger.ruleDecisions.deciding()) {
    const rules = (await ledger.ruleDecisions.toDecide(id)).filter(
      ({ version }) => version.holdOutShare > 0 && canBeAsked(version.condition),
    );
    const organization = rules.length === 0 ? undefined : await ledger.organizations.find(id);
    if (organization === undefined) continue;
    const day = zoneOf(organization.timezone).dayOf(nowMs());
    const lists = new Map((await ledger.askedArms.lists(id)).map((list) => [list.rule, list]));
    for (const { version } of rules) {
      const { rule, updatedAtMs } = version;
      const last = lists.get(rule);
      if (last !== undefined && last.day === day && last.atMs >= updatedAtMs) continue;
      const list = { rule, day, atMs: Math.max(nowMs(), updatedAtMs, (last?.atMs ?? 0) + 1) };
      try {
        await ledger.askedArms.list(id, list, await listedUnits(parts, organization, version));
      } catch (error) {
        log.warn({ err: error, organization: id, rule }, "who may enter a rule is listed at the next look");
      }
    }
  }
}

/** Those who may not enter: the exempt and the excluded. Under a rule about a segment, its members without
 * them, and the accounts that may not. @throws WarehouseError, and ApiError when a segment is not there */
async function listedUnits(
  { warehouse, ledger, segmentOf, nowMs }: ListParts,
  organization: Organization,
  { scope, exemptions }: Pick<RuleVersion, "scope" | "exemptions">,
): Promise<readonly ListedUnit[]> {
  const kind: EntityKind = scope.kind === "users" ? "user" : "account";
  const membersOf = async (segment: number | undefined) =>
    segment === undefined ? [] : numbersOfSet(warehouse, (await segmentOf(organization, segment)).members);
  const paying = (of: EntityKind) => {
    const { mrrAbove: above } = exemptions;
    if (above === undefined) return [];
    const parts = { settings: ledger.settings, mrrOf: mrrReader(warehouse, ledger, nowMs) };
    return payersAbove(warehouse, parts, organization, { kind: of, above, nowMs: nowMs() });
  };
  const barred = new Set([
    ...(await membersOf(exemptions.segment)),
    ...(await allExcluded(warehouse, organization.id, kind)),
    ...(await paying(kind)),
  ]);
  const accounts = kind === "user" ? await paying("account") : [];
  const within = scope.segment === undefined ? undefined : await membersOf(scope.segment);
  const unitOf = (number: number, mayEnter: boolean): ListedUnit =>
    kind === "user" ? { user: number, account: 0, mayEnter } : { user: 0, account: number, mayEnter };
  return [
    ...(within === undefined
      ? [...barred].map((number) => unitOf(number, false))
      : within.filter((number) => !barred.has(number)).map((number) => unitOf(number, true))),
    ...accounts.map((account) => ({ user: 0, account, mayEnter: false })),
  ];
}
