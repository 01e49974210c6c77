/** The ledger over one PostgreSQL database. Many nodes may share it. */
import { limits } from "../../../contract/limits.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { systemTime } from "../../process/time.ts";
import type { Account, UserAndAccount } from "../entities.ts";
import type { Erasure } from "../erasures.ts";
import type { Feature } from "../feature.ts";
import type { RebuildBegun } from "../health.ts";
import type { Ledger, LedgerSnapshot } from "../ledger.ts";
import { defaultRejectedEventLimits, type RejectedEventLimits } from "../rules/rejected-event-facts.ts";
import { LedgerStores, StoreTidy } from "../stores/stores.ts";
import type { Needs, Stored, Writes } from "../transact.ts";
import { openPool, type PoolOptions, refuseUnfitServer, type Sql, serverNowMs } from "./connect.ts";
import { erasedNames, forgetErased } from "./erased-names.ts";
import { PostgresInbox, type SharedNow } from "./inbox.ts";
import { moveCounted } from "./inbox-counts.ts";
import { forgetFinished, inboxWriter, sealSegment } from "./inbox-segments.ts";
import { forgetShown } from "./live-items.ts";
import type { LoaderLease } from "./loader-lease.ts";
import { ledgerIdentity, migrate } from "./migrations/migrations.ts";
import { PostgresEngine } from "./store-engine.ts";
import { refuseUnfinished } from "./unfinished-move.ts";
import { PostgresDeletions } from "./write/deletions.ts";
import { PostgresErasures } from "./write/erasures.ts";
import { findAccount, findUserAndAccount } from "./write/finders.ts";
import { forgetMessageIds } from "./write/message-ids.ts";
import { Transactor } from "./write/transact.ts";

const keptLoadedMs = 3_600_000;

export interface PostgresLedgerOptions extends PoolOptions {
  readonly url: string;
  /** This machine's clock. Default: the system's. The time of loads, which nodes share, is PostgreSQL's. */
  readonly nowMs?: () => number;
  /** One clock for both, as tests give it. */
  readonly clock?: () => number;
  readonly rejectedEventLimits?: RejectedEventLimits;
  /** The most bytes of an organization's held events. Above it the oldest are dropped. */
  readonly maxHeldEventBytes?: number;
  /** The most links of an organization to users who are not identified. */
  readonly maxWaitingLinks?: number;
  readonly features: readonly Feature[];
  /** The node of this ledger. Default: the ledger is used alone, as in tests. */
  readonly node?: LedgerNode;
}

/** The node's interface for the ledger. */
export interface LedgerNode {
  /** @throws Error when the node must not write its admitted requests any more */
  refuseStaleHeartbeat(): void;
  /** Resolves when all nodes have stored the counts in their memory. */
  countsFlushed(): Promise<void>;
}

const noNode: LedgerNode = { refuseStaleHeartbeat: () => undefined, countsFlushed: async () => undefined };

/** Opens the ledger and runs the migrations.
 * @throws Refusal when the server or the database is not supported, or was written by a newer version. */
export async function openPostgresLedger({
  url,
  nowMs = systemTime.nowMs,
  clock,
  rejectedEventLimits = defaultRejectedEventLimits,
  maxHeldEventBytes = limits.heldEventBytesOfOrganization,
  maxWaitingLinks = limits.linksOfOrganization,
  node = noNode,
  features,
  ...options
}: PostgresLedgerOptions): Promise<PostgresLedger> {
  const sql = openPool(url, options);
  try {
    await refuseUnfitServer(sql);
    await migrate(sql, features);
    await refuseUnfinished(sql);
  } catch (error) {
    await sql.end({ timeout: 5 });
    throw error;
  }
  const clocks =
    clock === undefined
      ? { clock: nowMs, sharedNowMs: () => serverNowMs(sql) }
      : { clock, sharedNowMs: async (ownMs: number) => ownMs };
  return new PostgresLedger(sql, {
    ...clocks,
    rejectedEventLimits,
    maxHeldEventBytes,
    maxWaitingLinks,
    node,
    features,
  });
}

type LedgerParts = Required<
  Pick<
    PostgresLedgerOptions,
    "clock" | "rejectedEventLimits" | "maxHeldEventBytes" | "maxWaitingLinks" | "node" | "features"
  >
> & { readonly sharedNowMs: SharedNow };

export class PostgresLedger extends LedgerStores implements Ledger {
  readonly inbox: PostgresInbox;
  readonly erasures: PostgresErasures;
  readonly deletions: PostgresDeletions;
  /** Each group waits for the network and a sync. With four groups, 16 senders stored one and a half times as
   * much as with two. */
  readonly groupsAtOnce = 4;
  readonly locksOrganizations = true;
  readonly #sql: Sql;
  readonly #transactor: Transactor;
  readonly #parts: LedgerParts;
  readonly #storeTidy: StoreTidy;
  protected readonly engine: PostgresEngine;

