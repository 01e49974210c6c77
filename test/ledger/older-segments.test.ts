/** A ledger with a row for each user and account of fixed segments is brought to today's form, on both
 * engines. */
import { expect, test } from "bun:test";
import { olderLedgers } from "./older-ledgers.ts";

/** Steps before the users of a segment were in blocks. */
const steps = { sqliteSteps: 36, postgresSteps: 24 };

const numbers = [2, 1_023, 1_024, 1_025, 4_000_000_000];
const rows = [
  ...numbers.toReversed().map((number) => [1, number, 0]),
  ...[7, 2].map((number) => [2, 0, number]),
  [4, 2, 0],
];
const stored = [
  ...["acme", "other"].map(
    (name) =>
      `INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('${name}', 'UTC', 1000, 1)`,
  ),
  `INSERT INTO users (organization, number, account, user_id, email, first_identified_at_ms, updated_at_ms, version,
     traits, timestamp_ms, field_timestamps_ms)
   VALUES (1, 2, 0, 'bob', '', 1, 1, 1, '{}', 1, '{}')`,
  `INSERT INTO segments (organization, kind, name, filter, created_at_ms, updated_at_ms, content_at_ms)
   VALUES (1, 'users', 'people', NULL, 1, 1, 1), (1, 'accounts', 'firms', NULL, 1, 1, 1),
     (1, 'users', 'filtered', '{"state":"active"}', 1, 1, 1), (2, 'users', 'theirs', NULL, 1, 1, 1),
     (1, 'users', 'nobody', NULL, 1, 1, 1)`,
  ...rows.map(
    ([segment, ofUser, ofAccount]) =>
      `INSERT INTO segment_entities (segment, organization, user_number, account_number)
       VALUES (${segment}, ${segment === 4 ? 2 : 1}, ${ofUser}, ${ofAccount})`,
  ),
];

test.each(olderLedgers({ ...steps, stored }))(
  "fixed segments of %s keep their users and accounts, until an erasure",
  async (_, open) => {
    const ledger = await open();
    try {
      const { segments, erasures } = ledger;
      expect((await segments.list(1)).map(({ name, fixed }) => [name, fixed])).toEqual([
        ["filtered", null],
        ["firms", 2],
        ["nobody", 0],
        ["people", 5],
      ]);
      expect([await segments.numbers(1, 1), await segments.numbers(1, 2)]).toEqual([numbers, [2, 7]]);
      expect([await segments.numbers(1, 3), await segments.numbers(2, 4)]).toEqual([[], [2]]);
      expect(await segments.ofUser(1, 4_000_000_000)).toEqual([{ id: 1, name: "people" }]);
      await erasures.begin(1, "bob");
      expect([await segments.numbers(1, 1), await segments.numbers(1, 2)]).toEqual([
        numbers.slice(1),
        [2, 7],
      ]);
      expect(await segments.numbers(2, 4)).toEqual([2]);
    } finally {
      await ledger.close();
    }
  },
);
