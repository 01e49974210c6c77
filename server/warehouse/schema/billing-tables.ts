/**
 * Subscriptions, and the billing events that they are computed from. docs/decisions/0073 has the
 * reasons.
 *
 * `billing_events` is filled by a view on `events`, under the tokens of the loader's batches. Its rows stay
 * when raw events are deleted. Several rows with one key are one event: a start, a rebuild or a replayed
 * batch may write an event again.
 *
 * A row of `subscriptions` is a whole subscription, and its changes are parallel arrays. So a reader sees all
 * changes of a subscription, or those before. Readers use FINAL and ARRAY JOIN.
 */
import { billingEventNames, cardEventNames, paymentEventNames } from "../../../contract/billing/events.ts";
import { activityRollups, lastVersion, type Rollup, type Table } from "./tables.ts";

/** A number is its decimal digits: admission takes whole ones. */
const subscriptionId = `if(JSONType(properties, 'subscriptionId') IN ('Int64', 'UInt64'),
  JSONExtractRaw(properties, 'subscriptionId'), JSONExtractString(properties, 'subscriptionId'))`;

/** Whether an event is about a card, by its name. */
export const isOfCards = `event IN (${texts(cardEventNames)})`;

/** Selects billing events among `events`. A new name needs a migration that makes the view anew. */
export const isBilling = `NOT is_activity AND (
  (event IN (${texts(billingEventNames)}) AND (${subscriptionId} != ''
    OR (event IN (${texts(paymentEventNames)}) AND JSONType(properties, 'amount') != 'Null')))
  OR (${isOfCards} AND JSONType(properties, 'cardExpires') != 'Null'))`;

/** Whether a billing event itself names the account that pays. */
export const namesAccount = "JSONType(properties, 'accountId') != 'Null'";

/** An event's id by its source, else by us. */
export const tieBreak = "if(id_is_message_id OR message_id = '', toString(id), message_id)";

/** Without a subscription, the key's second column is empty: cards, and payments that change the status of
 * none. */
export const billingEvents: Rollup = {
  table: {
    name: "billing_events",
    engine: { family: "ReplacingMergeTree", arguments: "" },
    columns: [
      "organization UInt32 CODEC(ZSTD(1))",
      "subscription String CODEC(ZSTD(1))",
      "user UInt32 CODEC(ZSTD(1))",
      "account UInt32 CODEC(ZSTD(1))",
      "is_account_named Bool CODEC(ZSTD(1))",
      "event LowCardinality(String) CODEC(ZSTD(1))",
      "time DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
      "id UUID CODEC(ZSTD(1))",
      "tie_break String CODEC(ZSTD(1))",
      "properties String CODEC(ZSTD(1))",
    ],
    orderBy: "organization, subscription, time, id",
  },
  select: `organization, if(${isOfCards}, '', ${subscriptionId}) AS subscription, user, account,
    ${namesAccount} AS is_account_named, event, time, id,
    ${tieBreak} AS tie_break, properties`,
  where: isBilling,
};

/** Every column of an event that its subscription is computed from, as one number. */
export const billingEventHash =
  "cityHash64(toString(id), event, time, user, account, is_account_named, tie_break, properties)";

/** The arrays of the users and of the accounts that a row is computed from. Erasing one of them deletes the
 * row, which is then computed from the other events. */
export const usersOfRow = "of_users";
export const accountsOfRow = "of_accounts";

/** Columns that the first tables of subscriptions did not have. Rows that were computed before have empty
 * arrays in them, until they are computed again. */
export const laterSubscriptionColumns: readonly string[] = [
  "price_interval Array(LowCardinality(String)) CODEC(ZSTD(1))",
  "trial_ends_at Array(Nullable(DateTime64(3, 'UTC'))) CODEC(ZSTD(1))",
];

/** `events` and `events_hash` say which billing events the row was computed from, and `rules` by which
 * code. */
export const subscriptions: Table = {
  name: "subscriptions",
  engine: lastVersion,
  columns: [
    "organization UInt32 CODEC(ZSTD(1))",
    "subscription String CODEC(ZSTD(1))",
    "version UInt64 CODEC(ZSTD(1))",
    "rules LowCardinality(String) CODEC(ZSTD(1))",
    "events UInt64 CODEC(ZSTD(1))",
    "events_hash UInt64 CODEC(ZSTD(1))",
    `${usersOfRow} Array(UInt32) CODEC(ZSTD(1))`,
    `${accountsOfRow} Array(UInt32) CODEC(ZSTD(1))`,
    "from Array(DateTime64(3, 'UTC')) CODEC(ZSTD(1))",
    "status Array(LowCardinality(String)) CODEC(ZSTD(1))",
    "plan Array(String) CODEC(ZSTD(1))",
    "mrr Array(Int64) CODEC(ZSTD(1))",
    "currency Array(LowCardinality(String)) CODEC(ZSTD(1))",
    "quantity Array(Nullable(Float64)) CODEC(ZSTD(1))",
    "period_end Array(Nullable(DateTime64(3, 'UTC'))) CODEC(ZSTD(1))",
    "ends_at Array(Nullable(DateTime64(3, 'UTC'))) CODEC(ZSTD(1))",
    "payer_account Array(UInt32) CODEC(ZSTD(1))",
    "payer_user Array(UInt32) CODEC(ZSTD(1))",
    "is_involuntary Array(Bool) CODEC(ZSTD(1))",
    "last_event Array(DateTime64(3, 'UTC')) CODEC(ZSTD(1))",
    ...laterSubscriptionColumns,
  ],
  orderBy: "organization, subscription",
};

/** Everything that follows the events. */
export const rollups: readonly Rollup[] = [...activityRollups, billingEvents];

function texts(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(", ");
}
