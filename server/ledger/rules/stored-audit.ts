/** The bounds of the audit log, and what of an entry is stored, whichever database is behind it. */
import { auditLimits } from "../../../contract/audit.ts";
import type { Actor, AuditNote } from "../ports/audit.ts";

/** Entries that are older are deleted. */
export const auditKeptMs = auditLimits.keptDays * 86_400_000;
/** Looking for what is too many reads the whole index, 1 ms: it is done once in so many entries. */
const entriesBetweenTrims = 1_000;
/** Of details, which names of settings may make long. */
const maxDetailBytes = 16_384;
const maxSummaryCharacters = 1_000;

/** Summary and detail within their bounds, the detail as JSON. */
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

/** When it is time to look whether an organization has too many entries: at the first, and then at every thousandth. */
export class AuditTrims {
  /** By organization, since the last trim. */
  readonly #added = new Map<number, number>();

  /** Counts one more entry. */
  isDue(organization: number): boolean {
    const added = (this.#added.get(organization) ?? entriesBetweenTrims - 1) + 1;
    this.#added.set(organization, added % entriesBetweenTrims);
    return added >= entriesBetweenTrims;
  }
}
