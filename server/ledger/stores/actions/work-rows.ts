/** Common parts of notes and tasks: the columns of their entities and people, and the look-up of an entity. */
import type { JsonObject } from "../../../../contract/json.ts";
import type { EntityNumbers, EntityRef, NamedEntity, NamedPerson } from "../../ports/actions/work.ts";
import { forKeyShare } from "../engine/dialect.ts";
import {
  type Fragment,
  integer,
  json,
  nullable,
  part,
  RowOf,
  run,
  select,
  sqlText,
  text,
  type Work,
} from "../engine/sql.ts";

/** The columns of an entity, in statements that join it with `entityOf`. */
export const entityColumns = {
  userNumber: integer(),
  accountNumber: integer(),
  userId: nullable(text("users.user_id")),
  userEmail: nullable(text("users.email")),
  userTraits: nullable(json<JsonObject>("users.traits")),
  accountId: nullable(text("accounts.account_id")),
  accountName: nullable(text("accounts.name")),
};

/** Their values. */
export interface EntityOfRow {
  readonly userNumber: number;
  readonly accountNumber: number;
  readonly userId: string | null;
  readonly userEmail: string | null;
  readonly userTraits: JsonObject | null;
  readonly accountId: string | null;
  readonly accountName: string | null;
}

/** Joins the user or the account of rows of a table. */
export function entityOf(table: "notes" | "tasks"): Fragment {
  return sqlText(`
    LEFT JOIN users ON users.organization = ${table}.organization AND users.number = user_number AND user_number > 0
    LEFT JOIN accounts ON accounts.organization = ${table}.organization AND accounts.number = account_number
      AND account_number > 0`);
}

/** The entity of a row. An erasure deletes an entity and its rows in one commit, so each row has one. */
export function namedEntity({
  userId,
  userEmail,
  userTraits,
  accountId,
  accountName,
}: EntityOfRow): NamedEntity {
  if (userId === null)
    return { kind: "account", id: accountId ?? "", label: accountName || (accountId ?? "") };
  const name = userTraits?.name;
  const label = typeof name === "string" && name !== "" ? name : userEmail || userId;
  return { kind: "user", id: userId, label };
}

/** A person of two columns; null where none is. */
export function namedPerson(id: number | null, name: string | null): NamedPerson | null {
  return id === null || name === null ? null : { id, name };
}

const numberRow = new RowOf<{ readonly number: number }>({ number: integer() });

/** The number of a user or an account, which no erasure deletes before the commit. Undefined if there is none. */
export function* lockEntity(organization: number, { kind, id }: EntityRef): Work<EntityNumbers | undefined> {
  const own =
    kind === "user"
      ? part`FROM users WHERE organization = ${organization} AND user_id = ${id} ${forKeyShare}`
      : part`FROM accounts WHERE organization = ${organization} AND account_id = ${id} ${forKeyShare}`;
  const [found] = yield* select(numberRow)`${own}`;
  if (found === undefined) return undefined;
  return kind === "user" ? { user: found.number, account: 0 } : { user: 0, account: found.number };
}

/** A condition on rows of one user or account, by its id. */
export function isOfEntity(
  organization: number,
  table: "notes" | "tasks",
  { kind, id }: EntityRef,
): Fragment {
  const ofTable = sqlText(`${table}.organization`);
  return kind === "user"
    ? part`${ofTable} = ${organization} AND account_number = 0 AND user_number = (
        SELECT number FROM users WHERE organization = ${organization} AND user_id = ${id})`
    : part`${ofTable} = ${organization} AND user_number = 0 AND account_number = (
        SELECT number FROM accounts WHERE organization = ${organization} AND account_id = ${id})`;
}

/** Deletes the notes and tasks of an erased user or account. */
export function* deleteWorkOf(organization: number, { user, account }: EntityNumbers): Work<void> {
  for (const table of ["notes", "tasks"]) {
    yield* run`
      DELETE FROM ${sqlText(table)} WHERE organization = ${organization} AND user_number = ${user}
        AND account_number = ${account}`;
  }
}
