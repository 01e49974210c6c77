/** The accounts with owners at the last run of each rule. They are kept in memory, because the rules are
 * decided after each batch of users. */

export interface OwnersAsSeen {
  /** Batches of users that were loaded before the owners were read. */
  readonly batches: number;
  readonly atMs: number;
  /** By number: 50,000 accounts take 2 MB. */
  readonly accounts: ReadonlySet<number>;
}

export class SeenOwners {
  readonly #byRule = new Map<number, OwnersAsSeen & { readonly sequence: number }>();

  /** What the last run saw. Undefined when the rule was decided or changed since, by another process for
   * example. @param sequence of its watermark */
  at(rule: number, sequence: number): OwnersAsSeen | undefined {
    const seen = this.#byRule.get(rule);
    return seen?.sequence === sequence ? seen : undefined;
  }

  /** Remembers what a run saw. @param sequence of the watermark after it */
  keep(rule: number, sequence: number, seen: OwnersAsSeen): void {
    this.#byRule.set(rule, { ...seen, sequence });
  }

  /** Keeps what was seen when the rule's watermark moved without a change of states. */
  moved(rule: number, from: number, to: number): void {
    const seen = this.at(rule, from);
    if (seen !== undefined) this.keep(rule, to, seen);
  }
}
