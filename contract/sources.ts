/**
 * Senders: the tools that are connected as sources, and the write API itself. How much came from each, when,
 * and whether one has fallen silent.
 */
import Type from "typebox";
import { Field, nullable } from "./api/schema.ts";

/** Connected sources, by the tool whose client sends. */
export const sourceNames = [
  "segment",
  "rudderstack",
  "customerio",
  "posthog",
  "jitsu",
  "dittofeed",
  "openpanel",
  "mixpanel",
  "stripe",
  "webhook",
] as const;
export type SourceName = (typeof sourceNames)[number];

/** All that is counted apart: `api` is the write API, /identify, /track and /batch. */
export const senderNames = [...sourceNames, "api"] as const;
export type SenderName = (typeof senderNames)[number];

/** The outcome of an item. */
export const sourceOutcomes = ["accepted", "held", "duplicate", "rejected", "ignored"] as const;
export type SourceOutcome = (typeof sourceOutcomes)[number];

export const sourceLimits = {
  /** Hours for which counts are kept apart; totals stay. */
  keptHours: 8 * 7 * 24,
  /** Days of the chart. */
  shownHours: 7 * 24,
  /** A source freezes scores from this share of the organization's items on. */
  freezingShare: 0.1,
} as const;

const Counts = Type.Object({
  accepted: Field.count("Items that were stored."),
  held: Field.count("Held items: their users are not identified yet. They are held for 30 days."),
  duplicate: Field.count("Items that were already stored."),
  rejected: Field.count("Items that were rejected. The live view has the reason for each item."),
  ignored: Field.count("Ignored items, which have nothing that is stored."),
});

/** Items of Stripe and of webhooks come when something happens there; items of other sources when a client
 * sends. */
export const SourceAnswer = Type.Object({
  source: Field.oneOf(senderNames, "api is the write API itself: /identify, /track and /batch."),
  state: Field.oneOf(
    ["never_sent", "sending", "silent", "retired"],
    "silent: no accepted item has come for much longer than usual. retired: a team member marked the source as removed.",
  ),
  firstSentAt: nullable(Field.instant("When the source's first item came. Null if never.")),
  lastSentAt: nullable(Field.instant("When the source's latest item came, accepted or not. Null if never.")),
  silentSince: nullable(
    Field.instant("When the last accepted item came, if the source is silent. Otherwise null."),
  ),
  retiredAt: nullable(
    Field.instant(
      "When the source was retired. Null if it is not retired; its next item undoes a retirement.",
    ),
  ),
  rhythm: Field.textOrNull("How often the source usually sends, in words. Null in its first week."),
  silentFrom: nullable(
    Field.instant("When the source will count as silent if nothing comes. Null if that cannot be said."),
  ),
  share: nullable(Type.Number({ minimum: 0, maximum: 1 }), {
    description:
      "The source's share of all items of the organization, 0 to 1: the mean over the days of its last 4 weeks. Null before its first accepted item.",
  }),
  freezesScores: Field.boolean("Whether scores wait because the source is silent."),
  day: Counts,
  week: Counts,
  hours: Type.Array(Type.Integer({ minimum: 0 }), {
    description:
      "Accepted items in each of the last 168 hours, the oldest hour first. The last hour is not over.",
  }),
});

export const SourcesAnswer = Type.Object({
  sources: Type.Array(SourceAnswer, {
    description: "All sources, whether they have sent or not, always in the same order.",
  }),
  imported: Type.Object({
    rows: Field.count("Rows of files that `rekindle import` has stored."),
    lastAt: nullable(Field.instant("When `rekindle import` last stored rows. Null if never.")),
  }),
  held: Type.Object({
    people: Field.count("Unidentified visitors with held items."),
    items: Field.count("Held items, which wait until an identify or an alias names their user."),
    oldestAt: nullable(Field.instant("When the oldest held item came. Null if none is held.")),
    droppedFull: Field.count(
      "Held items that were dropped so far, because a visitor, or the organization, had too many.",
    ),
    droppedExpired: Field.count(
      "Held items that were dropped so far, because their user was not identified within 30 days.",
    ),
    links: Field.count(
      "Ids that an alias has linked to an unidentified visitor. They are forgotten after 30 days without a new item.",
    ),
  }),
});

export const SourceRetiredAnswer = Type.Object({
  source: Type.Enum([...senderNames]),
  retiredAt: Field.instant("When the source was retired. Its next item undoes the retirement."),
});
