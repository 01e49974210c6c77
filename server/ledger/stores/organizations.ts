/** Organizations as the ledger keeps them, and their changes. */

import { limits } from "../../../contract/limits.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Actor } from "../audit.ts";
import { greatest, isTaken } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import type { RebuildBegun } from "../health.ts";
import { organizationCreatedNote } from "../rules/member-notes.ts";
import { integer, nullable, RowOf, returning, run, select, text, type Work } from "../sql.ts";
import {
  findOrganization,
  isThere,
  lockKnownOrganization,
  type NewOrganization,
  noOrganization,
  type Organization,
  type OrganizationChange,
  organizationChangedNote,
  organizationRow,
} from "./organization-rows.ts";

const organizationId = new RowOf<Pick<Organization, "id">>({ id: integer() });
const rebuild = new RowOf<RebuildBegun>({ timezone: text(), askedAtMs: integer("rebuild_asked_at_ms") });
const pendingSince = new RowOf<{ readonly atMs: number | null }>({
  atMs: nullable(integer("rebuild_asked_at_ms")),
});

/** The store of organizations. A change by a team member or the command line and its entry in the audit log
 * are one commit. */
export function organizationStore(engine: Engine, clock: () => number) {
  return {
    list: () => engine.alone(select(organizationRow)`FROM organizations WHERE ${isThere} ORDER BY id`),

    /** Undefined if there is none with this id. */
    find: (id: number) => engine.alone(findOrganization(id)),

    /** @throws Refusal when the name is taken. */
    create: (wanted: { name: string; timezone: string; nowMs: number }, by: Actor) =>
      engine.transaction(function* (audit) {
        const created = yield* insertOrganization(wanted);
        yield* audit.note(created.id, organizationCreatedNote(created), by, wanted.nowMs);
        return created;
      }),

    /** Changes the given fields. A new timezone marks the organization for a rebuild of its days.
     * @throws Refusal when the new name is taken or the organization does not exist. */
    set: (id: number, change: OrganizationChange, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const before = yield* lockKnownOrganization(id);
        const after = { ...before, ...change };
        const note = organizationChangedNote(before, after);
        if (note === undefined) return before;
        yield* update(after, clock());
        yield* audit.note(id, note, by, nowMs);
        return after;
      }),

    /** Records that raw events before this day will be deleted. Called before the first deletion. */
    eventsDropped: async (id: number, beforeDay: number) => {
      await engine.alone(
        run`UPDATE organizations SET events_from_day = ${greatest}(coalesce(events_from_day, ${beforeDay}), ${beforeDay})
          WHERE id = ${id}`,
      );
    },
  };
}

export type Organizations = ReturnType<typeof organizationStore>;

/** The rebuilds after changes of timezones. */
export class Rebuilds {
  readonly #engine: Engine;
  readonly #clock: () => number;

  constructor(engine: Engine, clock: () => number) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async pending(): Promise<readonly number[]> {
    const rows = await this.#engine.alone(
      select(organizationId)`FROM organizations WHERE rebuild_pending ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }

  async begun(id: number): Promise<RebuildBegun> {
    const nowMs = this.#clock();
    const [begun] = await this.#engine.alone(
      returning(rebuild)`
        UPDATE organizations SET rebuild_pending = true, rebuild_asked_at_ms = CASE
          WHEN rebuild_pending THEN coalesce(rebuild_asked_at_ms, ${nowMs})
          ELSE ${greatest}(${nowMs}, coalesce(rebuild_asked_at_ms, 0) + 1) END
        WHERE id = ${id} AND ${isThere}`,
    );
    if (begun === undefined) throw noOrganization(id);
    return begun;
  }

  /** The start of the organization's pending rebuild of days. Null if none is pending. */
  async pendingSinceMs(id: number): Promise<number | null> {
    const [pending] = await this.#engine.alone(
      select(pendingSince)`FROM organizations WHERE id = ${id} AND rebuild_pending`,
    );
    return pending === undefined ? null : (pending.atMs ?? 0);
  }

  async done(id: number, askedAtMs: number): Promise<void> {
    await this.#engine.alone(
      run`UPDATE organizations SET rebuild_pending = false WHERE id = ${id} AND rebuild_asked_at_ms = ${askedAtMs}`,
    );
  }
}

/** Creates an organization. @throws Refusal when the name is taken */
export function* insertOrganization({
  name,
  timezone,
  requestsPerSecond = limits.defaultRequestsPerSecond,
  nowMs,
}: NewOrganization & { readonly nowMs: number }): Work<Organization> {
  const [created] = yield* returning(organizationRow)`
    INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms)
    VALUES (${name}, ${timezone}, ${requestsPerSecond}, ${nowMs})
    ON CONFLICT (name) DO NOTHING`;
  if (created === undefined) throw nameTaken(name);
  return created;
}

function* update(after: Organization, nowMs: number): Work<void> {
  const { id, name, timezone, requestsPerSecond, itemsPerSecondSet, keepEventsDays } = after;
  try {
    yield* run`
      UPDATE organizations SET
        rebuild_asked_at_ms = CASE WHEN timezone <> ${timezone}
          THEN ${greatest}(${nowMs}, coalesce(rebuild_asked_at_ms, 0) + 1) ELSE rebuild_asked_at_ms END,
        rebuild_pending = rebuild_pending OR timezone <> ${timezone},
        name = ${name}, timezone = ${timezone}, requests_per_second = ${requestsPerSecond},
        items_per_second = ${itemsPerSecondSet}, keep_events_days = ${keepEventsDays}
      WHERE id = ${id}`;
  } catch (error) {
    throw isTaken(error) ? nameTaken(name) : error;
  }
}

function nameTaken(name: string): Refusal {
  return new Refusal(`There is already an organization named ${name}: choose another name.`);
}
