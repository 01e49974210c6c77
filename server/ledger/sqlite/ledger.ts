/** The ledger's interface over one SQLite database: each question goes to the part that answers it. */
import type { Database } from "bun:sqlite";
import type { UserAndAccount } from "../ports/entities.ts";
import type { LedgerFreshness, Populations, RebuildBegun } from "../ports/health.ts";
import type { DayCount, Inbox } from "../ports/inbox.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { LedgerSnapshot } from "../ports/snapshot.ts";
import type { Needs, Stored, Writes } from "../ports/transact.ts";
import { noOrganization } from "../rules/organization-notes.ts";
import type { SqliteAudit } from "./admin/audit.ts";
import { SqliteChecks } from "./admin/checks.ts";
import { SqliteCredentials } from "./admin/credentials.ts";
import { SqliteEntrance } from "./admin/entrance.ts";
import { SqliteExclusions } from "./admin/exclusions.ts";
import type { SqliteImports } from "./admin/imports.ts";
import type { SqliteOrganizations } from "./admin/organizations.ts";
import { SqlitePeople } from "./admin/people.ts";
import { SqliteSettings } from "./admin/settings.ts";
import { SqliteSourceSettings } from "./admin/source-settings.ts";
import { SqliteSources } from "./admin/sources.ts";
import { SqliteViews } from "./admin/views.ts";
import { SqliteWarnings } from "./admin/warnings.ts";
import { takeSnapshot } from "./engine/snapshot.ts";
import { SqliteIdentities } from "./identity/identities.ts";
import type { Parking } from "./identity/parking.ts";
import { SqliteDeadLetters } from "./inbox/dead-letters.ts";
import { InboxTidy } from "./inbox/inbox-tidy.ts";
import { FlushedInbox } from "./journal/flushed-inbox.ts";
import { SqliteDeletions } from "./write/deletions.ts";
import { SqliteErasures } from "./write/erasures.ts";
import { type Parts, Transactor } from "./write/transact.ts";

export class SqliteLedger implements Ledger {
  readonly organizations: SqliteOrganizations;
  readonly tokens: SqliteCredentials;
  readonly readKeys: SqliteCredentials;
  readonly inbox: Inbox;
  readonly deadLetters: SqliteDeadLetters;
  readonly exclusions: SqliteExclusions;
  readonly warnings: SqliteWarnings;
  readonly checks: SqliteChecks;
  readonly erasures: SqliteErasures;
  readonly deletions: SqliteDeletions;
  readonly imports: SqliteImports;
  readonly settings: SqliteSettings;
  readonly audit: SqliteAudit;
  readonly people: SqlitePeople;
  readonly entrance: SqliteEntrance;
  readonly views: SqliteViews;
  readonly parking: Parking;
  readonly sources: SqliteSources;
  readonly sourceSettings: SqliteSourceSettings;
  readonly identities: SqliteIdentities;
  /** One is written while the one before is synced. */
  readonly groupsAtOnce = 2;
  /** Transactions run one after another. */
  readonly locksOrganizations = false;
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #transactor: Transactor;
  readonly #inboxTidy: InboxTidy;
  #tidying: Promise<void> | undefined;

