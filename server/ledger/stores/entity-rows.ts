/** Common parts of notes and tasks: the columns of their entities and people, and the look-up of an
 * entity. */

import type { JsonObject } from "../../../contract/json.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { SenderName } from "../../../contract/sources.ts";
import { instant } from "../../calendar/instant.ts";
import { forKeyShare, ids as idsAsRows, records } from "../dialect.ts";
import {
  exists,
  type Fragment,
  integer,
  json,
  nullable,
  part,
  RowOf,
  select,
  sqlText,
  text,
  type Work,
} from "../sql.ts";

/** A user or an account, by the id that the company gave it. */
export interface EntityRef {
  readonly kind: "user" | "account";
  readonly id: string;
}

/** A user or an account with its label in lists: name, else e-mail address, else id. */
export interface NamedEntity extends EntityRef {
  readonly label: string;
}

/** A user or an account as messages name it. Its label is no e-mail address. */
export interface EntityInMessages extends NamedEntity {
  /** Null for an account, and for a user without one. */
  readonly email: string | null;
}

/** A team member, also one who left the organization. */
export interface NamedPerson {
  readonly id: number;
  readonly name: string;
}

/** Users and accounts by their numbers. */
export interface EntitiesByNumber {
  readonly users: readonly number[];
  readonly accounts: readonly number[];
}

/** The number of a user or an account: the other one is 0. */
export interface EntityNumbers {
  readonly user: number;
  readonly account: number;
}

/** A user or an account by its number, or a source. */
export type RuleEntity =
  | { readonly kind: "user" | "account"; readonly number: number }
  | { readonly kind: "source"; readonly source: SenderName };

/** A key of an entity: `user 7`, `source api`. */
export function keyOfEntity(entity: RuleEntity): string {
  return `${entity.kind} ${entity.kind === "source" ? entity.source : entity.number}`;
}

/** The number of an entity, as entries of the log have it. */
export function numberOf({ user, account }: EntityNumbers) {
  return user > 0 ? { user } : { account };
}

/** The error when a task is to be done by a person who is no team member. */
function noTeamMember(): Refusal {
  return new Refusal("assignee is not valid: send the id of a team member, or null.");
}

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
export function entityOf(table: "notes" | "tasks" | "alerts"): Fragment {
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

/** The number of a user or an account, which no erasure deletes before the commit. Undefined if there is
 * none. */
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
  table: "notes" | "tasks" | "alerts",
  { kind, id }: EntityRef,
): Fragment {
  const ofTable = sqlText(`${table}.organization`);
  return kind === "user"
    ? part`${ofTable} = ${organization} AND account_number = 0 AND user_number = (
        SELECT number FROM users WHERE organization = ${organization} AND user_id = ${id})`
    : part`${ofTable} = ${organization} AND user_number = 0 AND account_number = (
        SELECT number FROM accounts WHERE organization = ${organization} AND account_id = ${id})`;
}

const entityRow = new RowOf<EntityNumbers>({
  user: integer("user_number"),
  account: integer("account_number"),
});

/** The users and accounts of rows of a table, each once. @param which the statement from FROM on */
export function* findEntities(which: Fragment): Work<EntitiesByNumber> {
  const rows = yield* select(entityRow)`${which} GROUP BY user_number, account_number`;
  return {
    users: rows.flatMap(({ user }) => (user === 0 ? [] : user)),
    accounts: rows.flatMap(({ account }) => (account === 0 ? [] : account)),
  };
}

/** A condition on rows of these users and accounts. @param among undefined for all */
export function isAmong(among: EntitiesByNumber | undefined): Fragment {
  if (among === undefined) return part`true`;
  return part`(user_number IN (SELECT id FROM ${idsAsRows(among.users)})
    OR account_number IN (SELECT id FROM ${idsAsRows(among.accounts)}))`;
}

/** A condition on rows of these users and accounts, for few of them: it reads the table's index by entity. */
export function isAmongEach(
  table: "tasks" | "alerts" | "calls_set_aside",
  organization: number,
  { users, accounts }: EntitiesByNumber,
): Fragment {
  const pairs = [
    ...users.map((user) => ({ user, account: 0 })),
    ...accounts.map((account) => ({ user: 0, account })),
  ];
  const given = records(pairs, { user: "bigint", account: "bigint" });
  return part`${sqlText(`${table}.organization`)} = ${organization}
    AND (user_number, account_number) IN (SELECT "user", account FROM ${given})`;
}

