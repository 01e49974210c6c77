/**
 * Names of events with which a user may have left. Until a member of the team has answered whether they mean
 * that, events of the closed list are passive; other names with "cancel" are only asked about.
 */

import type { Settings } from "../settings.ts";
import { eventsOfTargets } from "./churn-targets.ts";
import { contactEvent } from "./contacts.ts";

const things = ["subscription", "account"];
const ends = ["canceled", "cancelled", "deleted"];
const departures = new Set([...things.flatMap((thing) => ends.map((end) => thing + end)), "churned"]);

/** Whether an event's name is one of the closed list. Case and separators are ignored:
 * `Subscription.Cancelled` is. */
export function isDepartureName(event: string): boolean {
  return departures.has(event.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));
}

type Answers = Pick<Settings, "passiveEvents" | "keyEvents" | "churnTargets" | "ordinaryEvents">;

/** Whether an event with this name is passive until a setting says what it means. */
export function waitsForAnswer(event: string): boolean {
  return isDepartureName(event) || event === contactEvent;
}

/** Whether the settings say what an event means. */
function isAnswered(
  event: string,
  { passiveEvents, keyEvents, churnTargets, ordinaryEvents }: Answers,
): boolean {
  return [eventsOfTargets(churnTargets), passiveEvents, keyEvents, ordinaryEvents].some((names) =>
    names.includes(event),
  );
}

/** The names that may mean that a user has left, and that no setting mentions yet. */
export function askedAbout(names: readonly string[], answers: Answers): string[] {
  const mayBeDeparture = (event: string) => isDepartureName(event) || event.toLowerCase().includes("cancel");
  return names.filter((event) => mayBeDeparture(event) && !isAnswered(event, answers));
}

/** Events that are no engagement: passive events of the settings, departures that wait for an answer, and
 * contacts. */
export function passiveEventsOf(names: readonly string[], answers: Answers): string[] {
  const unanswered = names.filter((event) => waitsForAnswer(event) && !isAnswered(event, answers));
  return [...answers.passiveEvents, ...unanswered].toSorted();
}