  /** @param lease of the leader. Default: the first process that loads takes it */
  constructor(sql: Sql, parts: LedgerParts, lease?: LoaderLease) {
    const { clock, sharedNowMs, rejectedEventLimits, maxHeldEventBytes, maxWaitingLinks, node } = parts;
    const engine = new PostgresEngine(
      sql,
      { countsFlushed: () => node.countsFlushed(), sharedNowMs },
      lease && ((tx) => lease.refuseLate(tx)),
    );
    super(engine, clock, inboxWriter, parts.features);
    this.#parts = parts;
    this.#sql = sql;
    this.#storeTidy = new StoreTidy(engine, maxHeldEventBytes, parts.features);
    this.engine = engine;
    this.inbox = new PostgresInbox(sql, { clock, sharedNowMs, rejectedEventLimits }, lease);
    this.erasures = new PostgresErasures(sql, engine, clock, parts.features);
    this.deletions = new PostgresDeletions(sql, engine, clock);
    this.#transactor = new Transactor(sql, clock, { atOnce: this.groupsAtOnce, maxWaitingLinks }, node);
  }

  /** This ledger for the node that leads, until its lease ends.
   * @param settled resolves when every node has committed all requests that it admitted before the last
   * change */
  leading(lease: LoaderLease, settled: () => Promise<void>): LeadingLedger {
    return new LeadingLedger(this.#sql, this.#parts, { lease, settled });
  }

  /** The uuid of this ledger. The warehouse stores it to identify the ledger of its rows. */
  identity(): Promise<string> {
    return ledgerIdentity(this.#sql);
  }

  /** Several transactions may run at once, and are decided in any order. */
  async transact(needs: Needs, decide: (stored: Stored) => Writes): Promise<void> {
    this.#parts.node.refuseStaleHeartbeat();
    return this.#transactor.transact(needs, decide);
  }

  /** Runs every step, even if others fail. @throws AggregateError of the failures */
  async tidy(nowMs: number): Promise<void> {
    const steps = [
      () => sealSegment(this.#sql, nowMs),
      // With its own clock, a node whose clock is an hour ahead would drop rows that were just loaded.
      async () => forgetFinished(this.#sql, (await this.#parts.sharedNowMs(nowMs)) - keptLoadedMs),
      () => moveCounted(this.#sql),
      () => forgetMessageIds(this.#sql, nowMs),
      () => forgetShown(this.#sql),
      ...this.#storeTidy.steps(nowMs),
    ];
    const failures: unknown[] = [];
    for (const step of steps) await step().catch((error) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, `${failures[0]}`);
  }

  loadedUptoMs(): Promise<number | null> {
    return this.inbox.loadedUptoMs();
  }

  findUser(organization: number, userId: string): Promise<UserAndAccount | undefined> {
    return findUserAndAccount(this.#sql, organization, userId);
  }

  findAccount(organization: number, accountId: string): Promise<Account | undefined> {
    return findAccount(this.#sql, organization, accountId);
  }

  /** A database that was dumped and restored has another. A replica that takes over keeps it. */
  async place(): Promise<string> {
    const [row] = await this.#sql<{ place: string }[]>`
      SELECT system_identifier || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) AS place
      FROM pg_control_system()`;
    if (row === undefined) throw new Error("PostgreSQL does not say which database this is.");
    return `database ${row.place}`;
  }

  /** It does nothing: acknowledged rows are committed, and every reader of the tables finds them. */
  async flush(): Promise<void> {}

  /** @throws Refusal always: PostgreSQL's own tools copy a database of many nodes. */
  async snapshot(_folder: string): Promise<LedgerSnapshot> {
    throw new Refusal(
      "In a cluster Rekindle makes no backup of its own: back up PostgreSQL for point-in-time recovery, and " +
        "ClickHouse with BACKUP, as docs/back-up-a-cluster.md says.",
    );
  }

  async close(): Promise<void> {
    try {
      await this.inbox.close();
    } finally {
      await this.#sql.end({ timeout: 5 });
    }
  }
}

interface Leading {
  readonly lease: LoaderLease;
  readonly settled: () => Promise<void>;
}

/**
 * The ledger of the leader. It lists a rebuild or an erasure only when every node has written its earlier
 * requests. These could add days in an old timezone, or warnings with the id of an erased user.
 */
class LeadingLedger extends PostgresLedger {
  override readonly erasures: LeadingErasures;
  readonly #settled: () => Promise<void>;

  constructor(sql: Sql, parts: LedgerParts, { lease, settled }: Leading) {
    super(sql, parts, lease);
    this.#settled = settled;
    this.erasures = new LeadingErasures(settled, sql, this.engine, parts.clock, parts.features);
  }

  override async rebuildsPending(): Promise<readonly number[]> {
    const pending = await super.rebuildsPending();
    if (pending.length > 0) await this.#settled();
    return pending;
  }

  override async rebuildBegun(organization: number): Promise<RebuildBegun> {
    const begun = await super.rebuildBegun(organization);
    await this.#settled();
    return begun;
  }
}

class LeadingErasures extends PostgresErasures {
  readonly #sql: Sql;
  readonly #settled: () => Promise<void>;

  constructor(settled: () => Promise<void>, ...of: ConstructorParameters<typeof PostgresErasures>) {
    super(...of);
    [this.#sql] = of;
    this.#settled = settled;
  }

  override async pending(): Promise<readonly Erasure[]> {
    const begun = await super.pending();
    const names = await erasedNames(this.#sql);
    if (names.length > 0) await this.#settled();
    await forgetErased(this.#sql, names);
    return begun;
  }
}
