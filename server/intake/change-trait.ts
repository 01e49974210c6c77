/**
 * A trait of a user or an attribute of an account that a team member sets: the owner, or the churn reason.
 * This is an identify of a team member: merged by time, with a version, on its way to the warehouse as all
 * others. The entry of the audit log is in the same commit.
 */
import type { Zone } from "../calendar/zone.ts";
import type { Actor, AuditNote } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EntityNumbers, EntityRef } from "../ledger/stores/entity-rows.ts";
import type { Stored, Writes } from "../ledger/transact.ts";
import type { Invalid } from "./admission/json.ts";
import { decide } from "./decide/decide.ts";
import { asWriteOutcome, type Decidable, NeedsOf, type Outcome } from "./decide/requests.ts";

/** The value that a team member chose. */
export interface ChosenTrait {
  readonly organization: number;
  readonly zone: Zone;
  readonly entity: EntityRef;
  readonly trait: string;
  /** Null: none. */
  readonly value: string | null;
  /** The entry in the audit log. */
  readonly note: (entity: EntityNumbers) => AuditNote;
  readonly by: Actor;
  readonly nowMs: number;
}

/**
 * Stores the value. A value that is there already is not stored again.
 * @returns "not_found" without such a user or account, Invalid when its traits would exceed their limits
 * @throws OrganizationsHeld as `transact` does
 */
export async function changeTrait(
  ledger: Pick<Ledger, "transact">,
  chosen: ChosenTrait,
): Promise<Exclude<Outcome, "duplicate"> | Invalid> {
  const entry = traitEntry({ ...chosen, atMs: chosen.nowMs });
  const { organization, entity, trait, value, note, by, nowMs } = chosen;
  let outcome: Outcome = "stored";
  await ledger.transact(new NeedsOf([entry]), (stored): Writes => {
    const before = storedEntity(stored, organization, entity);
    outcome = before === undefined ? "not_found" : "stored";
    if (before === undefined || (before.traits[trait] ?? null) === value) return { ...nothing, nowMs };
    const decided = decide([entry], stored, nowMs);
    outcome = asWriteOutcome(decided.outcomes[0] ?? "not_found");
    if (outcome !== "stored") return { ...nothing, nowMs };
    const noted = note(numbersOf(before.number, entity));
    return { ...decided.writes, audit: [{ organization, actor: by, atMs: nowMs, ...noted }] };
  });
  return outcome;
}

const nothing = {
  users: [],
  accounts: [],
  inbox: [],
  versionRows: [],
  messages: [],
  dayCounts: [],
} as const satisfies Omit<Writes, "nowMs">;

function storedEntity(stored: Stored, organization: number, { kind, id }: EntityRef) {
  return kind === "user" ? stored.user(organization, id) : stored.account(organization, id);
}

function numbersOf(number: number, { kind }: EntityRef): EntityNumbers {
  return kind === "user" ? { user: number, account: 0 } : { user: 0, account: number };
}

/** The request that sets the value. @param atMs since when it is true: the newer value counts */
export function traitEntry({
  organization,
  zone,
  entity,
  trait,
  value,
  nowMs,
  atMs,
}: Omit<ChosenTrait, "note" | "by"> & { readonly atMs: number }): Decidable {
  const { kind, id } = entity;
  const traits = { [trait]: value };
  const request = { organization, zone, receivedAtMs: nowMs, messageId: null };
  if (kind === "user") {
    const unchanged = { email: undefined, isAccountOwner: undefined, account: undefined };
    return { ...request, ...unchanged, kind: "identify", userId: id, traits, timestampMs: atMs };
  }
  const account = { accountId: id, name: undefined, avatar: undefined, properties: traits };
  return { ...request, kind: "account", account, atMs, bytes: 0 };
}
