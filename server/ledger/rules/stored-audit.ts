/** The limits of the audit log, and the stored form of an entry. Both databases use them. */
import { auditLimits } from "../../../contract/audit.ts";
import type { Actor, AuditNote } from "../audit.ts";

/** Older entries are deleted. */
export const auditKeptMs = auditLimits.keptDays * 86_400_000;
/** The search for entries above the limit reads the whole index, which takes 1 ms. It runs once for this many
 * entries. */
const entriesBetweenTrims = 1_000;
/** The limit of a detail. Names of settings may make it long. */
const maxDetailBytes = 16_384;
const maxSummaryCharacters = 1_000;

/** The summary and the detail, cut to their limits. The detail is JSON. */
export function auditTexts(
  { summary, detail }: AuditNote,
  actor: Actor,
): { summary: string; detail: string } {
  const whole = JSON.stringify(actor.person === null ? { ...detail, by: actor.by } : detail);
  return {
    summary: summary.slice(0, maxSummaryCharacters).toWellFormed(),
    detail:
      Buffer.byteLength(whole) > maxDetailBytes
        ? JSON.stringify({ by: actor.by, omitted: `larger than ${maxDetailBytes} bytes` })
        : whole,
  };
}

/** Decides when to check whether an organization has too many entries: at the first, and then at every
 * thousandth. */
export class AuditTrims {
  /** Entries since the last trim, by organization. */
  readonly #added = new Map<number, number>();

  /** Counts one more entry. */
  isDue(organization: number): boolean {
    const added = (this.#added.get(organization) ?? entriesBetweenTrims - 1) + 1;
    this.#added.set(organization, added % entriesBetweenTrims);
    return added >= entriesBetweenTrims;
  }
}
