/** Stores what assistants wrote. A row is there before the note, the task or the outcome that it is about:
 * whoever asks again with the same idempotency key gets no second one. */
import {
  type AssistantWriteKind,
  assistantAuthor,
  assistantLimits,
} from "../../../contract/assistants/assistants.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Actor } from "../../ledger/audit.ts";
import type { Engine } from "../../ledger/engine.ts";
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
  word,
} from "../../ledger/sql.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";

export interface AssistantWrite {
  readonly id: number;
  /** The read key. */
  readonly key: number;
  readonly keyName: string;
  readonly what: AssistantWriteKind;
  /** The id of the note, the task or the alert. */
  readonly target: number;
  readonly atMs: number;
  readonly undoneAtMs: number | null;
}

/** A change that an assistant asks for. */
export interface WantedWrite {
  readonly key: number;
  readonly what: AssistantWriteKind;
  /** Hashes in hexadecimal digits. */
  readonly idempotencySha256: string;
  readonly contentSha256: string;
}

/** `done`: an earlier call did it. `underWay`: an earlier call began it, and has not said how it ended.
 * `tooMany`: the hour is full. */
export type BegunWrite =
  | { readonly state: "begun"; readonly id: number }
  | { readonly state: "done"; readonly target: number }
  | { readonly state: "underWay" }
  | { readonly state: "tooMany"; readonly retryAfterSeconds: number };

const hourMs = 3_600_000;

const write = new RowOf<AssistantWrite>({
  id: integer("assistant_writes.id"),
  key: integer("read_key"),
  keyName: text("read_keys.name"),
  what: word(),
  target: integer(),
  atMs: integer(),
  undoneAtMs: nullable(integer()),
});
const withKey = part`FROM assistant_writes JOIN read_keys ON read_keys.id = read_key`;
const idRow = new RowOf<{ readonly id: number }>({ id: integer() });
const earlierRow = new RowOf<{ readonly content: string; readonly target: number | null }>({
  content: text("content_sha256"),
  target: nullable(integer()),
});
const firstRow = new RowOf<{ readonly atMs: number }>({ atMs: integer() });
const changedRow = new RowOf<{ readonly createdAtMs: number; readonly updatedAtMs: number }>({
  createdAtMs: integer(),
  updatedAtMs: integer(),
});
const saidRow = new RowOf<{ readonly saidAs: string | null }>({ saidAs: nullable(text()) });
const verdictRow = new RowOf<{ readonly verdict: string | null }>({ verdict: nullable(text()) });

/** The store of what assistants wrote. */
export function assistantWriteStore(engine: Engine) {
  return {
    /** Takes a place of the key's hour before anything is written.
     * @throws Refusal when the idempotency key stands for another change */
    begin: (organization: number, wanted: WantedWrite, nowMs: number): Promise<BegunWrite> =>
      engine.transaction(() => begin(organization, wanted, nowMs)),

    /** Keeps what was written. @param target the id of the note, the task or the alert */
    finish: (organization: number, id: number, target: number): Promise<void> =>
      engine.transaction(function* () {
        yield* run`
          UPDATE assistant_writes SET target = ${target} WHERE organization = ${organization} AND id = ${id}`;
      }),

    /** Gives the place back: nothing was written. */
    giveUp: (organization: number, id: number): Promise<void> =>
      engine.transaction(function* () {
        yield* run`
          DELETE FROM assistant_writes
          WHERE organization = ${organization} AND id = ${id} AND target IS NULL`;
      }),

    /** The newest first. */
    list: (organization: number, limit: number): Promise<readonly AssistantWrite[]> =>
      engine.alone(
        select(write)`
          ${withKey} WHERE assistant_writes.organization = ${organization} AND target IS NOT NULL
          ORDER BY assistant_writes.id DESC LIMIT ${limit}`,
      ),

    /** One that can still be undone; undefined when there is no such one, or it was undone.
     * @throws Refusal when a team member changed it since */
    undoable: (organization: number, id: number): Promise<AssistantWrite | undefined> =>
      engine.snapshot(
        (function* () {
          const [found] = yield* select(write)`
            ${withKey} WHERE assistant_writes.organization = ${organization} AND assistant_writes.id = ${id}
              AND target IS NOT NULL AND undone_at_ms IS NULL`;
          if (found !== undefined) yield* refuseChanged(organization, found);
          return found;
        })(),
      ),

    /** Keeps that it was undone, with an entry in the audit log. */
    undone: (organization: number, { id, what, key }: AssistantWrite, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const changed = yield* run`
          UPDATE assistant_writes SET undone_at_ms = ${nowMs}
          WHERE organization = ${organization} AND id = ${id} AND undone_at_ms IS NULL`;
        if (changed === 0) return;
        const entry = {
          action: "assistant_write.undone",
          summary: `Undid what an assistant wrote: ${words[what]}`,
          detail: { id, what, key },
        } as const;
        yield* audit.note(organization, entry, by, nowMs);
      }),

    /** Whether an alert of the organization has no verdict yet. */
    hasNoVerdict: (organization: number, alert: number): Promise<boolean> =>
      engine.alone(
        (function* () {
          const [row] = yield* select(verdictRow)`
            FROM alerts WHERE organization = ${organization} AND id = ${alert}`;
          return row === undefined || row.verdict === null;
        })(),
      ),
  };
}

