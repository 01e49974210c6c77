/** Holds answers of the warehouse about retention against a recount of everything that was sent, cell by
 * cell. */
import { expect } from "bun:test";
import { cellOrder, type Facts, RetentionRecount } from "../../bench/history/retention-recount.ts";
import type { JsonObject } from "../../contract/json.ts";
import { retention } from "../../server/analytics/retention/retention.ts";
import { retentionPeople } from "../../server/analytics/retention/retention-people.ts";
import type { RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import type { RetentionTable } from "../../server/analytics/retention/retention-table.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { accountRow, userRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Random } from "../../simulation/random.ts";
import { type Combination, type HistoryShape, questionAbout, randomFacts } from "./retention-support.ts";
import { event, insertEvents, type WarehouseUnderTest } from "./support.ts";

/** Asks these questions of a random history and of people behind cells of theirs, and recounts every
 * answer. */
export async function checkQuestions(
  subject: WarehouseUnderTest,
  random: Random,
  shape: HistoryShape,
  questions: readonly Combination[],
): Promise<void> {
  const organization = subject.newOrganization();
  const facts = randomFacts(random, shape);
  await store(subject, organization, facts);
  // Events after today count nowhere. With an earlier today there are always users with such events.
  const earlier = { ...shape, today: shape.today - random.between(1, 40) };
  let people = 0;
  for (const [n, combination] of questions.entries()) {
    const question = questionAbout(random, combination, n % 4 === 0 ? earlier : shape, organization);
    const recount = new RetentionRecount(facts, question);
    const cells = counted(await retention(subject.warehouse, question));
    expect({ question, cells }).toEqual({ question, cells: recount.cells() });
    const cell = cells[random.between(0, cells.length)];
    // One question in about five has no cells. The people of each are read until there were some.
    if (cell === undefined || (n % 5 !== 0 && people > 0)) continue;
    for (const retained of [true, false]) {
      const found = await peopleOf(subject, question, {
        ...cell,
        retained,
        limit: random.pick([3, 10, 1_000]),
      });
      expect(found).toEqual({ numbers: recount.people(cell, retained), users: cell.users });
      people += found.numbers.length;
    }
  }
  expect(people).toBeGreaterThan(0);
}

/** Brings facts into the warehouse as intake would have made rows of them. */
async function store(subject: WarehouseUnderTest, organization: number, facts: Facts): Promise<void> {
  const zone = new Zone(facts.timezone);
  const events = facts.events.map((one) => event(organization, { ...one, day: zone.dayOf(one.timeMs) }));
  await insertEvents(subject, events, 3);
  const versions: string[] = [];
  const users: string[] = [];
  for (const [number, words] of Map.groupBy(facts.words, ({ user }) => user)) {
    let traits: JsonObject = {};
    let account = 0;
    for (const word of words.toSorted((a, b) => a.atMs - b.atMs)) {
      traits = { ...traits, ...word.traits };
      account = word.account ?? account;
    }
    const user = {
      organization,
      userId: `u-${number}`,
      number,
      email: `u-${number}@example.com`,
      traits,
      isAccountOwner: facts.owners.has(number) ? true : null,
      account,
      firstIdentifiedAtMs: Math.min(...words.map(({ atMs }) => atMs)),
      timestampMs: 0,
      fieldTimestampsMs: {},
      updatedAtMs: 0,
      version: words.length,
    };
    users.push(
      userRow({ ...user, version: 1, traits: { plan: "of before" }, account: 4 }),
      userRow({ ...user, version: 2 }),
    );
    for (const [index, word] of words.entries()) {
      const said = { atMs: word.atMs, traits: word.traits, account: word.account ?? null };
      versions.push(userVersionRow({ ...user, version: index + 1 }, said));
    }
  }
  await subject.insert("users", users);
  await subject.insert("user_versions", versions);
  const accounts = [...facts.accounts].map(([number, { id, name }]) => ({
    organization,
    accountId: id,
    number,
    name,
    avatar: null,
    traits: {},
    timestampMs: 0,
    fieldTimestampsMs: {},
    createdAtMs: 0,
    updatedAtMs: 0,
    version: 1,
  }));
  await subject.insert("accounts", accounts.map(accountRow));
  await subject.warehouse.command(
    `INSERT INTO excluded_users
     SELECT {organization:UInt32}, 1, groupBitmapState(arrayJoin({users:Array(UInt32)}))`,
    { organization, users: [...(facts.excluded ?? [])] },
  );
}

/** The counts of a table, for the recount has no intervals. */
function counted({ cells }: RetentionTable) {
  return cells
    .map(({ share, low, high, isAlreadyHere: _, ...cell }) => {
      expect(share).toBe(cell.users / cell.cohortUsers);
      expect(low <= share && share <= high).toBe(true);
      return cell;
    })
    .sort(cellOrder);
}

/** All people behind a cell, read by pages of at most `limit` people. */
async function peopleOf(
  { warehouse }: WarehouseUnderTest,
  question: RetentionQuestion,
  {
    kind,
    value,
    cohortDay,
    period,
    retained,
    limit,
  }: ReturnType<typeof counted>[number] & { retained: boolean; limit: number },
) {
  const numbers: number[] = [];
  let users = 0;
  for (let after: number | null = 0; after !== null; ) {
    const page = await retentionPeople(warehouse, {
      ...question,
      group: { kind, value },
      cohortDay,
      at: period,
      retained,
      limit,
      after,
    });
    expect(page.people.length).toBeLessThanOrEqual(limit);
    numbers.push(...page.people.map(({ userId }) => Number(userId.slice(2))));
    users = page.users;
    after = page.next;
  }
  return { numbers, users };
}
