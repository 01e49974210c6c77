/**
 * Stores the users or accounts of fixed segments in blocks of neighbouring numbers. One row for each of
 * 100,000 users held up writes for 0.6 s.
 *
 * Users and accounts are looked up in small reads before the commit. The commit leaves out those that were
 * erased since the first of them.
 */

import { Refusal } from "../../../contract/refusal.ts";
import type { SegmentKind } from "../../../contract/segments/segments.ts";
import { ids as idsAsRows, onPostgres, records, texts } from "../../ledger/dialect.ts";
import type { Engine } from "../../ledger/engine.ts";
import type { Segment } from "../../ledger/rules/segment-rules.ts";
import { integer, json, part, RowOf, run, select, sqlText, text, type Work } from "../../ledger/sql.ts";
import type { EntityNumbers } from "../../ledger/stores/entity-rows.ts";
import type { SegmentContent } from "./segments.ts";
import { numbersInBlock } from "./tables.ts";

/** A part of a fixed segment: those of its numbers that have this quotient by `numbersInBlock`. */
interface Block {
  readonly block: number;
  /** Ascending, never empty. */
  readonly numbers: readonly number[];
}

/** Users or accounts that a segment shall have. */
export interface FoundMembers {
  readonly blocks: readonly Block[];
  /** Ids that mean none. */
  readonly unknownIds: readonly string[];
  /** All of them were there after the erasures up to this one. */
  readonly afterErasure: number;
}

interface FixedSegment extends Pick<Segment, "id" | "kind"> {
  readonly organization: number;
}

type FixedContent = Exclude<SegmentContent, { readonly filter: unknown }>;

/** One statement looks up so many, in about a millisecond of SQLite. */
const lookedUpAtOnce = 500;

const idColumns = { users: "user_id", accounts: "account_id" } as const;
const entityRow = (kind: SegmentKind) =>
  new RowOf<{ readonly id: string; readonly number: number }>({
    id: text(idColumns[kind]),
    number: integer(),
  });
const numberRow = new RowOf<{ readonly number: number }>({ number: integer() });
const numbersRow = new RowOf<Pick<Block, "numbers">>({ numbers: json() });
const newestErasure = new RowOf<{ readonly id: number }>({ id: integer("coalesce(max(id), 0)") });
const placedRow = new RowOf<Block & Pick<Segment, "id" | "name">>({
  id: integer("segments.id"),
  name: text("segments.name"),
  block: integer("segment_blocks.block"),
  numbers: json("segment_blocks.numbers"),
});

/** How many users or accounts a row of `segments` has, as SQL. */
export const sizeOfFixed = `(SELECT CAST(coalesce(sum(segment_blocks.members), 0) AS bigint) FROM segment_blocks
  WHERE segment_blocks.segment = segments.id)`;

/** Looks up the users or accounts of a segment. Other requests run in between. @returns undefined for a
 * filter */
export async function findMembers(
  engine: Engine,
  organization: number,
  kind: SegmentKind,
  content: SegmentContent | undefined,
): Promise<FoundMembers | undefined> {
  if (content === undefined || "filter" in content) return undefined;
  const afterErasure = await engine.transaction(function* () {
    yield* lockOutErasures(organization);
    const [newest] = yield* select(newestErasure)`FROM erasures`;
    return newest?.id ?? 0;
  });
  const numbers = new Map<number, Set<number>>();
  const unknownIds =
    "numbers" in content
      ? await findNumbers(engine, { organization, kind, numbers }, content.numbers)
      : await findIds(engine, { organization, kind, numbers }, content.ids);
  const blocks = [...numbers].map(([block, ofBlock]) => ({
    block,
    numbers: [...ofBlock].sort((a, b) => a - b),
  }));
  await engine.nextTurn();
  return { blocks, unknownIds, afterErasure };
}

interface Search {
  readonly organization: number;
  readonly kind: SegmentKind;
  /** Those that were found, by their block. */
  readonly numbers: Map<number, Set<number>>;
}

/** @returns no unknown id */
async function findNumbers(
  engine: Engine,
  { organization, kind, numbers }: Search,
  wanted: readonly number[],
): Promise<readonly string[]> {
  await inSteps(engine, wanted, async (some) => {
    const found = await engine.alone(select(numberRow)`
      FROM ${sqlText(kind)} WHERE organization = ${organization}
        AND number IN (SELECT given.id FROM ${idsAsRows(some)})`);
    for (const { number } of found) addTo(numbers, number);
  });
  return [];
}

