/** A ledger in memory whose commits are synced when the test allows it. */
import { Zone } from "../../server/calendar/zone.ts";
import type { AdmittedIdentify } from "../../server/intake/identify.ts";
import { type Needs, OrganizationsHeld, type Stored, type Writes } from "../../server/ledger/transact.ts";
import { turns, until } from "../until.ts";
import { LedgerModel } from "./ledger-model.ts";

/** Writes at once, and resolves when the test has synced it. */
export class SlowDisk {
  readonly groupsAtOnce: number;
  readonly locksOrganizations: boolean;
  readonly #model = new LedgerModel();
  readonly syncs: PromiseWithResolvers<void>[] = [];
  /** The ids of the users that each commit wrote, in their order. */
  readonly commits: string[][] = [];
  /** Why the next commit cannot be written. */
  broken: Error | undefined;
  /** Why a commit that writes this user cannot be written. */
  readonly refused = new Map<string, Error>();

  /** Organizations with a lock held from outside. */
  readonly held = new Set<number>();
  /** Commits that wait for the lock of an organization, and the most that ever did so at once. */
  #waitingForLocks = 0;
  mostWaitingForLocks = 0;
  triesWhileHeld = 0;

  constructor(locksOrganizations = false, groupsAtOnce = 2) {
    this.groupsAtOnce = groupsAtOnce;
    this.locksOrganizations = locksOrganizations;
  }

  async transact(needs: Needs, decide: (stored: Stored) => Writes): Promise<void> {
    if (this.broken !== undefined) throw this.broken;
    const held = needs.users.map(({ organization }) => organization).filter((id) => this.held.has(id));
    if (held.length > 0) {
      this.#waitingForLocks += 1;
      this.triesWhileHeld += 1;
      this.mostWaitingForLocks = Math.max(this.mostWaitingForLocks, this.#waitingForLocks);
      await turns(1);
      this.#waitingForLocks -= 1;
      throw new OrganizationsHeld([...new Set(held)]);
    }
    const writes = decide(this.#model.stored(needs));
    const users = writes.users.map(({ userId }) => userId);
    const why = users.map((userId) => this.refused.get(userId)).find((error) => error !== undefined);
    if (why !== undefined) throw why;
    this.#model.write(writes);
    this.commits.push(users);
    const sync = Promise.withResolvers<void>();
    this.syncs.push(sync);
    await sync.promise;
  }

  /** Syncs every commit until `work` has come to its end. */
  async syncedUntil(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const sync of this.syncs) sync.resolve();
      await turns(1);
    }
    await over;
  }

  async written(commits: number): Promise<void> {
    await until(
      `${commits} commits are written`,
      () => this.syncs,
      ({ length }) => length >= commits,
    );
  }
}

const zone = new Zone("UTC");

/** An admitted identify of a new user. */
export function identify(userId: string, organization = 1): AdmittedIdentify {
  return {
    kind: "identify",
    organization,
    userId,
    email: `${userId}@example.com`,
    traits: {},
    isAccountOwner: undefined,
    account: undefined,
    messageId: null,
    timestampMs: 1,
    receivedAtMs: 1,
    zone,
  };
}
