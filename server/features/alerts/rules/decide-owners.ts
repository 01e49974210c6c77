/** Decides rules about the last owner of an account. */
import { zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { RuleToDecide, Watermark } from "../store/decisions.ts";
import { chunksOf, type EntityDecision } from "./chunks.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { chunkOf, eligibleEntities, firedBy } from "./firing.ts";
import type { OwnersAsSeen } from "./seen-owners.ts";
import { rowOf, statesOf } from "./states.ts";
import { unknownEntity } from "./step.ts";

/** Fires for accounts that lost their last owner and still have members. The ledger has a state for each
 * account with an owner; an account that loses its last owner loses the state. An account that never had an
 * owner does not fire. Nothing is read while no users were loaded, and states only after a start or a
 * takeover. */
export async function decideOwners(
  parts: DecisionParts,
  organization: Organization,
  rule: RuleToDecide,
): Promise<Watermark> {
  const { version, watermark } = rule;
  const { warehouse, seenOwners } = parts;
  const nowMs = parts.nowMs();
  const present = { batches: parts.loadedUserBatches(organization.id), atMs: nowMs };
  const last = watermark.takesOver ? undefined : seenOwners.at(version.rule, watermark.sequence);
  if (last !== undefined && !isDue(last, present)) return watermark;
  const owned = await ownedAccounts(warehouse, organization.id);
  // The ledger has a state for each account that had an owner at the last decision.
  const before = last?.accounts ?? new Set((await statesOf(parts.rules, version, "account")).keys());
  const found = [...owned.difference(before)];
  const lost = [...before.difference(owned)];
  const decisions = await decisionsOf(parts, organization, rule, { found, lost });
  const now = await commitOwners(parts, organization, rule, decisions);
  seenOwners.keep(version.rule, now.sequence, { ...present, accounts: owned });
  return now;
}

/** Owners are read again after this time at the latest, because erasures and rebuilds change users without
 * loading a batch. */
const longestMs = 600_000;

function isDue(
  last: Pick<OwnersAsSeen, "batches" | "atMs">,
  now: Pick<OwnersAsSeen, "batches" | "atMs">,
): boolean {
  return last.batches !== now.batches || Math.abs(now.atMs - last.atMs) >= longestMs;
}

/** The accounts with an owner. */
async function ownedAccounts(warehouse: Warehouse, organization: number): Promise<Set<number>> {
  const rows = await warehouse.rows<{ account: number }>(
    `SELECT account FROM users FINAL WHERE organization = {organization:UInt32} AND account != 0
     GROUP BY account HAVING countIf(is_account_owner) > 0`,
    { organization },
  );
  return new Set(rows.map(({ account }) => account));
}

/** The accounts whose owners changed, in the order of numbers. */
async function decisionsOf(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  { found, lost }: { readonly found: readonly number[]; readonly lost: readonly number[] },
): Promise<readonly EntityDecision[]> {
  const nowMs = parts.nowMs();
  const today = zoneOf(organization.timezone).dayOf(nowMs);
  const withMembers = watermark.takesOver
    ? []
    : await withMembersAmong(parts.warehouse, organization.id, lost);
  const mayFire = await eligibleEntities(parts, organization, version, "account", withMembers);
  const events = [...mayFire].map((account) => ({
    entity: account,
    timeMs: nowMs,
    id: `${account} ${today}`,
  }));
  const fired = await firedBy(parts, organization, version, "account", events);
  const byAccount = new Map(events.map(({ entity }, at) => [entity, fired.slice(at, at + 1)]));
  const decision = (number: number, hasOwner: boolean): EntityDecision => ({
    number,
    state: rowOf({ kind: "account", number }, { ...unknownEntity, isArmed: !hasOwner }, null),
    fired: hasOwner ? [] : (byAccount.get(number) ?? []),
    closed: [],
    insideBySettings: 0,
  });
  return [
    ...found.map((number) => decision(number, true)),
    ...lost.map((number) => decision(number, false)),
  ].sort((a, b) => a.number - b.number);
}

async function withMembersAmong(
  warehouse: Warehouse,
  organization: number,
  accounts: readonly number[],
): Promise<readonly number[]> {
  if (accounts.length === 0) return [];
  const rows = await warehouse.rows<{ account: number }>(
    `SELECT DISTINCT account FROM users FINAL
     WHERE organization = {organization:UInt32} AND account IN {accounts:Array(UInt32)} ORDER BY account`,
    { organization, accounts },
  );
  return rows.map(({ account }) => account);
}

/** Commits the decisions in chunks. A takeover ends with its last chunk, so that a takeover that was cut off
 * goes on without alerts. */
async function commitOwners(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  decisions: readonly EntityDecision[],
): Promise<Watermark> {
  if (decisions.length === 0 && !watermark.takesOver) return watermark;
  const day = zoneOf(organization.timezone).dayOf(parts.nowMs());
  const about = { day, horizonDays: await parts.horizonOf(organization) };
  let now = watermark;
  for (const { uptoNumber, ...contents } of chunksOf(decisions)) {
    const { decidedThrough, cursor } = now;
    const isLast = uptoNumber === null;
    now = await parts.commit(version, {
      ...chunkOf(version, now, about),
      ...contents,
      ...(!isLast && { next: { decidedThrough, part: { day, uptoNumber }, cursor } }),
    });
  }
  return now;
}