export type AssistantWriteStore = ReturnType<typeof assistantWriteStore>;

const words: Readonly<Record<AssistantWriteKind, string>> = {
  note: "a note",
  task: "a task",
  alert: "the outcome of an alert",
};

function* begin(
  organization: number,
  { key, what, idempotencySha256, contentSha256 }: WantedWrite,
  nowMs: number,
): Work<BegunWrite> {
  // Two calls with one idempotency key wait for each other, on all nodes.
  yield* lockKnownOrganization(organization);
  const ofKey = part`FROM assistant_writes WHERE read_key = ${key}`;
  const [earlier] = yield* select(earlierRow)`${ofKey} AND idempotency_sha256 = ${idempotencySha256}`;
  if (earlier !== undefined) {
    if (earlier.content !== contentSha256)
      throw new Refusal("idempotencyKey was sent with another change before: send a new one.");
    return earlier.target === null ? { state: "underWay" } : { state: "done", target: earlier.target };
  }
  const inHour = part`${ofKey} AND at_ms > ${nowMs - hourMs}`;
  if ((yield* count`${inHour}`) >= assistantLimits.writesPerHour) {
    const [first] = yield* select(firstRow)`${inHour} ORDER BY at_ms LIMIT 1`;
    const waitMs = (first?.atMs ?? nowMs) + hourMs - nowMs;
    return { state: "tooMany", retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
  }
  const { id } = yield* returningOne(idRow)`
    INSERT INTO assistant_writes (organization, read_key, what, idempotency_sha256, content_sha256, at_ms)
    VALUES (${organization}, ${key}, ${what}, ${idempotencySha256}, ${contentSha256}, ${nowMs})`;
  return { state: "begun", id };
}

/** @throws Refusal when a team member changed it since: undoing it would take their words away */
function* refuseChanged(organization: number, { what, target, key }: AssistantWrite): Work<void> {
  if (what === "alert") {
    const [last] = yield* select(saidRow)`
      FROM verdicts WHERE organization = ${organization} AND alert = ${target} ORDER BY id DESC LIMIT 1`;
    if (last !== undefined && last.saidAs !== assistantAuthor(key)) throw changedSince(what);
    return;
  }
  const table: Fragment = what === "note" ? part`notes` : part`tasks`;
  const [row] = yield* select(changedRow)`
    FROM ${table} WHERE organization = ${organization} AND id = ${target}`;
  if (row !== undefined && row.updatedAtMs > row.createdAtMs) throw changedSince(what);
}

function changedSince(what: AssistantWriteKind): Refusal {
  return new Refusal(`It cannot be undone: somebody changed the ${what} since. Change it on its page.`);
}