  constructor(db: Database, parts: Parts, inboxMaxRetainedBytes: number, clock: () => number) {
    this.#db = db;
    this.#parts = parts;
    this.#transactor = new Transactor(db, parts, clock);
    this.#inboxTidy = new InboxTidy(db, parts, inboxMaxRetainedBytes);
    const { audit, organizations } = parts;
    this.audit = audit;
    this.organizations = organizations;
    this.tokens = new SqliteCredentials(db, organizations, audit, "tokens");
    this.readKeys = new SqliteCredentials(db, organizations, audit, "read_keys");
    this.inbox = new FlushedInbox(parts.inbox, parts.journal);
    this.deadLetters = new SqliteDeadLetters(db, parts, organizations, audit);
    this.exclusions = new SqliteExclusions(db, organizations, audit);
    const { tombstones, users } = parts;
    this.warnings = new SqliteWarnings(
      db,
      (organization, id) => tombstones.has(organization, id) && users.find(organization, id) === undefined,
    );
    this.checks = new SqliteChecks(db);
    const { warnings, exclusions } = this;
    this.erasures = new SqliteErasures(db, { ...parts, warnings, exclusions, audit }, this.#inboxTidy, clock);
    this.deletions = new SqliteDeletions(db, parts, this.#inboxTidy);
    this.imports = parts.imports;
    this.parking = parts.parking;
    this.people = new SqlitePeople(db, organizations, audit);
    this.entrance = new SqliteEntrance(db, audit);
    this.views = new SqliteViews(db, organizations, audit);
    this.sources = new SqliteSources(db, audit);
    this.sourceSettings = new SqliteSourceSettings(db, organizations, audit);
    this.identities = new SqliteIdentities(db, parts.users);
    this.settings = new SqliteSettings(db, organizations, audit);
  }

  transact(_needs: Needs, decide: (stored: Stored) => Writes): Promise<void> {
    return this.#transactor.transact(decide);
  }

  /** A call while the last one still works waits for that one. */
  async tidy(nowMs: number): Promise<void> {
    this.#tidying ??= this.#tidy(nowMs).finally(() => {
      this.#tidying = undefined;
    });
    await this.#tidying;
  }

  async dayCounts(organization: number): Promise<readonly DayCount[]> {
    this.#parts.journal.flush();
    return this.#parts.counts.days(organization);
  }

  async populations(organization: number): Promise<Populations> {
    return this.#parts.counts.populations(organization);
  }

  async loadedUptoMs(): Promise<number | null> {
    return this.#parts.inbox.loadedUptoMs();
  }

  async freshness(organization: number): Promise<LedgerFreshness> {
    const found = this.organizations.findNow(organization);
    if (found === undefined) throw noOrganization(organization);
    return {
      timezone: found.timezone,
      loadedUptoMs: await this.loadedUptoMs(),
      rebuildingSinceMs: this.organizations.rebuildingSinceMs(organization),
    };
  }

  async findUser(organization: number, userId: string): Promise<UserAndAccount | undefined> {
    const user = this.#parts.users.find(organization, userId);
    if (user === undefined) return undefined;
    return { user, account: this.#parts.accounts.numbered(organization, user.account) ?? null };
  }

  async flush(): Promise<void> {
    this.#parts.journal.flush();
  }

  async snapshot(folder: string): Promise<LedgerSnapshot> {
    await this.flush();
    return takeSnapshot(this.#db.filename, folder);
  }

  async rebuildsPending(): Promise<readonly number[]> {
    return this.organizations.rebuildsPending();
  }

  async rebuildBegun(organization: number): Promise<RebuildBegun> {
    return this.organizations.rebuildBegun(organization);
  }

  async rebuildDone(organization: number, askedAtMs: number): Promise<void> {
    await this.organizations.rebuildDone(organization, askedAtMs);
  }

  async close(): Promise<void> {
    // Whoever called `tidy` hears of its failure; here only its end matters.
    await this.#tidying?.catch(() => undefined);
    await this.#parts.journal.close();
    await this.#parts.log.close();
    this.#parts.messageIds.close();
    this.#inboxTidy.leaveNoLog();
    this.#db.close();
  }

  async #tidy(nowMs: number): Promise<void> {
    try {
      await this.#inboxTidy.deleteLoadedRows(nowMs);
      await this.#parts.messageIds.tidy(nowMs);
      await this.warnings.tidy(nowMs);
      await this.parking.tidy(nowMs);
      await this.sources.tidy(nowMs);
      this.entrance.tidy(nowMs);
      this.audit.tidy(nowMs);
      await this.#inboxTidy.shrink();
    } finally {
      // Also when deleting failed: on a full disk it is the checkpoint that makes room in the log.
      this.#inboxTidy.checkpoint();
    }
  }
}
