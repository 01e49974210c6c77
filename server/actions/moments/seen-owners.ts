/** The accounts with owners, as the last look of each rule saw them: in memory, because a look reads them
 * every ten seconds. */

export interface OwnersAsSeen {
  /** Batches of users that were loaded before the look. */
  readonly batches: number;
  readonly atMs: number;
  /** The same for the same accounts. */
  readonly fingerprint: string;
  /** Numbers: 50,000 take 2 MB. */
  readonly accounts: ReadonlySet<number>;
}

export class SeenOwners {
  readonly #byRule = new Map<number, OwnersAsSeen & { readonly sequence: number }>();

  /** Undefined when the rule was decided or changed since, by another process for example. @param sequence of
   * its watermark */
  at(rule: number, sequence: number): OwnersAsSeen | undefined {
    const seen = this.#byRule.get(rule);
    return seen?.sequence === sequence ? seen : undefined;
  }

  /** Remembers a look. @param sequence of the watermark after it */
  keep(rule: number, sequence: number, seen: OwnersAsSeen): void {
    this.#byRule.set(rule, { ...seen, sequence });
  }

  /** The rule's watermark moved, and the states of accounts did not. */
  moved(rule: number, from: number, to: number): void {
    const seen = this.at(rule, from);
    if (seen !== undefined) this.keep(rule, to, seen);
  }
}
