/** Reads what the ledger keeps about one person. */

import { positionIn, texts } from "../engine/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import {
  exists,
  flag,
  integer,
  nullable,
  part,
  RowOf,
  real,
  select,
  text,
  type Work,
  word,
} from "../engine/sql.ts";
import type {
  IdentityData,
  LinkedId,
  PersonAlertState,
  PersonDataStore,
  PersonDelivery,
  PersonHoldOutEntry,
} from "./about-person.ts";
import { addressId, type HeldEvent, type PersonId } from "../rules/held-events.ts";
import { personOf, personText } from "../rules/person-text.ts";
import { findEntries } from "./audit.ts";
import { linkedTo } from "./held-event-rows.ts";
import { findRowsOfUser } from "./rejected-event-rows.ts";
import { findWarningsOf } from "./warnings.ts";
import { callRow } from "../../features/alerts/store/alert-store.ts";
import { isKept } from "../../features/alerts/store/which-alerts.ts";

const linkRow = new RowOf<{ readonly id: string; readonly atMs: number }>({ id: text(), atMs: integer() });
const heldRow = new RowOf<HeldEvent>({
  receivedAtMs: integer(),
  atMs: integer(),
  accountId: nullable(text()),
  body: text(),
});
const emailRow = new RowOf<{ readonly email: string }>({ email: text() });
const ruleColumns = { ruleId: integer("alert_rules.id"), rule: text("alert_rules.name") };
const stateRow = new RowOf<PersonAlertState>({
  ...ruleColumns,
  hasLeft: flag(),
  daysOut: integer(),
  restsUntil: nullable(integer()),
  firedOn: nullable(integer()),
  value: nullable(real()),
});
const entryRow = new RowOf<PersonHoldOutEntry>({
  ...ruleColumns,
  experiment: integer("entries.experiment"),
  accountId: nullable(text("accounts.account_id")),
  arm: nullable(word()),
  enteredDay: nullable(integer()),
  outcome: nullable(text()),
});
const deliveryRow = new RowOf<PersonDelivery>({
  id: integer("deliveries.id"),
  destination: text("destinations.name"),
  destinationKind: word("destinations.kind"),
  messageId: text(),
  type: word(),
  body: text(),
  state: word("deliveries.state"),
  attempts: integer("tries"),
  dueAtMs: integer(),
  attemptedAtMs: nullable(integer("tried_at_ms")),
  status: nullable(integer()),
  createdAtMs: integer("deliveries.created_at_ms"),
});

/** The store of data about persons. */
export function personDataStore(engine: Engine): PersonDataStore {
  return {
    identity: async (organization, userId) => {
      await engine.countsFlushed();
      return engine.snapshot(identityOf(organization, userId));
    },
    rejectedEvents: (organization, user, after, limit) =>
      engine.snapshot(findRowsOfUser(organization, user, after, limit)),
    alertStates: (organization, user) =>
      engine.alone(select(stateRow)`
        FROM alert_states JOIN alert_rules ON alert_rules.id = alert_states.rule
        WHERE alert_states.organization = ${organization} AND user_number = ${user} AND account_number = 0
          AND ${isKept}
        ORDER BY alert_rules.id`),
    calls: (organization, user) =>
      engine.alone(select(callRow)`
        FROM calls_set_aside WHERE organization = ${organization} AND user_number = ${user} AND account_number = 0`),
    holdOutEntries: (organization, user) => engine.alone(entriesOf(organization, user)),
    deliveries: (organization, user, after, limit) =>
      engine.alone(select(deliveryRow)`
        FROM deliveries JOIN destinations ON destinations.id = deliveries.destination
        WHERE deliveries.organization = ${organization} AND deliveries.id > ${after} AND deliveries.id IN (
          SELECT delivery FROM delivery_entities
          WHERE organization = ${organization} AND user_number = ${user} AND account_number = 0)
        ORDER BY deliveries.id LIMIT ${limit}`),
    auditEntries: (organization, user, before, limit) =>
      engine.alone(
        findEntries(part`
          WHERE organization = ${organization} AND id < ${before} AND (
            ${positionIn}(detail, ${`"user":${user},`}) > 0 OR ${positionIn}(detail, ${`"user":${user}}`}) > 0)
          ORDER BY id DESC LIMIT ${limit}`),
      ),
  };
}

function* identityOf(organization: number, userId: string): Work<IdentityData> {
  const [user] = yield* select(emailRow)`
    FROM users WHERE organization = ${organization} AND user_id = ${userId}`;
  const people = yield* idsOf(organization, userId, user?.email);
  const given = texts(people.map(personText));
  const links = yield* select(linkRow)`
    FROM identity_links WHERE organization = ${organization} AND id IN (SELECT text FROM ${given})`;
  const held = yield* select(heldRow)`
    FROM held_events WHERE organization = ${organization} AND person IN (SELECT text FROM ${given}) ORDER BY id`;
  const names = [...new Set(people.map(({ id }) => id))];
  return {
    ids: links.map(({ id, atMs }): LinkedId => ({ ...personOf(id), atMs })),
    held,
    warnings: yield* findWarningsOf(organization, names),
  };
}

/** A rule forgets its entries when it is deleted, so each has its rule. The last condition says to SQLite
 * that an index of named entries serves. */
function entriesOf(organization: number, user: number) {
  return select(entryRow)`
    FROM hold_out_entries AS entries JOIN alert_rules ON alert_rules.id = entries.rule
    LEFT JOIN accounts ON accounts.organization = entries.organization AND accounts.number = entries.account_number
      AND entries.account_number > 0
    WHERE entries.organization = ${organization} AND entries.user_number = ${user} AND entries.user_number <> 0
      AND ${isKept}
    ORDER BY entries.id`;
}

/** The ids of a person, their own among them. Held events under an e-mail address belong to the only user
 * with it.
 * @param email undefined for an id that was never identified */
function* idsOf(organization: number, userId: string, email: string | undefined): Work<readonly PersonId[]> {
  const own: PersonId = { kind: "user", id: userId };
  const linked = yield* linkedTo(organization, userId);
  if (email === undefined) return [own, ...linked, { kind: "visitor", id: userId }];
  const address = email === "" ? undefined : addressId(email);
  if (address === undefined) return [own, ...linked];
  const isShared = yield* exists`
    FROM users AS own JOIN users AS other ON other.organization = own.organization AND other.email_key = own.email_key
      AND other.number <> own.number
    WHERE own.organization = ${organization} AND own.user_id = ${userId}`;
  return isShared ? [own, ...linked] : [own, ...linked, ...(yield* linkedTo(organization, address))];
}
