/** Segments. The right to read shows them. Changes need the right to manage. */

import { noSuch, Refusal } from "../../../contract/refusal.ts";
import type { Filter } from "../../../contract/segments/filters.ts";
import { segmentAnswer } from "../../figures/segment-answer.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import type { Actor } from "../../ledger/audit.ts";
import type { SegmentContent } from "./segments.ts";

export const segmentHandlers = {
  "GET /api/segments": async ({ ledger, place }) => {
    const segments = await ledger.segments.list(place.organization.id);
    return { answer: { segments: segments.map((segment) => segmentAnswer(segment, segments)) } };
  },

  "POST /api/segments": async ({ ledger, place, body, nowMs }) => {
    const { organization, actor } = place;
    const content = contentOf(body, actor);
    if (content === undefined) throw oneOfThem();
    const wanted = { kind: body.kind, name: body.name.trim(), content };
    const { segment, unknownIds } = await ledger.segments.add(organization.id, wanted, actor, nowMs);
    return { answer: { ...segmentAnswer(segment, []), unknownIds: [...unknownIds] } };
  },

  "PATCH /api/segments/:id": async ({ ledger, place, path, body, nowMs }) => {
    const { organization, actor } = place;
    const change = { name: body.name?.trim(), content: contentOf(body, actor) };
    const id = idIn(path.id, "segment");
    const saved = await ledger.segments.change(organization.id, id, change, actor, nowMs);
    if (saved === undefined) throw noSuch("segment");
    const segments = await ledger.segments.list(organization.id);
    return { answer: { ...segmentAnswer(saved.segment, segments), unknownIds: [...saved.unknownIds] } };
  },

  "DELETE /api/segments/:id": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const isGone = await ledger.segments.remove(organization.id, idIn(path.id, "segment"), actor, nowMs);
    if (!isGone) throw noSuch("segment");
    return {};
  },
} satisfies Partial<IntakeHandlers>;

interface SentContent {
  readonly filter?: Filter;
  readonly ids?: readonly string[];
}

/** @throws Refusal when both are there */
function contentOf({ filter, ids }: SentContent, actor: Actor): SegmentContent | undefined {
  if (filter !== undefined && ids !== undefined) throw oneOfThem();
  if (ids !== undefined) return { ids };
  return filter && { filter: withOwnId(filter, actor) };
}

function oneOfThem(): Refusal {
  return new Refusal("filter is not valid: send either filter or ids.");
}

/** A filter by one's own users is kept with one's id. */
function withOwnId(filter: Filter, { person }: Actor): Filter {
  return filter.owner === "me" && person !== null ? { ...filter, owner: String(person.id) } : filter;
}