/** @returns the ids that are unknown */
async function findIds(
  engine: Engine,
  { organization, kind, numbers }: Search,
  wanted: readonly string[],
): Promise<readonly string[]> {
  const unknown = new Set(wanted);
  await inSteps(engine, [...unknown], async (some) => {
    const found = await engine.alone(select(entityRow(kind))`
      FROM ${sqlText(kind)} WHERE organization = ${organization}
        AND ${sqlText(idColumns[kind])} IN (SELECT given.text FROM ${texts(some)})`);
    for (const { id, number } of found) {
      addTo(numbers, number);
      unknown.delete(id);
    }
  });
  return [...unknown];
}

async function inSteps<Item>(
  engine: Engine,
  items: readonly Item[],
  step: (some: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += lookedUpAtOnce) {
    await step(items.slice(at, at + lookedUpAtOnce));
    await engine.nextTurn();
  }
}

function addTo(numbers: Map<number, Set<number>>, number: number): void {
  const block = blockOf(number);
  const ofBlock = numbers.get(block);
  if (ofBlock === undefined) numbers.set(block, new Set([number]));
  else ofBlock.add(number);
}

function blockOf(number: number): number {
  return Math.floor(number / numbersInBlock);
}

/** No erasure of the organization is under way, and none begins before the commit. SQLite has one writer at a
 * time. It is the first lock of a transaction: see `postgres/locks.ts`. */
export function lockOutErasures(organization: number) {
  return run`${onPostgres(part`SELECT 1 FROM populations WHERE organization = ${organization} FOR SHARE`)}`;
}

/** Stores the users or accounts of a segment instead of those before. Erasures have to be locked out.
 * @throws Refusal when there is none */
export function* setMembers(
  { organization, id, kind }: FixedSegment,
  content: FixedContent,
  { blocks, afterErasure }: FoundMembers,
): Work<void> {
  const number = sqlText(kind === "users" ? '"user"' : "account");
  const erased = yield* select(numberRow)`
    FROM (SELECT ${number} AS number FROM erasures WHERE id > ${afterErasure} AND organization = ${organization}) AS since`;
  const gone = new Set(erased.map((one) => one.number));
  const rows = blocks.flatMap(({ block, numbers }) => {
    const left = gone.size === 0 ? numbers : numbers.filter((one) => !gone.has(one));
    return left.length === 0 ? [] : { block, members: left.length, numbers: JSON.stringify(left) };
  });
  if (rows.length === 0) {
    throw new Refusal(
      "ids" in content
        ? `ids is not valid: none of them is the id of ${one[kind]}.`
        : `All of these ${kind} were erased meanwhile, so there is nothing to save.`,
    );
  }
  yield* run`DELETE FROM segment_blocks WHERE segment = ${id}`;
  yield* run`
    INSERT INTO segment_blocks (segment, organization, block, members, numbers)
    SELECT CAST(${id} AS bigint), CAST(${organization} AS bigint), block, members, numbers
    FROM ${records(rows, { block: "bigint", members: "bigint", numbers: "text" })}`;
}

const one = { users: "a user", accounts: "an account" } as const;

/** The numbers of the users or accounts of a fixed segment, ascending. */
export function* numbersOfSegment(organization: number, segment: number): Work<readonly number[]> {
  const blocks = yield* select(numbersRow)`
    FROM segment_blocks WHERE segment = ${segment} AND organization = ${organization} ORDER BY block`;
  return blocks.flatMap(({ numbers }) => numbers);
}

/** The fixed segments that have a user or an account, by name, with the block that it is in. */
export function* segmentsOfEntity(
  organization: number,
  { user, account }: EntityNumbers,
): Work<readonly (Block & Pick<Segment, "id" | "name">)[]> {
  const [kind, number]: [SegmentKind, number] = user > 0 ? ["users", user] : ["accounts", account];
  const blocks = yield* select(placedRow)`
    FROM segment_blocks JOIN segments ON segments.id = segment_blocks.segment
    WHERE segment_blocks.organization = ${organization} AND block = ${blockOf(number)} AND kind = ${kind}
    ORDER BY segments.name`;
  return blocks.filter(({ numbers }) => numbers.includes(number));
}

/** Takes an erased user or account out of fixed segments. */
export function* leaveSegments(organization: number, entity: EntityNumbers): Work<void> {
  const own = entity.user > 0 ? entity.user : entity.account;
  for (const { id, block, numbers } of yield* segmentsOfEntity(organization, entity)) {
    const left = numbers.filter((number) => number !== own);
    const isBlock = part`WHERE segment = ${id} AND block = ${block}`;
    if (left.length === 0) yield* run`DELETE FROM segment_blocks ${isBlock}`;
    else {
      yield* run`
        UPDATE segment_blocks SET members = ${left.length}, numbers = ${JSON.stringify(left)} ${isBlock}`;
    }
  }
}
