/**
 * The transaction by which requests change the ledger, usually in two round trips. The first begins, takes
 * the locks and reads the needs. Then the pure function decides. The second writes the function's result, and
 * commits.
 *
 * Several transactions run at once, on one node and on many. A transaction waits for a message id that
 * another one is writing. One transaction at a time changes users, accounts and held events of an
 * organization.
 */
import { FairTurns } from "../../../process/fair-turns.ts";
import { AuditLog } from "../../audit-log.ts";
import { addedPopulations } from "../../rules/added-populations.ts";
import { emailKey } from "../../rules/email-key.ts";
import { isAddressId, type PersonKey } from "../../rules/held-events.ts";
import { accountText, personText } from "../../rules/person-text.ts";
import { advanceImport } from "../../stores/imports.ts";
import { addWarnings, type IngestionWarning } from "../../stores/warnings.ts";
import { type Needs, OrganizationsHeld, type Stored, type Writes } from "../../transact.ts";
import type { Sql, Tx } from "../connect.ts";
import { appendRows } from "../inbox-segments.ts";
import type { Statement } from "../statement.ts";
import { runOn } from "../store-engine.ts";
import { storable } from "../text.ts";
import { commitWith, inTransaction, notInOrder, repeated } from "../transaction.ts";
import { begin } from "./begin.ts";
import { addAccountVersionRows, addDayCounts, addVersionRows } from "./counts.ts";
import { inOrder, writeHeldEvents } from "./held-event-writes.ts";
import type { Key } from "./keys.ts";
import { releaseLastingIds, textOfLasting } from "./message-ids.ts";
import { heldOrganizations, OrganizationLockTimedOut, organizationsOf } from "./organization-locks.ts";
import { identifiedStatements } from "./person-links.ts";
import { ClaimedMessage, type Reads, type Wanted } from "./reads.ts";

/** Every decision reads more than the one before, so the loop ends. A group of 500 requests that lead to each
 * other needs far fewer decisions. */
const mostDecisions = 1_000;
/** After a time-out the lock may be free before its organization is found. After this many in a row, a table
 * is locked. */
const mostUnexplainedTimeouts = 5;
/** Slots of `day_counts`. Writers with slots of their own do not wait for each other. A sum over a day reads
 * this many rows. */
const slots = 32;

interface Heartbeat {
  /** @throws Error when the node must not write its admitted requests any more */
  refuseStaleHeartbeat(): void;
}

export class Transactor {
  readonly #sql: Sql;
  readonly #clock: () => number;
  readonly #maxWaitingLinks: number;
  readonly #node: Heartbeat;
  readonly #turns: FairTurns;
  readonly #audit = new AuditLog();
  /** Slots that no transaction of this node uses. The same few are used again, so that a day has few rows. */
  readonly #freeSlots = freeSlots();

  /**
   * @param atOnce the most concurrent transactions. Others wait in their order
   * @param maxWaitingLinks the most links of an organization to users who are not identified
   * @param node its heartbeat is checked right before each commit
   */
  constructor(
    sql: Sql,
    clock: () => number,
    { atOnce, maxWaitingLinks }: { readonly atOnce: number; readonly maxWaitingLinks: number },
    node: Heartbeat,
  ) {
    this.#turns = new FairTurns({ places: atOnce, heldWhileOthersWait: atOnce, heldAtMost: atOnce });
    this.#node = node;
    this.#sql = sql;
    this.#clock = clock;
    this.#maxWaitingLinks = maxWaitingLinks;
  }

  /** When it resolves, the commit is on disk. If the connection is lost during the commit, it rejects, and
   * the outcome is unknown. A repeated request is recognized by its message id.
   * @throws OrganizationsHeld when other transactions hold locks of organizations that it needs. For any
   * other lock it waits longer, and the error is PostgreSQL's. */
  async transact(needs: Needs, decide: (stored: Stored) => Writes): Promise<void> {
    const attempt = () =>
      this.#inTurn((slot) => inTransaction(this.#sql, (tx) => this.#run(tx, needs, decide, slot)));
    for (let timeouts = 1; ; timeouts += 1) {
      try {
        await repeated(attempt, notInOrder);
        return;
      } catch (error) {
        if (!(error instanceof OrganizationLockTimedOut)) throw error;
        const held = await heldOrganizations(this.#sql, organizationsOf(needs));
        if (held.length > 0) throw new OrganizationsHeld(held);
        if (timeouts === mostUnexplainedTimeouts) throw error.cause;
      }
    }
  }

  async #inTurn(work: (slot: number) => Promise<void>): Promise<void> {
    await this.#turns.take(undefined);
    const slot = this.#freeSlots.pop() ?? 0;
    try {
      await work(slot);
    } finally {
      this.#freeSlots.push(slot);
      this.#turns.giveBack(undefined);
    }
  }

