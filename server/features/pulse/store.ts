/** Stores pulses. */

import { pulseLimits } from "../../../contract/pulse/pulse.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import type { Actor, AuditNote } from "../../ledger/audit.ts";
import type { Engine } from "../../ledger/engine.ts";
import type { ExportedRows } from "../../ledger/feature.ts";
import {
  count,
  type Fragment,
  integer,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../../ledger/sql.ts";
import {
  type EntityOfRow,
  entityColumns,
  entityOf,
  exportedEntity,
  exportedEntityColumns,
  isOfEntity,
  lockEntity,
  type NamedEntity,
  type NamedPerson,
  namedEntity,
  namedPerson,
  nameOf,
} from "../../ledger/stores/entity-rows.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";

export interface Pulse {
  readonly id: number;
  /** The account. */
  readonly entity: NamedEntity;
  /** The account's number. */
  readonly account: number;
  /** 1 to 5. */
  readonly value: number;
  readonly text: string;
  /** Null for the command line and for keys. */
  readonly saidBy: NamedPerson | null;
  readonly saidAtMs: number;
  readonly takenBackAtMs: number | null;
}

export type NewPulse = Pick<Pulse, "value" | "text">;

/** How many pulses an organization has, and how many of them were taken back. Pulses do not change otherwise,
 * but by erasures. */
export interface PulseCounts {
  readonly pulses: number;
  readonly takenBack: number;
}

/** The entry of a pulse. It has no sentence and names nobody: an erasure could not delete them in the log. */
function pulseNote(
  action: "pulse.said" | "pulse.taken_back",
  { id, account, value }: Pick<Pulse, "id" | "account" | "value">,
): AuditNote {
  return {
    action,
    summary:
      action === "pulse.said"
        ? `Said that the pulse of an account is ${value}`
        : `Took back a pulse of ${value} of an account`,
    detail: { pulse: id, account, value },
  };
}

interface PulseRow extends EntityOfRow, Pick<Pulse, "id" | "value" | "text" | "saidAtMs" | "takenBackAtMs"> {
  readonly authorId: number | null;
  readonly author: string | null;
}

const pulseRow = new RowOf<PulseRow>({
  ...entityColumns,
  id: integer("pulses.id"),
  value: integer("pulses.value"),
  text: text("pulses.text"),
  saidAtMs: integer("pulses.said_at_ms"),
  takenBackAtMs: nullable(integer("pulses.taken_back_at_ms")),
  authorId: nullable(integer("people.id")),
  author: nullable(text("people.name")),
});
const idRow = new RowOf<Pick<Pulse, "id">>({ id: integer() });
const joined = part`FROM pulses ${entityOf("pulses")} LEFT JOIN people ON people.id = pulses.said_by`;

/** The store of pulses. Every change and its entry in the audit log are one commit. */
export function pulseStore(engine: Engine) {
  return {
    /** Of one account, the newest first. */
    ofAccount: (organization: number, accountId: string, limit: number) =>
      engine.alone(
        findPulses(part`
          WHERE ${isOfEntity(organization, "pulses", { kind: "account", id: accountId })}
          ORDER BY pulses.said_at_ms DESC, pulses.id DESC LIMIT ${limit}`),
      ),

    /** All of the organization, in the order of their ids. @param after only ids above it */
    all: (organization: number, after: number, limit: number) =>
      engine.alone(
        findPulses(part`
          WHERE pulses.organization = ${organization} AND pulses.id > ${after} ORDER BY pulses.id LIMIT ${limit}`),
      ),

    counts: (organization: number) =>
      engine.snapshot(
        (function* (): Work<PulseCounts> {
          const all = part`FROM pulses WHERE organization = ${organization}`;
          return {
            pulses: yield* count`${all}`,
            takenBack: yield* count`${all} AND taken_back_at_ms IS NOT NULL`,
          };
        })(),
      ),

    /** @returns undefined when there is no such account. @throws Refusal when there are too many */
    add: (
      organization: number,
      accountId: string,
      { value, text: why }: NewPulse,
      by: Actor,
      nowMs: number,
    ) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const found = yield* lockEntity(organization, { kind: "account", id: accountId });
        if (found === undefined) return undefined;
        yield* refuseMore(organization, found.account);
        const { id } = yield* returningOne(idRow)`
          INSERT INTO pulses (organization, user_number, account_number, value, text, said_by, said_at_ms)
          VALUES (${organization}, 0, ${found.account}, ${value}, ${why}, ${by.person?.id ?? null}, ${nowMs})`;
        yield* audit.note(
          organization,
          pulseNote("pulse.said", { id, value, account: found.account }),
          by,
          nowMs,
        );
        return yield* findPulse(organization, id);
      }),

    /** Takes back a pulse. One that was taken back before stays as it is.
     * @returns false when the organization has no such pulse */
    takeBack: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findPulse(organization, id);
        if (before === undefined) return false;
        if (before.takenBackAtMs !== null) return true;
        yield* run`UPDATE pulses SET taken_back_at_ms = ${nowMs} WHERE id = ${id}`;
        yield* audit.note(organization, pulseNote("pulse.taken_back", before), by, nowMs);
        return true;
      }),
  };
}

export type PulseStore = ReturnType<typeof pulseStore>;

/** Pulses. @param which the end of the statement, from WHERE on */
export function* findPulses(which: Fragment): Work<readonly Pulse[]> {
  const rows = yield* select(pulseRow)`${joined} ${which}`;
  return rows.map((row) => {
    const { id, value, text: why, saidAtMs, takenBackAtMs, authorId, author, accountNumber } = row;
    const saidBy = namedPerson(authorId, author);
    return {
      id,
      entity: namedEntity(row),
      account: accountNumber,
      value,
      text: why,
      saidBy,
      saidAtMs,
      takenBackAtMs,
    };
  });
}

function* findPulse(organization: number, id: number): Work<Pulse | undefined> {
  const [found] = yield* findPulses(part`WHERE pulses.organization = ${organization} AND pulses.id = ${id}`);
  return found;
}

function* refuseMore(organization: number, account: number): Work<void> {
  const { pulsesPerAccount, pulsesPerOrganization } = pulseLimits;
  const all = part`FROM pulses WHERE organization = ${organization}`;
  if ((yield* count`${all} AND account_number = ${account}`) >= pulsesPerAccount) {
    throw new Refusal(`There are ${pulsesPerAccount} pulses of this account already, which is the limit.`);
  }
  if ((yield* count`${all}`) >= pulsesPerOrganization) {
    throw new Refusal(`There are ${pulsesPerOrganization} pulses already, which is the limit.`);
  }
}

/** Pulses as rows of exports. */
export const exportedPulses: ExportedRows = {
  name: "pulses",
  columns: [...exportedEntityColumns, "value", "text", "saidBy", "saidAt", "takenBackAt"],
  page: async ({ pulses }, organization, after, limit) =>
    (await pulses.all(organization, after, limit)).map((pulse) => {
      const { id, value, text: why, saidBy, saidAtMs, takenBackAtMs } = pulse;
      const times = { saidAt: instant(saidAtMs), takenBackAt: instantOrNull(takenBackAtMs) };
      return { id, line: { ...exportedEntity(pulse), value, text: why, saidBy: nameOf(saidBy), ...times } };
    }),
};
