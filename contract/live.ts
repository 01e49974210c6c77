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
  /** Shown in a second, of those that were stored and of the others each; the rest is counted. */
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
    description: "The id of the last item that is known: only newer ones are sent.",
  }),
});

/** One identify, track or alias, alone or of a batch; a request that could not be read is one item. */
export const LiveItem = Type.Object({
  id: Field.text("Counts up within one life of the service."),
  at: Field.instant("When the request came in."),
  endpoint: Field.oneOf(
    ["identify", "track", "batch", ...sourceNames],
    "Of the write API, or the connected source that sent it.",
  ),
  path: Field.text("Where it was sent, without what is secret in an address."),
  kind: nullable(Type.Enum(["identify", "track", "alias", "account"]), {
    description: "Type of the item; null where it could not be read.",
  }),
  userId: nullable(Field.text("A visitor's id where there is no user's.")),
  event: nullable(Field.text("The event's name, of a track.")),
  outcome: Field.oneOf(
    sourceOutcomes,
    "held: its user is not identified yet. ignored: it says nothing that is kept here. Both only of connected sources.",
  ),
  error: nullable(ErrorBody, {
    description:
      "Why it was rejected, as the sender was told; clients of connected sources are told only of whole requests.",
  }),
  ignoredBecause: Field.textOrNull("Why it was ignored."),
  status: Field.integer("The status of the request's answer."),
  answer: Field.text("The body of the request's answer, cut off after 2,048 characters."),
  batch: nullable(
    Type.Object({ index: Field.count("The item's place in its batch."), items: Field.count("All of it.") }),
  ),
  payload: Field.textOrNull("Payload, cut off after 8,192 characters; null when it was refused unread."),
  payloadCharacters: Field.count("Of the whole payload; of a single request, bytes."),
  idempotencyKey: nullable(Field.text("The Idempotency-Key header.")),
  token: objectOrNull("Null for who has no right to manage: they see no project tokens elsewhere either.", {
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
  at: Field.instant("When it was counted."),
  accepted: Field.count("Stored."),
  held: Field.count("Kept until their user is identified."),
  duplicate: Field.count("Answered 201 and not stored again."),
  rejected: Field.count("Refused."),
  ignored: Field.count("Of no meaning here."),
});

/** The last message of a stream that the service ends. */
export const LiveEnd = Type.Object({
  message: Type.String(),
  isFinal: Field.boolean("To connect again is of no use."),
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
