/** Takes excluded and erased users and accounts out of the messages that wait. */

import { forUpdate } from "../../../engine/dialect.ts";
import { integer, part, RowOf, run, select, text, type Work } from "../../../engine/sql.ts";
import { keyOfEntity } from "../../../ports/actions/rule-entities.ts";
import type { NamedInMessages } from "../../../ports/actions/rules.ts";
import { withoutEntities } from "../../../ports/actions/run-messages.ts";
import type { EntityNumbers } from "../../entity-rows.ts";
import { entityOfNumbers } from "../alert-states.ts";

interface WaitingRow {
  readonly id: number;
  readonly body: string;
  readonly claimedUntilMs: number;
}
const waitingRow = new RowOf<WaitingRow>({ id: integer(), body: text(), claimedUntilMs: integer() });

interface NamedRow {
  readonly organization: number;
  readonly userNumber: number;
  readonly accountNumber: number;
}
const namedRow = new RowOf<NamedRow>({
  organization: integer(),
  userNumber: integer(),
  accountNumber: integer(),
});

const waits = part`state IN ('pending', 'held')`;

/** Takes an entity out of the messages that wait. Those about no other alert are canceled. @param isErased
 * also deletes bodies and answers of messages that name it still. One that is under way is canceled, because
 * its answer may name it. */
export function* leaveMessages(
  organization: number,
  { user, account }: EntityNumbers,
  { isErased = false } = {},
): Work<void> {
  const ofEntity = part`organization = ${organization} AND user_number = ${user} AND account_number = ${account}`;
  const named = part`id IN (SELECT delivery FROM delivery_entities WHERE ${ofEntity})`;
  const waiting = yield* select(
    waitingRow,
  )`FROM deliveries WHERE ${named} AND ${waits} ORDER BY id ${forUpdate}`;
  const key = new Set([keyOfEntity(entityOfNumbers(user, account, ""))]);
  for (const { id, body, claimedUntilMs } of waiting) {
    const rest = isErased && claimedUntilMs > 0 ? undefined : withoutEntities(body, key);
    if (rest === undefined) yield* run`UPDATE deliveries SET state = 'canceled' WHERE id = ${id}`;
    else {
      yield* run`UPDATE deliveries SET body = ${rest}, said = NULL WHERE id = ${id}`;
      yield* run`DELETE FROM delivery_entities WHERE delivery = ${id} AND ${ofEntity}`;
    }
  }
  if (isErased) yield* run`UPDATE deliveries SET body = '', said = NULL WHERE ${named}`;
}

/** Users and accounts in messages that are due until then, and in those that are held for a destination that
 * works again: these may be sent at any moment. */
export function* findNamedInMessages(untilMs: number): Work<readonly NamedInMessages[]> {
  const rows = yield* select(namedRow)`
    FROM delivery_entities WHERE delivery IN (
      SELECT id FROM deliveries WHERE state = 'pending' AND due_at_ms <= ${untilMs}
      UNION ALL
      SELECT id FROM deliveries WHERE state = 'held' AND destination IN (SELECT id FROM destinations WHERE state = 'active'))
    GROUP BY organization, user_number, account_number ORDER BY organization, user_number, account_number`;
  return rows.map(({ organization, userNumber, accountNumber }) => ({
    organization,
    entity: entityOfNumbers(userNumber, accountNumber, ""),
  }));
}
