/** The tables of destinations and deliveries, as the migrations create them on both engines. Never edit a
 * released text. */
import type { TableTypes } from "../ledger/tables.ts";

/** Destinations of messages, their deliveries, and the place at which the ledger is. */
export function destinationsTables({ id, integer, text, ordered, end }: TableTypes): string {
  return `
  CREATE TABLE destinations (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    kind ${text} NOT NULL,
    name ${ordered} NOT NULL,
    address ${text} NOT NULL,
    secrets ${text} NOT NULL,
    notices ${text} NOT NULL,
    state ${text} NOT NULL CHECK (state IN ('unconfirmed', 'active', 'paused', 'disabled')),
    stopped_because ${text},
    failing_since_ms ${integer},
    failed_tries ${integer} NOT NULL,
    delivered_at_ms ${integer},
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL,
    UNIQUE (organization, name)
  )${end};

  CREATE TABLE deliveries (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    destination ${integer} NOT NULL REFERENCES destinations (id) ON DELETE CASCADE,
    message_id ${text} NOT NULL,
    type ${text} NOT NULL,
    body ${text} NOT NULL,
    state ${text} NOT NULL CHECK (state IN ('pending', 'held', 'delivered', 'failed', 'canceled')),
    tries ${integer} NOT NULL,
    due_at_ms ${integer} NOT NULL,
    claimed_until_ms ${integer} NOT NULL,
    tried_at_ms ${integer},
    status ${integer},
    said ${text},
    created_at_ms ${integer} NOT NULL,
    UNIQUE (destination, message_id)
  )${end};
  CREATE TABLE ledger_place (
    only_row ${integer} PRIMARY KEY CHECK (only_row = 1),
    place ${text} NOT NULL
  )${end};
  CREATE INDEX deliveries_of_organization ON deliveries (organization, id);
  CREATE INDEX deliveries_due ON deliveries (destination, due_at_ms) WHERE state = 'pending';
  CREATE INDEX deliveries_under_way ON deliveries (destination, claimed_until_ms) WHERE state = 'pending';
  CREATE INDEX deliveries_by_age ON deliveries (created_at_ms) WHERE state NOT IN ('pending', 'held');
`;
}

/** Whether messages to a destination have e-mail addresses. */
export const emailsOfDestinations =
  "ALTER TABLE destinations ADD COLUMN sends_emails INTEGER NOT NULL DEFAULT 0;";

/** When the owners are told that failures have disabled a destination. */
export function toldOwners({ integer }: TableTypes): string {
  return `
  ALTER TABLE destinations ADD COLUMN tell_owners_at_ms ${integer};
  CREATE INDEX destinations_to_tell ON destinations (tell_owners_at_ms) WHERE tell_owners_at_ms IS NOT NULL;`;
}

/** Messages that wait are looked at before they are sent: excluded users and accounts leave them. A paused
 * destination may hold many. */
export const waitingDeliveries = `
  CREATE INDEX deliveries_waiting ON deliveries (due_at_ms) WHERE state = 'pending';
  CREATE INDEX deliveries_held ON deliveries (destination) WHERE state = 'held';
`;

/** What a delivery is about whose body is rendered when it is due: `AboutAlerts` as JSON. Null for a delivery
 * that was added with its body. */
export const aboutOfDeliveries = ({ text }: TableTypes) => `
  ALTER TABLE deliveries ADD COLUMN about ${text};
  CREATE INDEX deliveries_to_render ON deliveries (due_at_ms) WHERE state = 'pending' AND body = '';
`;
