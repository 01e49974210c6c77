/** Decides the alert rules of all organizations. Rules about scores and segments are a job of their own, so
 * that rules about moments and sources do not wait for them. Most runs find nothing new. */
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import { isPastImported, lateEventsOfPast } from "../../scoring/run/changed-days.ts";
import { runsBetween } from "../../scoring/run/records.ts";
import type { SourceWatch } from "../../scoring/run/source-watch.ts";
import { newestRun } from "../../scoring/run/status.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { commitChunk } from "./commit-chunk.ts";
import { clockOf } from "./next-morning.ts";
import { decideContinuousRules, decideDailyRules } from "./rules/decide-rules.ts";
import type { DecisionParts } from "./rules/decision-parts.ts";
import { mrrReader } from "./rules/mrr.ts";
import { SeenOwners } from "./rules/seen-owners.ts";
import { worthReader } from "./rules/worth.ts";
import type { DecisionChunk, RuleVersion, Watermark } from "./store/decisions.ts";

export interface RuleDeciderParts {
  readonly ledger: Pick<
    SharedLedger,
    | ("ruleDecisions" | "destinations" | "organizations" | "settings" | "members")
    | ("lastBulkLoadAtMs" | "erasures")
  >;
  readonly warehouse: Warehouse;
  readonly host: { loadedUserBatches(organization: number): number };
  readonly sources: Pick<SourceWatch, "statuses">;
  readonly segmentOf: DecisionParts["segmentOf"];
  /** Renders messages that are due. */
  readonly render: () => Promise<void>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export class RuleDecider {
  readonly #parts: RuleDeciderParts;
  readonly #seenOwners = new SeenOwners();

  constructor(parts: RuleDeciderParts) {
    this.#parts = parts;
  }

  /** Decides the rules about scores and segments, on the scored days that are not decided yet. */
  decideDays(): Promise<void> {
    return this.#decideAll(decideDailyRules);
  }

  /** Decides the rules about moments and sources. */
  decideMoments(): Promise<void> {
    return this.#decideAll(decideContinuousRules);
  }

  /** Decides the rules of one organization after another. */
  async #decideAll(decide: typeof decideDailyRules): Promise<void> {
    const { ledger, log } = this.#parts;
    for (const id of await ledger.ruleDecisions.deciding()) {
      const organization = await ledger.organizations.find(id);
      if (organization === undefined) continue;
      // A rule that fails is tried again, and does not stop the other rules.
      await decide(this.#partsOf(organization), organization, ({ version: { rule } }, error) =>
        log.warn({ err: error, organization: id, rule }, "an alert rule is decided at the next look"),
      );
    }
  }

  #partsOf(organization: Organization): DecisionParts {
    const { ledger, warehouse, host, sources, segmentOf, nowMs } = this.#parts;
    return {
      warehouse,
      sources,
      nowMs,
      rules: ledger.ruleDecisions,
      segmentOf: readOnce(segmentOf),
      commit: (version, chunk) => this.#commit(organization, version, chunk),
      newestRun: readOnce((id, kind, uptoDay) => newestRun(warehouse, id, kind, uptoDay)),
      runsBetween: readOnce((of, span) => runsBetween(warehouse, of, span)),
      isPastImported: readOnce((question) => isPastImported(warehouse, question)),
      lateEvents: readOnce((question) => lateEventsOfPast(warehouse, question)),
      seenOwners: this.#seenOwners,
      loadedUserBatches: (id) => host.loadedUserBatches(id),
      mrrOf: mrrReader(warehouse, ledger, nowMs),
      worthOf: worthReader(warehouse, ledger, nowMs),
      erasedSince: readOnce((id, sinceMs) => ledger.erasures.accountsSince(id, sinceMs)),
      lastBulkLoadAtMs: (id) => ledger.lastBulkLoadAtMs(id),
      horizonOf: async ({ id }) => (await ledger.settings.get(id)).settings.churnHorizonDays,
    };
  }

  /** Commits a chunk, and renders its messages that are due at once. */
  async #commit(organization: Organization, version: RuleVersion, chunk: DecisionChunk): Promise<Watermark> {
    const { ledger, render, nowMs } = this.#parts;
    const watermark = await commitChunk(
      ledger,
      version,
      chunk,
      clockOf(zoneOf(organization.timezone), nowMs()),
    );
    await render();
    return watermark;
  }
}

/** Keeps the answer to each question, because the rules of an organization ask equal questions. */
function readOnce<Asked extends readonly unknown[], Answer>(
  read: (...asked: Asked) => Promise<Answer>,
): (...asked: Asked) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  return (...asked) => {
    const key = JSON.stringify(asked);
    const answer = answers.get(key) ?? read(...asked);
    answers.set(key, answer);
    return answer;
  };
}
