/** Segments, as JSON Schema: bodies and answers. */
import Type from "typebox";
import { closedObject, Field, listOf, nullable } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { FilterSchema } from "./filters.ts";
import { segmentKinds, segmentLimits } from "./segments.ts";

const name = Type.String({
  ...nameRules,
  maxLength: segmentLimits.nameCharacters,
  description: "One segment of the organization has it.",
  "x-send": `1 to ${segmentLimits.nameCharacters} characters and no control character`,
});

const kind = Type.Enum([...segmentKinds], { "x-send": `one of ${segmentKinds.join(", ")}` });

const ids = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
  minItems: 1,
  maxItems: segmentLimits.fixedIds,
  description: "The userIds or accountIds of a fixed segment.",
  "x-send": `a list of 1 to ${segmentLimits.fixedIds} userIds or accountIds`,
});

/** A new segment: with a filter, or with ids. */
export const SegmentCreateBody = closedObject({
  kind,
  name,
  filter: Type.Optional(FilterSchema),
  ids: Type.Optional(ids),
});

export const SegmentChangeBody = closedObject(
  { name: Type.Optional(name), filter: Type.Optional(FilterSchema), ids: Type.Optional(ids) },
  { minProperties: 1, "x-send": "a JSON object with at least one of name, filter, ids" },
);

export const SegmentPreviewBody = closedObject({ kind, filter: FilterSchema });

const members = Field.count("Users or accounts that are in it now, without excluded users.");

export const SegmentPreviewAnswer = Type.Object({ members });

export const SegmentSizesAnswer = Type.Object({
  segments: listOf("By name.", {
    id: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...segmentKinds]),
    name: Type.String(),
    members,
  }),
});

const segmentFields = {
  id: Type.Integer({ minimum: 1 }),
  kind: Type.Enum([...segmentKinds]),
  name: Type.String(),
  filter: nullable(FilterSchema, { description: "Null for a fixed segment." }),
  fixed: nullable(Field.count("Users or accounts of a fixed segment, excluded ones among them."), {
    description: "Null for a segment with a filter.",
  }),
  usedBy: listOf("Segments whose filters have this one.", {
    id: Type.Integer({ minimum: 1 }),
    name: Type.String(),
  }),
  createdBy: nullable(Field.text("A name."), {
    description: "Null when the person is not there any more, or was none.",
  }),
  createdAt: Field.instant("When it was saved."),
  updatedAt: Field.instant("When it was changed last."),
};

const unknownIds = Type.Array(Type.String(), {
  description: "Ids that were sent and mean no user, or no account. They are left out.",
});

export const SegmentAnswer = Type.Object(segmentFields);

export const SegmentSavedAnswer = Type.Object({ ...segmentFields, unknownIds });

export const SegmentsAnswer = Type.Object({ segments: listOf("By name.", segmentFields) });
