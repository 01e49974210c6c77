/**
 * Counts of the items of each source of an organization, by hour. They show a source's rhythm and its
 * silence. No acknowledged data depends on these counts: a killed process may lose those of the last seconds.
 */
import { type SenderName, type SourceOutcome, sourceLimits } from "../../../contract/sources.ts";
import { msPerHour } from "../../calendar/zone.ts";
import type { Actor, AuditNote } from "../audit.ts";
import { forNoKeyUpdate, greatest, least, records, skipLocked } from "../dialect.ts";
import { deleteInParts, type Engine, inParts } from "../engine.ts";
import {
  type Column,
  integer,
  nullable,
  part,
  RowOf,
  run,
  select,
  sqlText,
  type Work,
  word,
} from "../sql.ts";
import { isThere, lockOrganization } from "./organization-rows.ts";

/** Numbers of items by outcome. */
export type SourceItems = Readonly<Record<SourceOutcome, number>>;

/** The items of a source in one hour. */
export interface SourceHour extends SourceItems {
  readonly source: SenderName;
  /** Hours since 1970-01-01, UTC. */
  readonly utcHour: number;
}

/** An addition to the counts: those of one hour, or of a part of it. */
export interface CountedHour extends SourceHour {
  readonly organization: number;
  /** The arrival of the first item. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The arrival of the first item that was not rejected. Null if all were rejected. */
  readonly firstHeardMs: number | null;
  readonly lastHeardMs: number | null;
}

/** The totals of a source since its first item. */
export interface SourceTotals extends SourceItems {
  readonly source: SenderName;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The arrival of the first item that was not rejected. A source with only rejected items counts as
   * silent. */
  readonly firstHeardMs: number | null;
  readonly lastHeardMs: number | null;
  /** The time at which a member marked it as removed. Its next accepted item clears this. */
  readonly retiredAtMs: number | null;
}

/** The entry of a source that was marked as removed. */
function sourceRetiredNote(source: SenderName): AuditNote {
  return {
    action: "source.retired",
    summary: `Retired the source ${source}: nobody waits for it until it sends again`,
    detail: { source },
  };
}

const outcomes = ["accepted", "held", "duplicate", "rejected", "ignored"] as const;

const items: { readonly [Outcome in keyof SourceItems]: Column<number> } = {
  accepted: integer(),
  held: integer(),
  duplicate: integer(),
  rejected: integer(),
  ignored: integer(),
};
const totals = new RowOf<SourceTotals>({
  source: word(),
  ...items,
  firstMs: integer(),
  lastMs: integer(),
  firstHeardMs: nullable(integer()),
  lastHeardMs: nullable(integer()),
  retiredAtMs: nullable(integer()),
});
const hour = new RowOf<SourceHour>({ source: word(), utcHour: integer(), ...items });
const retired = new RowOf<{ readonly atMs: number | null }>({ atMs: nullable(integer("retired_at_ms")) });

/** The store of sources' counts. */
export function sourceStore(engine: Engine) {
  return {
    /** Adds counts in several commits. @param written gets the number of lines in each commit, in their
     * order */
    add: (counted: readonly CountedHour[], written: (lines: number) => void = () => undefined) =>
      inParts(engine, counted, async (hours) => {
        await engine.transaction(() => add(hours));
        written(hours.length);
      }),

    /** The totals of every source, in the order of their names. */
    totals: (organization: number) =>
      engine.alone(select(totals)`FROM sources WHERE organization = ${organization} ORDER BY source`),

    /** The hours of all sources from this hour on, oldest first. Hours without items are left out. Kept for 8
     * weeks. */
    hours: async (organization: number, fromUtcHour: number) => {
      await engine.countsFlushed();
      return engine.alone(
        select(hour)`FROM source_hours WHERE organization = ${organization} AND utc_hour >= ${fromUtcHour}
          ORDER BY utc_hour, source`,
      );
    },

    /** Marks a source as removed, if it is not marked yet. The mark and its entry in the audit log are one
     * commit.
     * @returns the time of the mark. Undefined if the source never sent an item */
    retire: (organization: number, source: SenderName, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const ofSource = part`organization = ${organization} AND source = ${source}`;
        const [before] = yield* select(retired)`FROM sources WHERE ${ofSource} ${forNoKeyUpdate}`;
        if (before === undefined) return undefined;
        if (before.atMs !== null) return before.atMs;
        yield* run`UPDATE sources SET retired_at_ms = ${nowMs} WHERE ${ofSource}`;
        yield* audit.note(organization, sourceRetiredNote(source), by, nowMs);
        return nowMs;
      }),
  };
}

