/** The stores of a decision, and its clock. */

import type { ErasedAccounts } from "../../../ledger/erasures.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import type { SourceWatch } from "../../../scoring/run/source-watch.ts";
import type { RuleDecisions } from "../store/decision-store.ts";
import type { DecisionChunk, RuleVersion, Watermark } from "../store/decisions.ts";
import type { BulkParts } from "./bulk-changes.ts";
import type { FiringParts } from "./facts.ts";
import type { SeenOwners } from "./seen-owners.ts";

export interface DecisionParts extends FiringParts, BulkParts {
  /** The accounts whose users were erased, by requests of this time or later. */
  readonly erasedSince: (organization: number, sinceMs: number) => Promise<readonly ErasedAccounts[]>;
  readonly rules: Pick<RuleDecisions, "toDecide" | "states" | "openMoments">;
  /** Draws the alerts of a chunk, makes their messages, and commits the chunk. @throws Refusal when the chunk
   * does not follow the watermark */
  readonly commit: (rule: RuleVersion, chunk: DecisionChunk) => Promise<Watermark>;
  /** The newest finished run of a day or an earlier day. */
  readonly newestRun: (
    organization: number,
    kind: EntityKind,
    uptoDay: number,
  ) => Promise<ScoreRecord<RunBody> | undefined>;
  /** The finished runs of a span of days, in order. */
  readonly runsBetween: (
    of: { readonly organization: number; readonly kind: EntityKind },
    span: { readonly fromDay: number; readonly toDay: number },
  ) => Promise<readonly ScoreRecord<RunBody>[]>;
  /** The churn horizon. */
  readonly horizonOf: (organization: Organization) => Promise<number>;
  readonly sources: Pick<SourceWatch, "statuses">;
  readonly seenOwners: SeenOwners;
  /** Batches of users' rows that were loaded since the start. */
  readonly loadedUserBatches: (organization: number) => number;
  readonly nowMs: () => number;
}
