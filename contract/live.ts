/** The stream of `GET /api/live`: server-sent events about an organization's items as they arrive. */
import Type, { type Static } from "typebox";
import { warningKinds } from "./api/api.ts";
import { closedObject, Field, listOf, nullable, objectOrNull, Parameter } from "./api/schema.ts";
import { sourceNames, sourceOutcomes } from "./sources.ts";
import { ErrorBody } from "./write-api.ts";

/** The limits of the live view, each with its unit in its name. */
export const liveLimits = {
  /** Of a payload; the rest is left out. */
  payloadCharacters: 8 * 1024,
  /** Of an answer; that of a batch names each item that was refused. */
  answerCharacters: 2 * 1024,
  /** Stored items shown in a second, and as many other items; the rest is counted. */
  itemsPerSecond: 60,
  /** Kept for the next watcher. */
  recentItems: 100,
  watchersOfOrganization: 5,
  /** Pages of one person in all organizations. Fewer than an organization's, so that no member locks
   * colleagues out. */
  watchersOfPerson: 3,
  watchers: 50,
} as const;

export const LiveParameters = closedObject({
  after: Parameter.String({
    pattern: "^([a-z0-9]{1,20}-[0-9]{1,15})?$",
    default: "",
    description: "The id of the last item that was received: only newer items are sent.",
  }),
});

/** One identify, track or alias, alone or of a batch; a request that could not be read is one item. */
export const LiveItem = Type.Object({
  id: Field.text("Grows with each item, until the service starts again."),
  at: Field.instant("When the request came in."),
  endpoint: Field.oneOf(
    ["identify", "track", "batch", ...sourceNames],
    "The endpoint of the write API, or the connected source that sent the item.",
  ),
  path: Field.text("The path that the item was sent to, without secrets."),
  kind: nullable(Type.Enum(["identify", "track", "alias", "account"]), {
    description: "Type of the item. Null if it could not be read.",
  }),
  userId: nullable(Field.text("The userId, or else the id of the unidentified visitor.")),
  event: nullable(Field.text("The event's name, for a track.")),
  outcome: Field.oneOf(
    sourceOutcomes,
    "held: the item's user is not identified yet. ignored: the item has nothing that is stored. Both only for connected sources.",
  ),
  error: nullable(ErrorBody, {
    description:
      "Why the item was rejected. The sender got this error, but clients of connected sources get only errors of whole requests. Null if it was not rejected.",
  }),
  ignoredBecause: Field.textOrNull("Why the item was ignored. Null if it was not ignored."),
  status: Field.integer("The status of the request's answer."),
  answer: Field.text("The body of the request's answer, cut off after 2,048 characters."),
  batch: nullable(
    Type.Object({
      index: Field.count("The item's place in its batch."),
      items: Field.count("Items of the batch."),
    }),
  ),
  payload: Field.textOrNull("Payload, cut off after 8,192 characters. Null if it was refused unread."),
  payloadCharacters: Field.count("Characters of the whole payload; for a single request, bytes."),
  idempotencyKey: nullable(Field.text("The Idempotency-Key header.")),
  token: objectOrNull("The project token of the request. Null for viewers, who may not see project tokens.", {
    name: Type.String(),
    lastFour: Type.String(),
  }),
  warnings: listOf("Warnings about a well-formed item.", {
    kind: Type.Enum([...warningKinds]),
    detail: nullable(Type.String()),
  }),
});

/** Items that were not sent, because there were too many or the watcher was too slow. */
export const LiveSkipped = Type.Object({
  at: Field.instant("When the items were counted."),
  accepted: Field.count("Items that were stored."),
  held: Field.count("Items that are held until their user is identified."),
  duplicate: Field.count("Items that were answered 201 and not stored again."),
  rejected: Field.count("Items that were rejected."),
  ignored: Field.count("Items that were ignored."),
});

/** The last message of a stream that the service ends. */
export const LiveEnd = Type.Object({
  message: Type.String(),
  isFinal: Field.boolean("Whether connecting again is useless."),
});

/** The data of one server-sent event, by the event's name. */
export const LiveMessages = Type.Union([
  Type.Object({ event: Type.Literal("item"), data: LiveItem }),
  Type.Object({ event: Type.Literal("skipped"), data: LiveSkipped }),
  Type.Object({ event: Type.Literal("end"), data: LiveEnd }),
]);

export type LiveItem = Static<typeof LiveItem>;
export type LiveSkipped = Static<typeof LiveSkipped>;
export type LiveEnd = Static<typeof LiveEnd>;
