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
  held: Field.count("Items of people who are not identified yet: they wait for 30 days."),
  duplicate: Field.count("Items that were stored before."),
  rejected: Field.count("Items that were refused, each with its reason in the live view."),
  ignored: Field.count("Items that say nothing that is kept here."),
});

/** Stripe's and a webhook's items come when something happens there, the others' when a client sends. */
export const SourceAnswer = Type.Object({
  source: Field.oneOf(senderNames, "api is the write API itself: /identify, /track and /batch."),
  state: Field.oneOf(
    ["never_sent", "sending", "silent", "retired"],
    "silent: nothing that could be taken has come for much longer than its own rhythm explains. retired: somebody said that it was removed.",
  ),
  firstSentAt: nullable(Field.instant("When its first item came.")),
  lastSentAt: nullable(Field.instant("When its latest item came, taken or not.")),
  silentSince: nullable(Field.instant("Its last item that was taken, while it is silent; else null.")),
  retiredAt: nullable(Field.instant("While it is retired; its next item ends that.")),
  rhythm: Field.textOrNull(
    "How often it usually sends, in words; null while less than a week is known of it.",
  ),
  silentFrom: nullable(
    Field.instant("When it will count as silent if nothing comes; null while no claim is made."),
  ),
  share: nullable(Type.Number({ minimum: 0, maximum: 1 }), {
    description:
      "Its part of what the organization sends: the mean over the days of its last 4 weeks. Null before its first item was taken.",
  }),
  freezesScores: Field.boolean("Whether scores wait because it is silent."),
  day: Counts,
  week: Counts,
  hours: Type.Array(Type.Integer({ minimum: 0 }), {
    description:
      "Items that were taken in each of the last 168 hours, the oldest first; the last is not over.",
  }),
});

export const SourcesAnswer = Type.Object({
  sources: Type.Array(SourceAnswer, { description: "All that there can be, in one order." }),
  imported: Type.Object({
    rows: Field.count("Rows of files that `rekindle import` has stored."),
    lastAt: nullable(Field.instant("When it last stored some.")),
  }),
  held: Type.Object({
    people: Field.count("People who are not identified yet, of whom something was said."),
    items: Field.count("Their items, held until an identify or an alias names them."),
    oldestAt: nullable(Field.instant("When the oldest of it came.")),
    droppedFull: Field.count(
      "Items that were dropped since the beginning because a person, or everybody, had too many.",
    ),
    droppedExpired: Field.count(
      "Items that were dropped since the beginning because nobody was named in 30 days.",
    ),
    links: Field.count(
      "Ids that an alias says are somebody's who is not identified yet; without a word for 30 days they are forgotten.",
    ),
  }),
});

export const SourceRetiredAnswer = Type.Object({
  source: Type.Enum([...senderNames]),
  retiredAt: Field.instant("When it was retired. Its next item undoes it."),
});