export type SourceStore = ReturnType<typeof sourceStore>;

/** Deletes the hours that are older than 8 weeks. */
export function tidySources(engine: Engine, nowMs: number): Promise<void> {
  const firstKeptHour = Math.floor(nowMs / msPerHour) - sourceLimits.keptHours;
  return deleteInParts(
    engine,
    (most) => run`
      DELETE FROM source_hours WHERE (organization, source, utc_hour) IN (
        SELECT organization, source, utc_hour FROM source_hours WHERE utc_hour < ${firstKeptHour}
        LIMIT ${most} ${skipLocked})`,
  );
}

const names = sqlText(outcomes.join(", "));
const sumsOfGiven = sqlText(outcomes.map((name) => `CAST(sum(${name}) AS bigint)`).join(", "));
const sumsOfStored = sqlText(
  outcomes.map((name) => `${name} = stored.${name} + excluded.${name}`).join(", "),
);
/** Counts of an organization that was deleted meanwhile are left out. */
const isKnown = part`EXISTS (SELECT 1 FROM organizations WHERE id = given.organization AND ${isThere})`;

/** Adds counts. Every node adds to the rows of the same sources, so all lock them in one order. */
function* add(counted: readonly CountedHour[]): Work<void> {
  const given = records(counted, {
    organization: "bigint",
    source: "text",
    utcHour: "bigint",
    accepted: "bigint",
    held: "bigint",
    duplicate: "bigint",
    rejected: "bigint",
    ignored: "bigint",
    firstMs: "bigint",
    lastMs: "bigint",
    firstHeardMs: "bigint",
    lastHeardMs: "bigint",
  });
  yield* run`
    INSERT INTO source_hours AS stored (organization, source, utc_hour, ${names})
    SELECT organization, source, "utcHour", ${sumsOfGiven} FROM ${given} WHERE ${isKnown}
    GROUP BY organization, source, "utcHour" ORDER BY organization, source, "utcHour"
    ON CONFLICT (organization, source, utc_hour) DO UPDATE SET ${sumsOfStored}`;
  yield* run`
    INSERT INTO sources AS stored (organization, source, ${names}, first_ms, last_ms, first_heard_ms, last_heard_ms)
    SELECT organization, source, ${sumsOfGiven}, min("firstMs"), max("lastMs"), min("firstHeardMs"), max("lastHeardMs")
    FROM ${given} WHERE ${isKnown}
    GROUP BY organization, source ORDER BY organization, source
    ON CONFLICT (organization, source) DO UPDATE SET ${sumsOfStored},
      first_ms = ${least}(stored.first_ms, excluded.first_ms),
      last_ms = ${greatest}(stored.last_ms, excluded.last_ms),
      first_heard_ms = coalesce(${least}(stored.first_heard_ms, excluded.first_heard_ms), stored.first_heard_ms,
        excluded.first_heard_ms),
      last_heard_ms = coalesce(${greatest}(stored.last_heard_ms, excluded.last_heard_ms), stored.last_heard_ms,
        excluded.last_heard_ms),
      retired_at_ms = CASE WHEN excluded.last_heard_ms > stored.retired_at_ms THEN NULL ELSE stored.retired_at_ms END`;
}
