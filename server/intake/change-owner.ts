/**
 * Another owner of a user or an account. The owner is a trait of the user or an attribute of the account, so this is an identify
 * of a team member: merged by time, with a version, on its way to the warehouse as all others. The entry of the audit log is
 * in the same commit.
 */
import { ownerTrait } from "../../contract/actions/work.ts";
import type { Zone } from "../calendar/calendar.ts";
import {
  type Actor,
  type EntityNumbers,
  type EntityRef,
  type Ledger,
  type NamedPerson,
  ownerNote,
  type Stored,
  type Writes,
} from "../ledger/ledger.ts";
import type { Invalid } from "./admission/json.ts";
import { decide } from "./decide/decide.ts";
import { asWriteOutcome, type Decidable, NeedsOf, type Outcome } from "./decide/requests.ts";

/** The owner that a team member chose. */
export interface ChosenOwner {
  readonly organization: number;
  readonly zone: Zone;
  readonly entity: EntityRef;
  /** The team member with their e-mail address, which becomes the value. Null: nobody. */
  readonly owner: (NamedPerson & { readonly email: string }) | null;
  readonly by: Actor;
  readonly nowMs: number;
}

/**
 * Stores the owner. An owner who is there already is not stored again.
 * @returns "not_found" without such a user or account, Invalid when its traits would exceed their limits
 * @throws OrganizationsHeld as `transact` does
 */
export async function changeOwner(
  ledger: Pick<Ledger, "transact">,
  chosen: ChosenOwner,
): Promise<Exclude<Outcome, "duplicate"> | Invalid> {
  const entry = entryOf(chosen);
  const { organization, entity, owner, by, nowMs } = chosen;
  let outcome: Outcome = "stored";
  await ledger.transact(new NeedsOf([entry]), (stored): Writes => {
    const before = storedEntity(stored, organization, entity);
    const isThere = before !== undefined;
    const isSame = isThere && (before.traits[ownerTrait] ?? null) === (owner?.email ?? null);
    outcome = isThere ? "stored" : "not_found";
    if (!isThere || isSame) return { ...nothing, nowMs };
    const decided = decide([entry], stored, nowMs);
    outcome = asWriteOutcome(decided.outcomes[0] ?? "not_found");
    if (outcome !== "stored") return { ...nothing, nowMs };
    const note = ownerNote(numbersOf(before.number, entity), owner);
    return { ...decided.writes, audit: [{ organization, actor: by, atMs: nowMs, ...note }] };
  });
  return outcome;
}

const nothing = {
  ...{ users: [], accounts: [], inbox: [], versionRows: [], messages: [], dayCounts: [] },
} as const satisfies Omit<Writes, "nowMs">;

function storedEntity(stored: Stored, organization: number, { kind, id }: EntityRef) {
  return kind === "user" ? stored.user(organization, id) : stored.account(organization, id);
}

function numbersOf(number: number, { kind }: EntityRef): EntityNumbers {
  return kind === "user" ? { user: number, account: 0 } : { user: 0, account: number };
}

function entryOf({ organization, zone, entity: { kind, id }, owner, nowMs }: ChosenOwner): Decidable {
  const traits = { [ownerTrait]: owner?.email ?? null };
  const request = { organization, zone, receivedAtMs: nowMs, messageId: null };
  if (kind === "user") {
    const unchanged = { email: undefined, isAccountOwner: undefined, account: undefined };
    return { ...request, ...unchanged, kind: "identify", userId: id, traits, timestampMs: nowMs };
  }
  const account = { accountId: id, name: undefined, avatar: undefined, properties: traits };
  return { ...request, kind: "account", account, atMs: nowMs, bytes: 0 };
}
