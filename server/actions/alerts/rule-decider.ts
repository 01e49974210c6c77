/** Decides alert rules: every ten seconds, of the organizations that have some. Most looks find no new day. */
import { zoneOf } from "../../calendar/calendar.ts";
import type { Organization, SharedLedger } from "../../ledger/ledger.ts";
import { isPastChanged, newestRun, runsBetween, type SourceWatch } from "../../scoring/scoring.ts";
import type { Logger } from "../../telemetry/telemetry.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { SeenOwners } from "../moments/seen-owners.ts";
import { decideRules } from "../rules/decide-rules.ts";
import type { DecisionParts } from "../rules/decision-parts.ts";
import { mrrReader } from "../rules/mrr.ts";
import { commitChunk } from "./commit-chunk.ts";
import { excludedEntities } from "./message-exclusions.ts";
import { nextMorningMs } from "./next-morning.ts";

export interface RuleDeciderParts {
  readonly ledger: Pick<
    SharedLedger,
    "ruleDecisions" | "destinations" | "organizations" | "settings" | "lastImportAtMs"
  >;
  readonly warehouse: Warehouse;
  readonly host: { loadedUserBatches(organization: number): number };
  readonly sources: Pick<SourceWatch, "statuses">;
  readonly segmentOf: DecisionParts["segmentOf"];
  /** Of the service, as people reach it. */
  readonly address: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export class RuleDecider {
  readonly #parts: RuleDeciderParts;
  readonly #seenOwners = new SeenOwners();

  constructor(parts: RuleDeciderParts) {
    this.#parts = parts;
  }

  /** Looks once. */
  async work(): Promise<void> {
    const { ledger, log } = this.#parts;
    for (const id of await ledger.ruleDecisions.deciding()) {
      const organization = await ledger.organizations.find(id);
      if (organization === undefined) continue;
      // A rule that fails is tried again, and keeps no other back.
      await decideRules(this.#partsOf(organization), organization, ({ version: { rule } }, error) =>
        log.warn({ err: error, organization: id, rule }, "an alert rule is decided at the next look"),
      );
    }
  }

  #partsOf({ id: organization, timezone }: Organization): DecisionParts {
    const { ledger, warehouse, host, sources, segmentOf, address, nowMs } = this.#parts;
    return {
      ...{ warehouse, sources, nowMs, rules: ledger.ruleDecisions, segmentOf: readOnce(segmentOf) },
      commit: (version, chunk) => {
        const morningMs = nextMorningMs(zoneOf(timezone), nowMs());
        return commitChunk(ledger, version, chunk, {
          ...{ address, nowMs: nowMs(), nextMorningMs: morningMs },
          excludedAmong: (entities) => excludedEntities(warehouse, organization, entities),
        });
      },
      newestRun: readOnce((id, kind, uptoDay) => newestRun(warehouse, id, kind, uptoDay)),
      runsBetween: readOnce((of, span) => runsBetween(warehouse, of, span)),
      isPastChanged: readOnce((question) => isPastChanged(warehouse, question)),
      seenOwners: this.#seenOwners,
      loadedUserBatches: (id) => host.loadedUserBatches(id),
      mrrOf: mrrReader(warehouse, ledger, nowMs),
      lastImportAtMs: (id) => ledger.lastImportAtMs(id),
      horizonOf: async ({ id }) => (await ledger.settings.get(id)).settings.churnHorizonDays,
    };
  }
}

/** Asks each question once: the rules of an organization ask the same. */
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
