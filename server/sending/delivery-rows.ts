/** Rows of deliveries and of their destinations. */

import { flag, integer, json, nullable, RowOf, text, word } from "../ledger/sql.ts";
import type { Delivery } from "./deliveries.ts";
import type { Destination } from "./destinations.ts";

/** The columns of a destination, in statements that call its table `destinations`. */
export const destinationColumns = {
  id: integer("destinations.id"),
  organization: integer("destinations.organization"),
  kind: word<Destination["kind"]>(),
  name: text("destinations.name"),
  address: text(),
  secrets: json<readonly string[]>(),
  notices: json<Destination["notices"]>(),
  sendsEmails: flag(),
  state: word<Destination["state"]>("destinations.state"),
  stoppedBecause: nullable(text()),
  failingSinceMs: nullable(integer()),
  failedAttempts: integer("failed_tries"),
  deliveredAtMs: nullable(integer()),
  createdAtMs: integer("destinations.created_at_ms"),
  updatedAtMs: integer(),
};

export const deliveryRow = new RowOf<Delivery>({
  id: integer(),
  organization: integer(),
  destination: integer(),
  messageId: text(),
  type: word(),
  body: text(),
  state: word(),
  attempts: integer("tries"),
  dueAtMs: integer(),
  attemptedAtMs: nullable(integer("tried_at_ms")),
  status: nullable(integer()),
  said: nullable(text()),
  createdAtMs: integer(),
});
export const destinationRow = new RowOf<Destination>(destinationColumns);

/** Before its first attempt a test is due since 1970. So it comes before all messages that wait. */
export const testDueAtMs = 0;
