/** Rows of deliveries and of their destinations. */

import { integer, nullable, RowOf, text, word } from "../ledger/engine/sql.ts";
import type { Delivery } from "./deliveries.ts";
import type { Destination } from "./destinations.ts";
import { destinationColumns } from "./destination-columns.ts";

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
