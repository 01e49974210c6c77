/** What assistants wrote, as the API lists and undoes it. */
import { assistantAuthor, assistantLimits } from "../../../contract/assistants/assistants.ts";
import { noSuch } from "../../../contract/refusal.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";

export const assistantHandlers = {
  "GET /api/assistant-writes": async ({ ledger, place: { organization } }) => {
    const writes = await ledger.assistantWrites.list(organization.id, assistantLimits.writesShown);
    return {
      answer: {
        writes: writes.map(({ key, atMs, undoneAtMs, ...write }) => ({
          ...write,
          at: instant(atMs),
          author: assistantAuthor(key),
          undoneAt: instantOrNull(undoneAtMs),
        })),
      },
    };
  },

  "POST /api/assistant-writes/:id/undo": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "change by an assistant");
    const write = await ledger.assistantWrites.undoable(organization.id, id);
    if (write === undefined) throw noSuch("change by an assistant that can be undone");
    const { what, target } = write;
    // What is gone already needs no undoing.
    if (what === "note") await ledger.notes.remove(organization.id, target, actor, nowMs);
    else if (what === "task") await ledger.tasks.remove(organization.id, target, actor, nowMs);
    else {
      const today = zoneOf(organization.timezone).dayOf(nowMs);
      const takenBack = { verdict: null, outcome: null };
      await ledger.alerts.change(organization.id, target, takenBack, actor, today, nowMs);
    }
    await ledger.assistantWrites.undone(organization.id, write, actor, nowMs);
    return {};
  },
} satisfies Partial<IntakeHandlers>;