interface NamedUserRow {
  readonly number: number;
  readonly id: string;
  readonly email: string;
  readonly traits: JsonObject;
}
const namedUserRow = new RowOf<NamedUserRow>({
  number: integer(),
  id: text("user_id"),
  email: text(),
  traits: json(),
});
const namedAccountRow = new RowOf<{ readonly number: number; readonly id: string; readonly name: string }>({
  number: integer(),
  id: text("account_id"),
  name: text(),
});

/** Names of entities, by their keys. No label is an e-mail address: messages leave the installation. */
export function* findNamed(
  organization: number,
  entities: readonly RuleEntity[],
): Work<Readonly<Record<string, EntityInMessages>>> {
  const numbers = (wanted: "user" | "account") =>
    entities.flatMap((entity) => (entity.kind === wanted ? [entity.number] : []));
  const users = yield* select(namedUserRow)`
    FROM users WHERE organization = ${organization} AND number IN (SELECT id FROM ${idsAsRows(numbers("user"))})`;
  const accounts = yield* select(namedAccountRow)`
    FROM accounts WHERE organization = ${organization} AND number IN (SELECT id FROM ${idsAsRows(numbers("account"))})`;
  const named: Record<string, EntityInMessages> = {};
  for (const { number, id, email, traits } of users) {
    const label = typeof traits.name === "string" && traits.name !== "" ? traits.name : id;
    named[keyOfEntity({ kind: "user", number })] = { kind: "user", id, label, email: email || null };
  }
  for (const { number, id, name } of accounts) {
    named[keyOfEntity({ kind: "account", number })] = { kind: "account", id, label: name || id, email: null };
  }
  return named;
}

/** @throws Refusal when a person is no team member */
export function* refuseStranger(organization: number, person: number | null): Work<void> {
  if (person === null) return;
  const isMember = yield* exists`
    FROM memberships WHERE organization = ${organization} AND person = ${person}`;
  if (!isMember) throw noTeamMember();
}

/** The refusal of one row too many. @param which the number and what it counts: `200 notes here` */
export function tooManyOfThem(which: string): Refusal {
  return new Refusal(`There are ${which} already: delete one before you add another.`);
}

/** The names of the columns of `exportedEntity`. */
export const exportedEntityColumns = ["id", "userId", "accountId"] as const;

/** The first columns of an exported row: its id, and whom it is about. */
export function exportedEntity({ id, entity }: { readonly id: number; readonly entity: EntityRef }) {
  const isUser = entity.kind === "user";
  return { id, userId: isUser ? entity.id : null, accountId: isUser ? null : entity.id };
}

/** The name of a person; null for nobody. */
export function nameOf(person: NamedPerson | null): string | null {
  return person?.name ?? null;
}

/** Columns of an exported row that say who wrote it, and when. */
export function exportedAuthor({
  createdBy,
  writtenAs,
  createdAtMs,
  updatedAtMs,
}: {
  readonly createdBy: NamedPerson | null;
  readonly writtenAs: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}) {
  return {
    createdBy: nameOf(createdBy) ?? writtenAs,
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}

/** Which of these entities are there. No erasure deletes them before the commit. */
export function* existing(
  organization: number,
  entities: readonly RuleEntity[],
): Work<(entity: RuleEntity) => boolean> {
  const numbers = (kind: RuleEntity["kind"]) => [
    ...new Set(entities.flatMap((one) => (one.kind === kind && one.kind !== "source" ? [one.number] : []))),
  ];
  const [users, accounts] = [numbers("user"), numbers("account")];
  const found = {
    user: yield* select(numberRow)`
      FROM users WHERE organization = ${organization} AND number IN (SELECT id FROM ${idsAsRows(users)}) ${forKeyShare}`,
    account: yield* select(numberRow)`
      FROM accounts WHERE organization = ${organization} AND number IN (SELECT id FROM ${idsAsRows(accounts)})
      ${forKeyShare}`,
  };
  const there = {
    user: new Set(found.user.map(({ number }) => number)),
    account: new Set(found.account.map(({ number }) => number)),
  };
  return (entity) => entity.kind === "source" || there[entity.kind].has(entity.number);
}
