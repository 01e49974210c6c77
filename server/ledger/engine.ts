/** The engine that runs the statements of stores: SQLite's connection, or PostgreSQL's pool. */

import type { AuditLog } from "./audit-log.ts";
import type { InboxRows } from "./inbox.ts";
import type { Answer, Statement, Steps, Work } from "./sql.ts";

/** The steps of one transaction. They may write entries of the audit log. */
export type Transaction<Result> = (audit: AuditLog) => Steps<Result>;

export interface Engine {
  readonly audit: AuditLog;
  /** Runs each statement by itself. */
  alone<Result>(steps: Steps<Result>): Promise<Result>;
  /** Runs all statements in one transaction. If a step throws, the transaction is rolled back.
   * @param committed called with the result after the commit, before any other work of this process */
  transaction<Result>(steps: Transaction<Result>, committed?: (result: Result) => void): Promise<Result>;
  /** A transaction that only the node that leads the work on the warehouse may commit. @throws Refusal when
   * another node has led since */
  leadingTransaction<Result>(steps: Transaction<Result>): Promise<Result>;
  /** A transaction for a request that others must not wait for. SQLite syncs its log in another thread, so
   * other work may see the result before it is on disk. This promise resolves when it is. */
  requestTransaction<Result>(steps: Transaction<Result>): Promise<Result>;
  /** Runs reads that see the state of one instant. */
  snapshot<Result>(steps: Steps<Result>): Promise<Result>;
  /** The most rows that one commit adds, that one statement deletes, that one reads with rows of other
   * tables, and the most held events that one commit drops. */
  readonly partRows: {
    readonly added: number;
    readonly deleted: number;
    readonly joined: number;
    readonly held: number;
  };
  /** Resolves when all nodes have stored the counts in their memory: uses of tokens and keys, warnings, items
   * of sources. A list of counts waits for it, so that it is exact. */
  countsFlushed(): Promise<void>;
  /** The time by the one clock of this ledger, for what several processes compare: PostgreSQL's. SQLite has
   * one process that writes, so its clock counts. @param nowMs by the clock of this process */
  readonly sharedNowMs: (nowMs: number) => Promise<number>;
  /** Resolves after other requests have run. */
  nextTurn(): Promise<void>;
}

/** The inbox, for a store that adds rows to it. */
export interface InboxWriter {
  /** The most rows and bytes that one commit moves. */
  readonly partLimits: { readonly rows: number; readonly bytes: number };
  /** Called before a transaction that reads or changes counts or the inbox. */
  flush(): void;
  /** Adds rows inside of a transaction that shares the inbox's lock. */
  append(rows: readonly InboxRows[]): Work<void>;
  /** Called after the commit. */
  appended(rows: readonly InboxRows[]): void;
}

/** Processes a long list in parts. Other requests run between two parts. */
export async function inParts<Item>(
  { partRows: { added }, nextTurn }: Engine,
  items: readonly Item[],
  work: (part: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += added) {
    await work(items.slice(at, at + added));
    await nextTurn();
  }
}

/** Deletes rows in parts. @param steps deletes at most `most` rows, and returns their number */
export async function deleteInParts(engine: Engine, steps: (most: number) => Steps<number>): Promise<void> {
  await deleteSomeParts(engine, steps, { most: engine.partRows.deleted, parts: Number.POSITIVE_INFINITY });
}

/** As `deleteInParts`, and at most so many parts. @param most rows of a part @returns the number of parts */
export async function deleteSomeParts(
  engine: Engine,
  steps: (most: number) => Steps<number>,
  { most, parts }: { readonly most: number; readonly parts: number },
): Promise<number> {
  let done = 0;
  while (done < parts) {
    const deleted = await engine.alone(steps(most));
    done += 1;
    if (deleted < most) break;
    await engine.nextTurn();
  }
  return done;
}

/** Runs steps to their end. @param ask answers a statement. A step may catch its errors */
export function drive<Result>(steps: Steps<Result>, ask: (statement: Statement<unknown>) => Answer): Result {
  const work = steps[Symbol.iterator]();
  let step = work.next();
  while (step.done !== true) {
    let answer: Answer;
    try {
      answer = ask(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answer);
  }
  return step.value;
}

/** As `drive`, for an asynchronous engine. */
export async function driveLater<Result>(
  steps: Steps<Result>,
  ask: (statement: Statement<unknown>) => Promise<Answer>,
): Promise<Result> {
  const work = steps[Symbol.iterator]();
  let step = work.next();
  while (step.done !== true) {
    let answer: Answer;
    try {
      answer = await ask(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answer);
  }
  return step.value;
}
