/** What became of each item of a connected source's request, told in one place to all who want to know. */
import type { LiveItem } from "../../contract/live.ts";
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
export interface ItemOutcome {
  readonly sent: unknown;
  readonly item?: SourcedItem | undefined;
  readonly outcome: SourceOutcome;
  /** Why it was rejected or ignored. */
  readonly reason?: string | undefined;
  readonly warnings: LiveItem["warnings"];
}

/** What was decided of one thing that an item says. */
interface Decided {
  readonly outcome: SourcedOutcome;
  readonly warnings: LiveItem["warnings"];
}

/** Stores what the items of a request say, in one commit; the outcome of each item. Rejects when the ledger failed. */
export async function storeSourced(
  translated: readonly TranslatedItem[],
  arrival: Arrival,
  source: SourceName,
  intake: Pick<Intake, "sourced">,
): Promise<ItemOutcome[]> {
  const said = translated.flatMap(({ translated: one }) => ("items" in one ? one.items : []));
  const warnings: LiveItem["warnings"][] = said.map(() => []);
  let next = 0;
  const outcomes = await intake.sourced(said, arrival, source, {
    note: ({ kind, detail }) => warnings[next]?.push({ kind, detail }),
    decided: (index) => {
      next = index + 1;
    },
  });
  const decided = outcomes.map((outcome, index) => ({ outcome, warnings: warnings[index] ?? [] }));
  return outcomesOf(translated, decided);
}

/** The outcome of each item of a request, in its order. @param decided what was decided of all that they say, in order */
function outcomesOf(translated: readonly TranslatedItem[], decided: readonly Decided[]): ItemOutcome[] {
  let next = 0;
  return translated.map(({ sent, translated: said }) => {
    if ("invalid" in said) return { sent, outcome: "rejected", reason: said.invalid, warnings: [] };
    if ("ignored" in said) return { sent, outcome: "ignored", reason: said.ignored, warnings: [] };
    const own = decided.slice(next, next + said.items.length);
    next += said.items.length;
    const outcome = own.at(-1)?.outcome;
    if (outcome === undefined) return { sent, outcome: "ignored", warnings: [] };
    const reason = isInvalid(outcome) ? outcome.invalid : undefined;
    const warnings = own.flatMap((one) => one.warnings);
    return { sent, item: said.items.at(-1), outcome: nameOf(outcome), reason, warnings };
  });
}

function nameOf(outcome: SourcedOutcome): SourceOutcome {
  if (outcome === "stored") return "accepted";
  return outcome === "parked" || outcome === "duplicate" ? outcome : "rejected";
}

/** Tells of the outcomes: to who watches, and of what no translation took to the ingestion warnings, where intake counts
 * all others itself. */
export function noteOutcomes(
  source: SourceName,
  organization: number,
  outcomes: readonly ItemOutcome[],
  { intake, watched }: { intake: Pick<Intake, "noteTurnedAway">; watched: WatchedRequest | undefined },
): void {
  for (const [index, outcome] of outcomes.entries()) {
    const { item, reason } = outcome;
    if (item === undefined && reason !== undefined && outcome.outcome === "rejected") {
      intake.noteTurnedAway(source, organization, "refused_validation", reason);
    }
    watched?.sourcedItem(outcome, outcomes.length > 1 ? { index, items: outcomes.length } : null);
  }
}
