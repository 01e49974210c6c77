/** The present state of an organization, for its messages. */
import { zoneOf } from "../../calendar/zone.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { nameOfRung } from "../../scoring/churn/model-names.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { scoresWithChange } from "../../scoring/queries/lists/reading.ts";
import { rowsOf } from "../../scoring/run/entity.ts";
import { modelChanges } from "../../scoring/run/model-changes.ts";
import type { SourceWatch } from "../../scoring/run/source-watch.ts";
import { newestRun } from "../../scoring/run/status.ts";
import { absoluteRiskScale } from "../../scoring/scores/risk-scale.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { CompletedScores, KindScores, OrganizationNow } from "./notices.ts";

interface Parts {
  readonly warehouse: Warehouse;
  readonly sources: Pick<SourceWatch, "statuses">;
  readonly nowMs: () => number;
}

/** Reads the state of organizations. The scores of a run are read once. @throws WarehouseError */
export class OrganizationReader {
  readonly #parts: Parts;
  /** The scores that were read last, by organization. `runs` names the runs of its users and accounts. */
  readonly #read = new Map<number, { readonly runs: string; readonly scores: CompletedScores }>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly readNow = async ({ id, name, timezone }: Organization): Promise<OrganizationNow> => {
    const zone = zoneOf(timezone);
    const scores = await this.#scoresOf(id, zone.dayOf(this.#parts.nowMs()));
    return { id, name, scores, sources: await this.#parts.sources.statuses({ id, zone }) };
  };

  /** The scores of today, or of yesterday: a run that ends just before midnight is seen after it. Accounts
   * are scored last. */
  async #scoresOf(organization: number, today: number): Promise<CompletedScores | null> {
    const { warehouse } = this.#parts;
    const accounts = await newestRun(warehouse, organization, "account", today);
    if (accounts === undefined || accounts.day < today - 1) return null;
    const { day } = accounts;
    const users = await newestRun(warehouse, organization, "user", day);
    // Scores from before the first training are computed again with a model.
    if (users?.day !== day || users.body.awaitsTraining || accounts.body.awaitsTraining) return null;
    const runs = [day, users.body.rowsVersion, accounts.body.rowsVersion].join(" ");
    const known = this.#read.get(organization);
    if (known?.runs === runs) return known.scores;
    const kinds = await Promise.all([
      this.#kindOf(organization, "user", users),
      this.#kindOf(organization, "account", accounts),
    ]);
    const scores = { day, finishedAtMs: accounts.body.firstPublishedAtMs, kinds };
    this.#read.set(organization, { runs, scores });
    return scores;
  }

  async #kindOf(
    organization: number,
    kind: EntityKind,
    run: NonNullable<Awaited<ReturnType<typeof newestRun>>>,
  ): Promise<KindScores> {
    const { warehouse } = this.#parts;
    const { sql, parameters } = scoresWithChange(rowsOf(organization, kind, run), undefined);
    const high = (run.body.riskScale ?? absoluteRiskScale).high;
    const [counts] = await warehouse.rows<{ scored: number; risks: number; high: number }>(
      `SELECT count() AS scored, countIf(isNotNull(risk)) AS risks, countIf(ifNull(risk >= {highRisk:Float64}, false)) AS high
       FROM (${sql})`,
      { ...parameters, highRisk: high },
    );
    const changes = await modelChanges(warehouse, { organization, kind });
    const change = changes.findLast(({ day }) => day === run.day);
    return {
      kind,
      scored: counts?.scored ?? 0,
      highRisk: counts === undefined || counts.risks === 0 ? null : counts.high,
      newModel: change === undefined ? null : { from: nameOfRung(change.from), to: nameOfRung(change.to) },
    };
  }
}
