/** What each kind of ingestion warning means, and what to do about it. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { Badge } from "../../parts/figure/health.tsx";

export type WarningKind = Reads["/api/ingestion-warnings"]["answer"]["warnings"][number]["kind"];

interface Words {
  readonly word: string;
  readonly tone: "warn" | "bad" | "info";
  readonly meaning: string;
  readonly advice: string;
}

export const warningWords: Readonly<Record<WarningKind, Words>> = {
  refused_validation: {
    ...{ word: "Refused: not valid", tone: "bad" },
    meaning: "The request was answered 400 and nothing of it was stored.",
    advice: "The message says which field is wrong and what to send. Send it again when it is mended.",
  },
  refused_unknown_user: {
    ...{ word: "Refused: unknown user", tone: "bad" },
    meaning: "An event came of a user who was never identified: it was answered 404 and not stored.",
    advice: "Send an identify for the user first, then the event again.",
  },
  rate_limited: {
    ...{ word: "Refused: too many", tone: "bad" },
    meaning: "Requests came faster than the organization's limit: they were answered 429 and not stored.",
    advice: "Send batches, or wait as Retry-After says. An owner can raise the limit in the settings.",
  },
  unknown_key: {
    ...{ word: "Unknown key", tone: "warn" },
    meaning: "The request was stored, but a key of it means nothing here and was left out.",
    advice: "Is it misspelt? Traits and properties of your own belong into `properties`.",
  },
  held_full: {
    ...{ word: "Dropped: too many wait", tone: "bad" },
    meaning: "More came of somebody who is not identified yet than can wait, and the oldest was dropped.",
    advice: "Does the source identify its users? Events wait until an identify or an alias names the person.",
  },
  held_expired: {
    ...{ word: "Dropped: never named", tone: "bad" },
    meaning: "It waited for 30 days, and nobody was identified by its id.",
    advice: "Nothing, for visitors who never sign up. Otherwise send an identify with the visitor's id.",
  },
  held_refused: {
    ...{ word: "Dropped: not valid", tone: "bad" },
    meaning: "What waited for a user could not become theirs.",
    advice: "The message says why: the user would have had too many traits, say.",
  },
  links_full: {
    ...{ word: "Not linked: too many ids", tone: "bad" },
    meaning:
      "Two ids were said to be one person, and there was no room to remember it: one user has 1,000 ids, or too many lead to people who were never identified.",
    advice: "Does a program alias ids that it makes up? Say them of users who are identified, or not at all.",
  },
  email_left_out: {
    ...{ word: "E-mail left out", tone: "warn" },
    meaning: "A connected source sent an e-mail address that is none: the rest was stored.",
    advice: "Send the address as the trait `email`, or nothing while none is known.",
  },
  trait_left_out: {
    ...{ word: "Trait left out", tone: "warn" },
    meaning: "A trait with a meaning of its own, `plan` say, was no text: the rest was stored.",
    advice: "Send it as a string, and pictures as the address of one.",
  },
  browser_field_ignored: {
    ...{ word: "Field ignored", tone: "warn" },
    meaning:
      "A browser token tried to change the e-mail, the account owner or the account of a user who exists: the rest was stored.",
    advice: "Send this field from your server, with a server token.",
  },
  event_in_future: {
    ...{ word: "Event of the future", tone: "warn" },
    meaning: "The event was stored, but its time lies more than 10 minutes ahead.",
    advice: "Is the sender's clock wrong, or its timezone? Send times with Z or an offset.",
  },
  duplicate: {
    ...{ word: "Duplicate", tone: "info" },
    meaning: "The message came before, within 24 hours: it was answered 201 and not stored again.",
    advice: "Nothing, when it was a retry. Otherwise two different messages have the same messageId.",
  },
};

/** The kinds, those of what was lost first. */
export const warningKinds = Object.keys(warningWords) as WarningKind[];

/** A kind of warning in a word. */
export function WarningBadge({ kind }: { kind: WarningKind }): ReactElement {
  const { word, tone } = warningWords[kind];
  return <Badge tone={tone}>{word}</Badge>;
}
