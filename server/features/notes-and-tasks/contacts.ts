/** Marks of team members that a user was contacted. A mark is an event, so it is exported and erased with the
 * user. */

import { contactEvent } from "../../../contract/api/contacts.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { whenTaken } from "../../http/api/taken.ts";
import { errorOf } from "../../intake/decide/requests.ts";
import { addMemberEvent } from "../../intake/member-event.ts";
import type { AuditNote } from "../../ledger/audit.ts";
import { type EntityNumbers, numberOf } from "../../ledger/stores/entity-rows.ts";

/** The entry of a contact with a user, without its text. An application's contacts have none. */
export function contactNote(user: EntityNumbers): AuditNote {
  return { action: "contact.created", summary: "Added a contact with a user", detail: { ...numberOf(user) } };
}

/** A clock of a browser may be ahead. */
const aheadMs = 60_000;

export const contactHandlers = {
  /** @throws ApiError for an unknown user, for a time that cannot be read or is in the future, and while no
   * event is taken */
  "POST /api/users/:userId/contacts": async ({
    ledger,
    intake,
    place: { organization, actor },
    path,
    body,
    nowMs,
  }) => {
    const { timestamp, kind, text } = body;
    if (timestamp !== undefined && Date.parse(timestamp) > nowMs + aheadMs)
      throw new ApiError(
        "validation_error",
        "timestamp is in the future. A contact is marked when it was made.",
      );
    const properties = { by: actor.by, ...(kind && { kind }), ...(text?.trim() && { text: text.trim() }) };
    const event = { ...(timestamp && { timestamp }), userId: path.userId, event: contactEvent, properties };
    const zone = zoneOf(organization.timezone);
    const arrival = { organization: organization.id, zone, receivedAtMs: nowMs, idempotencyKey: null };
    const added = { body: event, arrival, by: actor, note: contactNote };
    const outcome = await whenTaken({ intake }, organization, () => addMemberEvent(ledger, added));
    const error = errorOf(outcome);
    if (error !== undefined) throw new ApiError(error.name, error.message);
    return {};
  },
} satisfies Partial<IntakeHandlers>;
