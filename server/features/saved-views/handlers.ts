/** Saved views. The right to read shows them. Changes need the right to manage. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { currentQuery } from "../../../contract/older-addresses.ts";
import { noSuch, Refusal } from "../../../contract/refusal.ts";
import { instant } from "../../calendar/instant.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import { mayNameUser } from "../../ledger/rules/segment-rules.ts";
import type { View } from "./store.ts";

export const viewHandlers = {
  "GET /api/views": async ({ ledger, place }) => ({
    answer: { views: (await ledger.views.list(place.organization.id)).map(viewAnswer) },
  }),

  "POST /api/views": async ({ ledger, place, body, nowMs }) => {
    const view = { ...body, name: body.name.trim(), query: viewQuery(body.query) };
    return { answer: viewAnswer(await ledger.views.add(place.organization.id, view, place.actor, nowMs)) };
  },

  "PATCH /api/views/:id": async ({ ledger, place, path, body, nowMs }) => {
    const change = {
      ...(body.name !== undefined && { name: body.name.trim() }),
      ...(body.query !== undefined && { query: viewQuery(body.query) }),
    };
    const { organization, actor } = place;
    const view = await ledger.views.change(organization.id, idIn(path.id, "view"), change, actor, nowMs);
    if (view === undefined) throw noSuch("view");
    return { answer: viewAnswer(view) };
  },

  "DELETE /api/views/:id": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const isGone = await ledger.views.remove(organization.id, idIn(path.id, "view"), actor, nowMs);
    if (!isGone) throw noSuch("view");
    return {};
  },
} satisfies Partial<IntakeHandlers>;

/** @throws Refusal when the query has a search text: it may name a user, and an erasure would not find it
 * here */
function viewQuery(text: string): string {
  const query = new URLSearchParams(text);
  const single = { trait: query.get("trait"), value: query.get("value") };
  if (query.has("search") || [single, ...traitsIn(query.get("traits"))].some(mayNameUser)) {
    throw new Refusal("query is not valid: leave out search and values of names, which may name a user.");
  }
  return currentQuery(text);
}

/** @throws Refusal when they are no filters by traits */
function traitsIn(text: string | null): readonly JsonObject[] {
  if (text === null) return [];
  try {
    const traits: unknown = JSON.parse(text);
    if (Array.isArray(traits) && traits.every(isJsonObject)) return traits;
  } catch {
    // Said below.
  }
  throw new Refusal(
    "query is not valid: send traits as a JSON array of objects with trait, match and value.",
  );
}

function viewAnswer({ createdAtMs, updatedAtMs, ...view }: View) {
  const times = { createdAt: instant(createdAtMs), updatedAt: instant(updatedAtMs) };
  return { ...view, query: currentQuery(view.query), ...times };
}
