/**
 * Deletions of organizations. In the first commit the organization loses its name, its credentials and its members: from then
 * on nobody finds it and nothing is written for it. It is pending until warehouse and ledger hold no row of it, so that a
 * crash at any point only delays it. Its id is never given again.
 */
export interface Deletion {
  readonly organization: number;
  /** No row of the organization stands behind this one in the inbox. */
  readonly uptoInboxId: number;
}

/** The steps of a deletion, in their order. Each may be done again after a crash. */
export interface Deletions {
  /** @returns undefined when there is no such organization, or not any more */
  begin(organization: number): Promise<Deletion | undefined>;
  /** Those that are not done, in the order of their ids. */
  pending(): Promise<readonly Deletion[]>;
  /** The warehouse holds nothing of the organization: deletes every row of it here, and gives the bytes back to the disk.
   * @throws Error while rows before the deletion are not loaded */
  finish(organization: number): Promise<void>;
}
