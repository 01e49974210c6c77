/** Reports the outcome of each item of a connected source's request: to counts, ingestion warnings and the
 * live view. */
import type { LiveItem } from "../../../contract/live.ts";
import type { SourceName, SourceOutcome } from "../../../contract/sources.ts";
import type { Arrival } from "../../intake/admission/admit-event.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import { type KeptValue, keptDetail } from "../../intake/admission/kept-values.ts";
import type { SourcedItem } from "../../intake/admission/sourced.ts";
import { isStored, type SourcedOutcome } from "../../intake/decide/requests.ts";
import type { Intake } from "../../intake/intake-service.ts";
import type { WatchedRequest } from "../../intake/watched-request.ts";
import type { TranslatedItem } from "../../sources/source.ts";

/** An item as it was sent, what it was taken for, and what became of it. */
interface ItemOutcome {
  readonly sent: unknown;
  readonly item?: SourcedItem | undefined;
  readonly outcome: SourceOutcome;
  /** Why it was rejected or ignored. */
  readonly reason?: string | undefined;
  /** It is of a billing tool's test mode. */
  readonly isTestMode?: boolean;
  /** What was changed of it so that it can be kept. */
  readonly kept?: readonly { readonly kind: KeptValue["kind"]; readonly detail: string }[];
  readonly warnings: LiveItem["warnings"];
}

/** The decision on one part of an item. */
interface Decided {
  readonly outcome: SourcedOutcome;
  readonly warnings: LiveItem["warnings"];
}

/** Stores what the items of a request say, a large request in several commits, and tells of the outcome of
 * each item: counts, ingestion warnings and the live view. Rejects when the ledger failed; the items that
 * were decided before are stored then, and told of. */
export async function storeSourced(
  translated: readonly KeptItem[],
  arrival: Arrival,
  source: SourceName,
  listeners: Listeners,
): Promise<void> {
  const items = translated.flatMap(({ translated: one }) => ("items" in one ? one.items : []));
  const decided: Decided[] = [];
  let warnings: LiveItem["warnings"] = [];
  try {
    await listeners.intake.sourced(items, arrival, source, {
      note: ({ kind, detail }) => warnings.push({ kind, detail }),
      decided: (_index, outcome) => {
        decided.push({ outcome, warnings });
        warnings = [];
      },
    });
  } finally {
    const outcomes = outcomesOf(translated, decided);
    noteOutcomes(source, arrival.organization, { outcomes, items: translated.length }, listeners);
  }
}

/** An item, and what was changed of it so that it can be kept. */
export interface KeptItem extends TranslatedItem {
  readonly changed?: readonly KeptValue[];
}

/** Receivers of the outcomes. */
interface Listeners {
  readonly intake: Pick<Intake, "sourced" | "noteRefused" | "noteTaken" | "countSourced">;
  readonly watched: WatchedRequest | undefined;
}

/** The outcome of each item of a request, in its order, up to the first of which something was not decided.
 * @param decided what was decided of all that they say, in order */
function outcomesOf(translated: readonly KeptItem[], decided: readonly Decided[]): ItemOutcome[] {
  const outcomes: ItemOutcome[] = [];
  let next = 0;
  for (const { sent, translated: one, changed = [] } of translated) {
    const parts = "items" in one ? one.items.length : 0;
    const own = decided.slice(next, next + parts);
    if (own.length < parts) break;
    next += parts;
    const outcome = outcomeOf(sent, one, own);
    const kept = changed.map(({ kind, path }) => ({ kind, detail: keptDetail({ path }) }));
    outcomes.push({ ...outcome, kept, warnings: [...kept, ...outcome.warnings] });
  }
  return outcomes;
}

function outcomeOf(
  sent: unknown,
  translated: TranslatedItem["translated"],
  decided: readonly Decided[],
): ItemOutcome {
  if ("invalid" in translated) return { sent, outcome: "rejected", reason: translated.invalid, warnings: [] };
  if ("ignored" in translated) {
    const { ignored, isTestMode = false } = translated;
    return { sent, outcome: "ignored", reason: ignored, isTestMode, warnings: [] };
  }
  const outcome = decided.at(-1)?.outcome;
  if (outcome === undefined) return { sent, outcome: "ignored", warnings: [] };
  const reason = isInvalid(outcome) ? outcome.invalid : undefined;
  const warnings = decided.flatMap((one) => one.warnings);
  return { sent, item: translated.items.at(-1), outcome: nameOf(outcome), reason, warnings };
}

function nameOf(outcome: SourcedOutcome): SourceOutcome {
  if (isStored(outcome)) return "accepted";
  if (outcome === "held") return "held";
  return outcome === "duplicate" ? outcome : "rejected";
}

/** Reports the outcomes to the live view and the counts. Items that could not be translated also go to the
 * ingestion warnings; intake itself notes the others. @param items of the request, decided or not */
function noteOutcomes(
  source: SourceName,
  organization: number,
  { outcomes, items }: { readonly outcomes: readonly ItemOutcome[]; readonly items: number },
  { intake, watched }: Listeners,
): void {
  for (const [index, outcome] of outcomes.entries()) {
    const { item, reason } = outcome;
    intake.countSourced(source, organization, outcome.outcome);
    if (item === undefined && reason !== undefined && outcome.outcome === "rejected") {
      intake.noteRefused(source, organization, "refused_validation", reason);
    }
    if (outcome.isTestMode === true && reason !== undefined)
      intake.noteTaken(source, organization, "test_mode_ignored", reason);
    for (const { kind, detail } of outcome.kept ?? []) intake.noteTaken(source, organization, kind, detail);
    watched?.sourcedItem(outcome, items > 1 ? { index, items } : null);
  }
}