  async #run(tx: Tx, needs: Needs, decide: (stored: Stored) => Writes, slot: number): Promise<void> {
    const { nowMs, ...writes } = await decided(tx, needs, decide, this.#clock());
    // It is sent alone: if another run has decided these rows, no other statement and no commit may be sent.
    if (writes.importProgress !== undefined) {
      await runOn(tx, advanceImport(writes.importProgress, nowMs));
    }
    for (const entry of writes.audit ?? []) await runOn(tx, this.#audit.add(entry));
    const people = [
      ...writePeople(tx, writes, writes.reads),
      ...identifiedStatements(tx, writes.users, writes.reads),
    ];
    let warnings: readonly IngestionWarning[] = [];
    if (writes.heldEvents !== undefined) {
      // Links to users that are written now must not wait, so the users come first.
      await inOrder(people);
      warnings = await writeHeldEvents(tx, writes.heldEvents, {
        reads: writes.reads,
        nowMs,
        maxLinks: this.#maxWaitingLinks,
      });
    }
    const last = [
      ...(writes.heldEvents === undefined ? people : []),
      ...(writes.dayCounts.length === 0 ? [] : [addDayCounts(tx, writes.dayCounts, slot)]),
      ...releaseIds(tx, writes, writes.reads),
      ...appendRows(tx, writes.reads.begun.segment, writes.inbox),
    ];
    if (warnings.length > 0) {
      // Warnings come last: other transactions wait for their lock until the commit.
      await inOrder(last);
      await runOn(tx, addWarnings(warnings));
    }
    // The statements before may have waited for locks.
    this.#node.refuseStaleHeartbeat();
    await commitWith(tx, warnings.length > 0 ? [] : last);
  }
}

function freeSlots(): number[] {
  const first = Math.floor(Math.random() * slots);
  return Array.from({ length: slots }, (_, n) => (first + n) % slots);
}

/** Decides until every look-up of the decision had a result. Usually it decides once. In an organization with
 * held events it takes one more round trip. */
async function decided(
  tx: Tx,
  needs: Needs,
  decide: (stored: Stored) => Writes,
  nowMs: number,
): Promise<Writes & { readonly reads: Reads }> {
  const reads = await begin(tx, needs, nowMs);
  const { answers } = reads;
  const foreseen = foreseenOf(needs, reads);
  if (foreseen !== undefined) await answers.load(tx, foreseen);
  for (let times = 0; times < mostDecisions; times += 1) {
    const decision = attempt(decide, reads);
    const missing = answers.takeMissing();
    if (missing === undefined) return { ...decision(), reads };
    await answers.load(tx, missing);
  }
  throw new Error("A group of requests was not decided: each decision asked for more.");
}

/** The outcome of a decision. Its error is thrown only if the decision counts, because a result may have been
 * missing. */
function attempt(decide: (stored: Stored) => Writes, reads: Reads): () => Writes {
  try {
    const writes = decide(reads);
    return () => writes;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The look-ups of nearly every decision about an organization with held events or erasures. */
function foreseenOf({ people, accounts }: Needs, reads: Reads): Wanted | undefined {
  const concerned = people.filter(({ organization }) => reads.hasHeldEvents(organization));
  const ids = concerned.filter(({ id }) => !isAddressId(id)).map(keyOfPerson);
  const keys = [
    ...people.map(keyOfPerson),
    ...accounts.map(({ organization, accountId }) => ({ organization, id: accountText(accountId) })),
  ];
  const erased = keys.filter(({ organization }) => reads.hasErased(organization));
  if (concerned.length + erased.length === 0) return undefined;
  return { links: ids, held: ids, linksTo: concerned.filter(({ id }) => isAddressId(id)), erased };
}

function keyOfPerson(person: PersonKey): Key {
  return { organization: person.organization, id: personText(person) };
}

/** Releases claimed ids whose messages are not stored. */
function releaseIds(tx: Tx, writes: Pick<Writes, "messages">, { begun }: Reads) {
  const claimed = writes.messages.map((message) => {
    if (message instanceof ClaimedMessage) return message;
    throw new Error("A message was written that this ledger did not look up.");
  });
  const stored = new Set(claimed.map(({ id }) => id));
  const released = [...begun.claimed].filter((id) => !stored.has(id));
  const forGood = new Set(
    claimed.flatMap(({ newForGood }) => (newForGood === undefined ? [] : textOfLasting(newForGood))),
  );
  const releasedForGood = [...begun.lasting].flatMap(([text, id]) => (forGood.has(text) ? [] : [id]));
  return [
    ...(released.length === 0 ? [] : [tx`DELETE FROM message_ids WHERE id = ANY (${released}::uuid[])`]),
    ...(releasedForGood.length === 0 ? [] : [releaseLastingIds(tx, releasedForGood)]),
  ];
}

function writePeople(
  tx: Tx,
  {
    users,
    accounts,
    versionRows,
    accountVersionRows = [],
  }: Pick<Writes, "users" | "accounts" | "versionRows" | "accountVersionRows">,
  reads: Reads,
): Statement<readonly object[]>[] {
  const added = addedPopulations({ users, accounts }, reads);
  return [
    ...(accounts.length === 0 ? [] : [writeAccounts(tx, accounts)]),
    ...(users.length === 0 ? [] : [writeUsers(tx, users)]),
    ...[...added].map(
      ([organization, totals]) => tx`
        UPDATE populations SET
          users = users + ${totals.users}, user_versions = user_versions + ${totals.userVersions},
          accounts = accounts + ${totals.accounts}, account_versions = account_versions + ${totals.accountVersions},
          last_user_number = greatest(last_user_number, ${highest(users, organization)}::bigint),
          last_account_number = greatest(last_account_number, ${highest(accounts, organization)}::bigint)
        WHERE organization = ${organization}`,
    ),
    ...versionRows.map(({ organization, ...rows }) => addVersionRows(tx, organization, rows)),
    ...accountVersionRows.map(({ organization, ...rows }) => addAccountVersionRows(tx, organization, rows)),
  ];
}

function highest(
  numbered: readonly { organization: number; number: number }[],
  organization: number,
): number {
  return numbered.reduce(
    (most, one) => (one.organization === organization ? Math.max(most, one.number) : most),
    0,
  );
}

/** A stored user keeps its number. A different number becomes NULL, which a constraint rejects. Another
 * constraint rejects a number that is taken. */
function writeUsers(tx: Tx, users: Writes["users"]) {
  const rows = users.map((user) => ({
    ...user,
    userId: storable(user.userId),
    email: storable(user.email ?? ""),
    emailKey: storable(emailKey(user.email ?? "")),
    traits: JSON.stringify(user.traits),
    fieldTimestampsMs: JSON.stringify(user.fieldTimestampsMs),
  }));
  return tx`
    INSERT INTO users AS stored (organization, number, account, user_id, email, email_key, is_account_owner,
      first_identified_at_ms, updated_at_ms, version, traits, timestamp_ms, field_timestamps_ms)
    SELECT organization, number, account, "userId", email, "emailKey", "isAccountOwner", "firstIdentifiedAtMs",
      "updatedAtMs", version, traits, "timestampMs", "fieldTimestampsMs"
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS given (organization bigint, number bigint,
      account bigint, "userId" text, email text, "emailKey" text, "isAccountOwner" boolean,
      "firstIdentifiedAtMs" bigint, "updatedAtMs" bigint, version bigint, traits text, "timestampMs" bigint, "fieldTimestampsMs" text)
    ON CONFLICT (organization, user_id) DO UPDATE SET
      account = excluded.account, email = excluded.email, email_key = excluded.email_key,
      is_account_owner = excluded.is_account_owner,
      first_identified_at_ms = excluded.first_identified_at_ms, updated_at_ms = excluded.updated_at_ms,
      version = excluded.version, traits = excluded.traits, timestamp_ms = excluded.timestamp_ms,
      field_timestamps_ms = excluded.field_timestamps_ms,
      number = CASE WHEN stored.number = excluded.number THEN stored.number END`;
}

function writeAccounts(tx: Tx, accounts: Writes["accounts"]) {
  const rows = accounts.map((account) => ({
    ...account,
    accountId: storable(account.accountId),
    name: storable(account.name),
    avatar: account.avatar === null ? null : storable(account.avatar),
    traits: JSON.stringify(account.traits),
    fieldTimestampsMs: JSON.stringify(account.fieldTimestampsMs),
  }));
  return tx`
    INSERT INTO accounts AS stored (organization, number, account_id, name, avatar, traits, timestamp_ms,
      field_timestamps_ms, created_at_ms, updated_at_ms, version)
    SELECT organization, number, "accountId", name, avatar, traits, "timestampMs", "fieldTimestampsMs", "createdAtMs",
      "updatedAtMs", version
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS given (organization bigint, number bigint,
      "accountId" text, name text, avatar text, traits text, "timestampMs" bigint, "fieldTimestampsMs" text, "createdAtMs" bigint,
      "updatedAtMs" bigint, version bigint)
    ON CONFLICT (organization, account_id) DO UPDATE SET
      name = excluded.name, avatar = excluded.avatar, traits = excluded.traits, timestamp_ms = excluded.timestamp_ms,
      field_timestamps_ms = excluded.field_timestamps_ms, updated_at_ms = excluded.updated_at_ms,
      version = excluded.version,
      number = CASE WHEN stored.number = excluded.number THEN stored.number END`;
}
