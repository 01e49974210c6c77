/** The columns of destinations, for the stores of destinations and of deliveries. */

import { flag, integer, json, nullable, text, word } from "../ledger/engine/sql.ts";
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
