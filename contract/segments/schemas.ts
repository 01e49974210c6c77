/** Segments, as JSON Schema: bodies and answers. */
import Type from "typebox";
import { closedObject, Field, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { FilterSchema } from "./filters.ts";
import { segmentCauses, segmentHistoryLimits, segmentKinds, segmentLimits } from "./segments.ts";

const name = Type.String({
  ...nameRules,
  maxLength: segmentLimits.nameCharacters,
  description: "Unique among the organization's segments.",
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
  members: Field.count("Users or accounts that match now, without excluded users."),
});

export const SegmentSizesAnswer = Type.Object({
  segments: listOf("By name.", {
    id: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...segmentKinds]),
    name: Type.String(),
    members: nullable(
      Field.count("Users or accounts in the segment when it was last evaluated, without excluded users."),
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
  fixed: nullable(Field.count("Users or accounts in a fixed segment, including excluded users."), {
    description: "Null for a segment with a filter.",
  }),
  usedBy: listOf("Segments whose filters use this segment.", {
    id: Type.Integer({ minimum: 1 }),
    name: Type.String(),
  }),
  createdBy: nullable(Field.text("The name of the author."), {
    description: "Null if the author has left, or was not a team member.",
  }),
  createdAt: Field.instant("When it was saved."),
  updatedAt: Field.instant("When it was changed last."),
};

const unknownIds = Type.Array(Type.String(), {
  description: "Ids of the request that belong to no user or account. They are left out of the segment.",
});

export const SegmentAnswer = Type.Object(segmentFields);

export const SegmentSavedAnswer = Type.Object({ ...segmentFields, unknownIds });

export const SegmentsAnswer = Type.Object({ segments: listOf("By name.", segmentFields) });

const causeText =
  "Why members changed. change: their own data, or the time that passed. edit: the segment, or a segment in its filter, was edited. scores: another model, other bands or other settings of scores. bulk: an import, exclusions, settings, another owner, an erasure of other users, or days without data. first: already a member at the first evaluation.";

const ofSegment = {
  segment: Type.Object({
    id: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...segmentKinds]),
    name: Type.String(),
  }),
  firstEvaluatedAt: nullable(Field.instant("When the members of the segment were first recorded."), {
    description: "Null before the first evaluation.",
  }),
  lastEvaluatedAt: nullable(
    Field.instant("When the members of the segment, or the data that decide on them, last changed."),
    {
      description: "Null before the first evaluation.",
    },
  ),
};

export const SegmentHistoryParameters = closedObject({
  days: Parameter.positive(segmentHistoryLimits.days, 90, "Days to show, today included."),
});

export const SegmentHistoryAnswer = Type.Object({
  ...ofSegment,
  days: listOf("By day. Days without an evaluation are left out, such as days on which data had stopped.", {
    day: Field.day("A day in the organization's timezone."),
    size: Field.count("Members at the last evaluation of the day, without excluded users."),
    entered: Field.count("Users or accounts that entered, without members of the first evaluation."),
    left: Field.count("Users or accounts that left, without erased users and accounts."),
    causes: Type.Array(Type.Enum([...segmentCauses]), { description: causeText }),
  }),
});

export const SegmentChangesParameters = closedObject({
  limit: Parameter.positive(
    segmentHistoryLimits.changes,
    segmentHistoryLimits.changes,
    "At most this many changes.",
  ),
  before: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,15}-[0-9]{1,10}$",
      description: "`next` of the previous page, to get older changes.",
      "x-send": "the `next` of the previous page",
    }),
  ),
});

export const SegmentChangesAnswer = Type.Object({
  ...ofSegment,
  changes: listOf("The newest first, without members of the first evaluation.", {
    entityId: Field.text("The userId or the accountId."),
    entityLabel: Field.text("A name, else an e-mail address, else the id."),
    at: Field.instant("When the evaluation noticed the change."),
    change: Field.oneOf(["entered", "left"], "entered: became a member. left: is no member any more."),
    cause: Field.oneOf([...segmentCauses], causeText),
  }),
  next: Field.textOrNull("Send it as `before` to get older changes. Null on the last page."),
});
