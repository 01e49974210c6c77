/** Counts of sources as they are stored: a row for each hour in which something came, and one for each source. */
import { type SenderName, sourceLimits } from "../../../../contract/sources.ts";
import { msPerHour } from "../../../calendar/calendar.ts";
import type { Actor } from "../../ports/audit.ts";
import {
  type CountedHour,
  type SourceHour,
  type SourceStore,
  type SourceTotals,
  sourceRetiredNote,
} from "../../ports/sources.ts";
import { Hourly } from "../../rules/hourly.ts";
import type { Queries, Sql } from "../client/connect.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { isThere, lockOrganization } from "./organizations.ts";

const outcomes = `
    accepted bigint NOT NULL,
    parked bigint NOT NULL,
    duplicate bigint NOT NULL,
    rejected bigint NOT NULL,
    ignored bigint NOT NULL`;

/** The tables of sources. No user is named in them. */
export const sourcesTables = `
  CREATE TABLE sources (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL,${outcomes},
    first_ms bigint NOT NULL,
    last_ms bigint NOT NULL,
    first_heard_ms bigint,
    last_heard_ms bigint,
    retired_at_ms bigint,
    PRIMARY KEY (organization, source)
  );

  CREATE TABLE source_hours (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL,
    utc_hour bigint NOT NULL,${outcomes},
    PRIMARY KEY (organization, source, utc_hour)
  );
  CREATE INDEX source_hours_by_hour ON source_hours (utc_hour);
`;

/** In a statement: about 0.5 MB of text. */
const addedInAStep = 2_000;
const deletedInAStep = 10_000;

export class PostgresSources implements SourceStore {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;
  readonly #hourly = new Hourly();

  constructor(sql: Sql, audit: PostgresAudit) {
    this.#sql = sql;
    this.#audit = audit;
  }

  async add(
    counted: readonly CountedHour[],
    written: (lines: number) => void = () => undefined,
  ): Promise<void> {
    for (let at = 0; at < counted.length; at += addedInAStep) {
      const lines = counted.slice(at, at + addedInAStep);
      const step = JSON.stringify(lines);
      await inTransaction(this.#sql, async (tx) => {
        await addHours(tx, step);
        await addTotals(tx, step);
      });
      written(lines.length);
    }
  }

  async totals(organization: number): Promise<readonly SourceTotals[]> {
    return [
      ...(await this.#sql<SourceTotals[]>`
        SELECT source, accepted, parked, duplicate, rejected, ignored, first_ms AS "firstMs", last_ms AS "lastMs",
          first_heard_ms AS "firstHeardMs", last_heard_ms AS "lastHeardMs", retired_at_ms AS "retiredAtMs"
        FROM sources WHERE organization = ${organization} ORDER BY source`),
    ];
  }

  async hours(organization: number, fromUtcHour: number): Promise<readonly SourceHour[]> {
    return [
      ...(await this.#sql<SourceHour[]>`
        SELECT source, utc_hour AS "utcHour", accepted, parked, duplicate, rejected, ignored FROM source_hours
        WHERE organization = ${organization} AND utc_hour >= ${fromUtcHour} ORDER BY utc_hour, source`),
    ];
  }

  async retire(
    organization: number,
    source: SenderName,
    by: Actor,
    nowMs: number,
  ): Promise<number | undefined> {
    return inTransaction(this.#sql, async (tx) => {
      await lockOrganization(tx, organization);
      const [before] = await tx<{ atMs: number | null }[]>`
        SELECT retired_at_ms AS "atMs" FROM sources
        WHERE organization = ${organization} AND source = ${source} FOR NO KEY UPDATE`;
      if (before === undefined) return undefined;
      if (before.atMs !== null) return before.atMs;
      await tx`
        UPDATE sources SET retired_at_ms = ${nowMs} WHERE organization = ${organization} AND source = ${source}`;
      await this.#audit.note(tx, organization, sourceRetiredNote(source), by, nowMs);
      return nowMs;
    });
  }

  /** Deletes the hours that are older than 8 weeks; at most once an hour. */
  async tidy(nowMs: number): Promise<void> {
    if (!this.#hourly.isDue(nowMs)) return;
    const firstKeptHour = Math.floor(nowMs / msPerHour) - sourceLimits.keptHours;
    let deleted = deletedInAStep;
    while (deleted === deletedInAStep) {
      const gone = await this.#sql`
        DELETE FROM source_hours WHERE (organization, source, utc_hour) IN (
          SELECT organization, source, utc_hour FROM source_hours WHERE utc_hour < ${firstKeptHour}
          LIMIT ${deletedInAStep} FOR UPDATE SKIP LOCKED)`;
      deleted = gone.count;
    }
  }
}

/** Every node adds to the rows of the same sources: all lock them in one order. */
async function addHours(queries: Queries, step: string): Promise<void> {
  await queries`
    INSERT INTO source_hours AS stored (organization, source, utc_hour, accepted, parked, duplicate, rejected, ignored)
    SELECT organization, source, "utcHour", ${sumsOfGiven(queries)} FROM ${given(queries, step)} WHERE ${isThereNow(queries)}
    GROUP BY organization, source, "utcHour" ORDER BY organization, source, "utcHour"
    ON CONFLICT (organization, source, utc_hour) DO UPDATE SET ${sumsOfStored(queries)}`;
}

/** greatest and least pass over what is null. */
async function addTotals(queries: Queries, step: string): Promise<void> {
  await queries`
    INSERT INTO sources AS stored (organization, source, accepted, parked, duplicate, rejected, ignored, first_ms,
      last_ms, first_heard_ms, last_heard_ms)
    SELECT organization, source, ${sumsOfGiven(queries)}, min("firstMs"), max("lastMs"), min("firstHeardMs"),
      max("lastHeardMs")
    FROM ${given(queries, step)} WHERE ${isThereNow(queries)}
    GROUP BY organization, source ORDER BY organization, source
    ON CONFLICT (organization, source) DO UPDATE SET ${sumsOfStored(queries)},
      first_ms = least(stored.first_ms, excluded.first_ms),
      last_ms = greatest(stored.last_ms, excluded.last_ms),
      first_heard_ms = least(stored.first_heard_ms, excluded.first_heard_ms),
      last_heard_ms = greatest(stored.last_heard_ms, excluded.last_heard_ms),
      retired_at_ms = CASE WHEN excluded.last_heard_ms > stored.retired_at_ms THEN NULL ELSE stored.retired_at_ms END`;
}

/** Counted hours, as rows of the names that `CountedHour` has. */
function given(queries: Queries, step: string) {
  return queries`json_to_recordset(${step}::text::json) AS given (organization bigint, source text, "utcHour" bigint,
    accepted bigint, parked bigint, duplicate bigint, rejected bigint, ignored bigint, "firstMs" bigint,
    "lastMs" bigint, "firstHeardMs" bigint, "lastHeardMs" bigint)`;
}

/** What was counted of an organization that is deleted by now is left out. */
function isThereNow(queries: Queries) {
  return queries`EXISTS (SELECT FROM organizations WHERE id = given.organization AND ${isThere(queries)})`;
}

function sumsOfGiven(queries: Queries) {
  return queries`sum(accepted)::bigint, sum(parked)::bigint, sum(duplicate)::bigint, sum(rejected)::bigint,
    sum(ignored)::bigint`;
}

function sumsOfStored(queries: Queries) {
  return queries`accepted = stored.accepted + excluded.accepted, parked = stored.parked + excluded.parked,
    duplicate = stored.duplicate + excluded.duplicate, rejected = stored.rejected + excluded.rejected,
    ignored = stored.ignored + excluded.ignored`;
}
