/** How users and accounts are called, wherever scores name them. */
import type { EntityKind } from "./engagement-events.ts";

const userName = `if(position(traits, '"name":') > 0, JSONExtractString(traits, 'name'), '')`;

/** A subquery (entity, id, label) of all users or accounts: a user's name, else their e-mail address, else
 * their id; an account's name. It binds `organization`; queries need `SETTINGS allow_simdjson = 0`, as
 * analytics/json-text.ts says. */
export function nameOf(kind: EntityKind): string {
  return kind === "user"
    ? `SELECT user AS entity, user_id AS id, multiIf(${userName} != '', ${userName}, email != '', email, user_id) AS label
       FROM users FINAL WHERE organization = {organization:UInt32}`
    : `SELECT account AS entity, account_id AS id, name AS label
       FROM accounts FINAL WHERE organization = {organization:UInt32}`;
}
