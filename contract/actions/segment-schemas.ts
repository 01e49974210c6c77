/** Segments, as JSON Schema: bodies and answers. */
import Type from "typebox";
import { closedObject, Field, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { FilterSchema } from "./filters.ts";
import { segmentCauses, segmentHistoryLimits, segmentKinds, segmentLimits } from "./segments.ts";

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

/** A new segment of the users of a retention cell. */
export const SegmentOfCellBody = closedObject({ name });

export const SegmentChangeBody = closedObject(
  { name: Type.Optional(name), filter: Type.Optional(FilterSchema), ids: Type.Optional(ids) },
  { minProperties: 1, "x-send": "a JSON object with at least one of name, filter, ids" },
);

export const SegmentPreviewBody = closedObject({ kind, filter: FilterSchema });

export const SegmentPreviewAnswer = Type.Object({
  members: Field.count("Users or accounts that are in it now, without excluded users."),
});

export const SegmentSizesAnswer = Type.Object({
  segments: listOf("By name.", {
    id: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...segmentKinds]),
    name: Type.String(),
    members: nullable(
      Field.count("Users or accounts that were in it when it was last evaluated, without excluded users."),
      {
        description: "Null for some seconds after the segment was made or changed.",
      },
    ),
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

const causeText =
  "Why members changed. change: their own data, or the time that passed. edit: the segment, or one in its filter, was edited. scores: another model, other bands or other settings of scores. bulk: an import, exclusions, settings, another owner, an erasure of others, or days without data. first: members of the first evaluation.";

const ofSegment = {
  segment: Type.Object({
    id: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...segmentKinds]),
    name: Type.String(),
  }),
  firstEvaluatedAt: nullable(Field.instant("When its members were recorded first."), {
    description: "Null while they have not been.",
  }),
  lastEvaluatedAt: nullable(
    Field.instant("When its members, or what decides on them, were different last."),
    {
      description: "Null before the first evaluation.",
    },
  ),
};

export const SegmentHistoryParameters = closedObject({
  days: Parameter.positive(segmentHistoryLimits.days, 90, "So many days, which end today."),
});

export const SegmentHistoryAnswer = Type.Object({
  ...ofSegment,
  days: listOf("In order. Days without an evaluation are left out: while data has stopped there is none.", {
    day: Field.day("A day in the organization's timezone."),
    size: Field.count("Members at the last evaluation of the day, without excluded users."),
    entered: Field.count("Users or accounts that entered. Members of the first evaluation did not."),
    left: Field.count("Users or accounts that left. Erased ones are not counted."),
    causes: Type.Array(Type.Enum([...segmentCauses]), { description: causeText }),
  }),
});

export const SegmentChangesParameters = closedObject({
  limit: Parameter.positive(segmentHistoryLimits.changes, segmentHistoryLimits.changes, "At most this many."),
  before: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,15}-[0-9]{1,10}$",
      description: "`next` of a page, for the changes before it.",
      "x-send": "the `next` of a page",
    }),
  ),
});

export const SegmentChangesAnswer = Type.Object({
  ...ofSegment,
  changes: listOf("The newest first, without members of the first evaluation.", {
    entityId: Field.text("The userId or the accountId."),
    entityLabel: Field.text("A name, else an e-mail address, else the id."),
    at: Field.instant("When the evaluation noticed it."),
    change: Field.oneOf(["entered", "left"], "Whether they became a member."),
    cause: Field.oneOf([...segmentCauses], causeText),
  }),
  next: Field.textOrNull("To be sent as `before` for older changes; null at the end."),
});
