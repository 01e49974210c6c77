/** The table of message ids in memory and the filter of a run, each against what was put in. */
import { expect, test } from "bun:test";
import type { MessageIdHash } from "../../server/ledger/rules/message-id-hash.ts";
import { addToFilter, emptyFilter, mayContain } from "../../server/ledger/sqlite/message-id-filter.ts";
import { MessageIdTable, secondIn, wordsPerSlot } from "../../server/ledger/sqlite/message-id-table.ts";
import { Random } from "../../simulation/random.ts";

const seed = Date.now() % 2 ** 31;

function randomHash(random: Random): MessageIdHash {
  const word = () => Math.floor(random.next() * 2 ** 32);
  return { first: word(), second: word(), third: word() };
}

test(`a table finds every id while it doubles, each with its newest second, and no stranger (seed ${seed})`, () => {
  const random = new Random(seed);
  const table = new MessageIdTable();
  const added: { hash: MessageIdHash; second: number }[] = [];
  for (let second = 1; second <= 20_000; second++) {
    const again = random.chance(0.1) ? added[random.between(0, added.length - 1)] : undefined;
    const entry = again ?? { hash: randomHash(random), second };
    entry.second = second;
    if (again === undefined) added.push(entry);
    table.add(entry.hash, second);
    const some = random.pick(added);
    expect(table.find(some.hash)).toBe(some.second);
    expect(table.find(randomHash(random))).toBe(0);
  }
  const slots = table.seal();
  expect(table.count).toBe(added.length);
  for (const { hash, second } of added) {
    expect(table.find(hash)).toBe(second);
    const home = hash.first & (slots.length / wordsPerSlot - 1);
    expect(secondIn(slots, home, hash) ?? secondIn(slots, 0, hash)).toBe(second);
  }
});

test("ids that all belong to the last slot go round to the first", () => {
  const table = new MessageIdTable();
  const hashes = Array.from({ length: 50 }, (_, at) => ({ first: 2 ** 32 - 1, second: at, third: 0 }));
  for (const hash of hashes) table.add(hash, 7);
  for (const hash of hashes) expect(table.find(hash)).toBe(7);
  expect(table.find({ first: 2 ** 32 - 1, second: 50, third: 0 })).toBe(0);
});

test(`a filter knows all its ids, and takes few strangers for them (seed ${seed})`, () => {
  const random = new Random(seed);
  const ids = 20_000;
  const filter = emptyFilter(ids);
  const hashes = Array.from({ length: ids }, () => randomHash(random));
  for (const { second, third } of hashes) addToFilter(filter, second, third);
  expect(hashes.every((hash) => mayContain(filter, hash))).toBe(true);
  const taken = hashes.filter(() => mayContain(filter, randomHash(random))).length;
  expect(taken / ids).toBeLessThan(0.03);
});
