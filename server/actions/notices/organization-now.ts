/** The present state of an organization, for its messages. */
import { zoneOf } from "../../calendar/calendar.ts";
import type { Organization } from "../../ledger/ledger.ts";
import {
  absoluteRiskScale,
  type EntityKind,
  modelChanges,
  nameOfRung,
  newestRun,
  rowsOf,
  type SourceWatch,
  scoresWithChange,
} from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { CompletedScores, KindScores, OrganizationNow } from "./notices.ts";

interface Parts {
  readonly warehouse: Warehouse;
  readonly sources: Pick<SourceWatch, "statuses">;
  readonly nowMs: () => number;
}

/** Reads the state. Scores of a day are read once. @throws WarehouseError */
export class OrganizationReader {
  readonly #parts: Parts;
  readonly #read = new Map<number, CompletedScores>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly look = async ({ id, name, timezone }: Organization): Promise<OrganizationNow> => {
    const zone = zoneOf(timezone);
    const today = zone.dayOf(this.#parts.nowMs());
    const known = this.#read.get(id);
    const scores = known?.day === today ? known : await this.#scoresOf(id, today);
    if (scores === null) this.#read.delete(id);
    else this.#read.set(id, scores);
    return { id, name, scores, sources: await this.#parts.sources.statuses({ id, zone }) };
  };

  /** Null until the accounts are scored, which come last. */
  async #scoresOf(organization: number, today: number): Promise<CompletedScores | null> {
    const { warehouse } = this.#parts;
    const [users, accounts] = await Promise.all([
      newestRun(warehouse, organization, "user", today),
      newestRun(warehouse, organization, "account", today),
    ]);
    if (users?.day !== today || accounts?.day !== today) return null;
    const kinds = await Promise.all([
      this.#kindOf(organization, "user", users),
      this.#kindOf(organization, "account", accounts),
    ]);
    return { day: today, finishedAtMs: accounts.body.firstPublishedAtMs, kinds };
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
