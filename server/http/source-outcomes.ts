/** What became of each item of a connected source's request, told in one place to all who want to know. */
import type { SourceName, SourceOutcome } from "../../contract/sources.ts";
import {
  type Arrival,
  type Intake,
  isInvalid,
  type SourcedItem,
  type SourcedOutcome,
  type WatchedRequest,
} from "../intake/intake.ts";
import type { TranslatedItem } from "../sources/sources.ts";

/** An item as it was sent, what it was taken for, and what became of it. */
interface ItemOutcome {
  readonly sent: unknown;
  readonly item?: SourcedItem | undefined;
  readonly outcome: SourceOutcome;
  /** Why it was rejected or ignored; of one that was taken, why something was refused that it says beside. */
  readonly reason?: string | undefined;
}

/** The outcome of each item of a request, in its order. @param decided the outcomes of what all of them say, in order */
export function outcomesOf(
  translated: readonly TranslatedItem[],
  decided: readonly SourcedOutcome[],
): ItemOutcome[] {
  let next = 0;
  return translated.map(({ sent, translated: said }) => {
    if ("invalid" in said) return { sent, outcome: "rejected", reason: said.invalid };
    if ("ignored" in said) return { sent, outcome: "ignored", reason: said.ignored };
    const own = decided.slice(next, next + said.items.length);
    next += said.items.length;
    const outcome = own.at(-1);
    if (outcome === undefined) return { sent, outcome: "ignored" };
    const refused = isInvalid(outcome) ? outcome : own.find(isInvalid);
    return { sent, item: said.items.at(-1), outcome: nameOf(outcome), reason: refused?.invalid };
  });
}

function nameOf(outcome: SourcedOutcome): SourceOutcome {
  if (outcome === "stored") return "accepted";
  return outcome === "parked" || outcome === "duplicate" ? outcome : "rejected";
}

/** Tells of the outcomes: to the warnings, and to who watches. */
export function noteOutcomes(
  source: SourceName,
  arrival: Arrival,
  outcomes: readonly ItemOutcome[],
  intake: Pick<Intake, "noteSourced">,
  watched: WatchedRequest | undefined,
): void {
  for (const [index, { sent, item, outcome, reason }] of outcomes.entries()) {
    if (reason !== undefined && outcome !== "ignored") {
      intake.noteSourced(source, arrival, "refused_validation", sent, reason);
    }
    if (outcome === "duplicate") intake.noteSourced(source, arrival, "duplicate", sent);
    const batch = outcomes.length > 1 ? { index, items: outcomes.length } : null;
    watched?.sourcedItem({ sent, item, outcome, reason, batch });
  }
}
