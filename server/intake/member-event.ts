/**
 * An event that a team member adds, a contact say. It is stored as an event of the write API. The entry of
 * the audit log is in the same commit.
 */
import type { JsonObject } from "../../contract/json.ts";
import type { Actor, AuditNote } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EntityNumbers } from "../ledger/stores/entity-rows.ts";
import type { Writes } from "../ledger/transact.ts";
import type { Arrival } from "./admission/admit-event.ts";
import { type Invalid, isInvalid, parseBody } from "./admission/json.ts";
import { decide } from "./decide/decide.ts";
import { asWriteOutcome, isStored, NeedsOf, type Outcome } from "./decide/requests.ts";
import { admitTrack } from "./track.ts";

/** The event, and its author. */
export interface MemberEvent {
  /** The body of a track request. */
  readonly body: JsonObject;
  readonly arrival: Arrival;
  readonly by: Actor;
  /** The entry in the audit log. */
  readonly note: (user: EntityNumbers) => AuditNote;
}

/**
 * Stores the event.
 * @returns "not_found" without such a user, Invalid when the body is not valid
 * @throws OrganizationsHeld as `transact` does
 */
export async function addMemberEvent(
  ledger: Pick<Ledger, "transact">,
  { body, arrival, by, note }: MemberEvent,
): Promise<Outcome | Invalid> {
  const parsed = parseBody(new TextEncoder().encode(JSON.stringify(body)));
  const admitted = isInvalid(parsed) ? parsed : admitTrack(parsed, arrival);
  if (isInvalid(admitted)) return admitted;
  const { organization, receivedAtMs: nowMs } = arrival;
  let outcome: Outcome = "not_found";
  await ledger.transact(new NeedsOf([admitted]), (stored): Writes => {
    const { outcomes, writes } = decide([admitted], stored, nowMs);
    outcome = asWriteOutcome(outcomes[0] ?? "not_found");
    const user = stored.known(organization, admitted.userId);
    if (!isStored(outcome) || user === undefined) return writes;
    const noted = note({ user: user.number, account: 0 });
    return { ...writes, audit: [{ organization, actor: by, atMs: nowMs, ...noted }] };
  });
  return outcome;
}
