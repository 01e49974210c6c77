/** Saying a pulse and taking it back. The right to read shows pulses. Changes need the right to manage. */
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import { notFound } from "../notes-and-tasks/handlers.ts";
import type { Pulse } from "./store.ts";

export const pulseHandlers = {
  "POST /api/accounts/:accountId/pulses": async ({ ledger, place, path, body, nowMs }) => {
    const { organization, actor } = place;
    const text = body.text.trim();
    if (text === "") throw new ApiError("validation_error", "text is empty: say why, in a sentence.");
    const said = { value: body.value, text };
    const pulse = await ledger.pulses.add(organization.id, path.accountId, said, actor, nowMs);
    if (pulse === undefined) throw notFound({ kind: "account", id: path.accountId });
    return { answer: pulseAnswer(pulse) };
  },

  "DELETE /api/pulses/:id": async ({ ledger, place: { organization, actor }, path, nowMs }) => {
    const isThere = await ledger.pulses.takeBack(organization.id, idIn(path.id, "pulse"), actor, nowMs);
    if (!isThere) throw noSuch("pulse");
    return {};
  },
} satisfies Partial<IntakeHandlers>;

/** A pulse in answers. */
export function pulseAnswer({ id, value, text, saidBy, saidAtMs, takenBackAtMs }: Pulse) {
  return {
    id,
    value,
    text,
    saidBy,
    saidAt: instant(saidAtMs),
    takenBackAt: instantOrNull(takenBackAtMs),
  };
}
