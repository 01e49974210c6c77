/** All stores that are written once for both engines. */

import type { AuditStore } from "../audit.ts";
import type { Engine, InboxWriter } from "../engine.ts";
import type { Feature, FeatureStores } from "../feature.ts";
import type { LedgerFreshness, Populations, RebuildBegun } from "../health.ts";
import type { DayCount } from "../inbox.ts";
import { Hourly } from "../rules/hourly.ts";
import { auditStore, tidyAudit } from "./audit.ts";
import { lastBulkLoadAtMs, noteBulkLoad } from "./bulk-loads.ts";
import { type CheckStore, checkStore } from "./checks.ts";
import { type CopyStore, copyStore } from "./copies.ts";
import { dayCountsOf, populationsOf } from "./counts.ts";
import { type Credentials, credentialStore } from "./credentials.ts";
import { type ExclusionStore, exclusionStore } from "./exclusions.ts";
import { type HeldEventStore, heldEventStore, tidyHeldEvents } from "./held-events.ts";
import { type IdentityStore, identityStore } from "./identities.ts";
import { type Imports, importedRows, importStore } from "./imports.ts";
import { type LoginStore, loginStore, tidyLogins } from "./logins.ts";
import { type MemberStore, memberStore } from "./members.ts";
import { noOrganization } from "./organization-rows.ts";
import { type Organizations, organizationStore, Rebuilds } from "./organizations.ts";
import { type OutageStore, outageStore } from "./outages.ts";
import { type PersonDataStore, personDataStore } from "./person-data.ts";
import { type RejectedEventStore, rejectedEventStore } from "./rejected-events.ts";
import { type SettingsStore, settingsStore } from "./settings.ts";
import { type SourceStore, sourceStore, tidySources } from "./sources.ts";
import { tidyWarnings, type WarningStore, warningStore } from "./warnings.ts";

export interface LedgerStores extends FeatureStores {}

/** The stores of a ledger, the same for both engines. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: see above.
export abstract class LedgerStores {
  readonly features: readonly Feature[];
  readonly organizations: Organizations;
  readonly tokens: Credentials;
  readonly readKeys: Credentials;
  readonly exclusions: ExclusionStore;
  readonly outages: OutageStore;
  readonly warnings: WarningStore;
  readonly checks: CheckStore;
  readonly copies: CopyStore;
  readonly imports: Imports;
  readonly settings: SettingsStore;
  readonly audit: AuditStore;
  readonly members: MemberStore;
  readonly logins: LoginStore;
  readonly personData: PersonDataStore;
  readonly sources: SourceStore;
  readonly identities: IdentityStore;
  readonly rejectedEvents: RejectedEventStore;
  readonly heldEvents: HeldEventStore;
  readonly #rebuilds: Rebuilds;
  readonly #engine: Engine;
  readonly #inbox: InboxWriter;

  constructor(engine: Engine, clock: () => number, inbox: InboxWriter, features: readonly Feature[]) {
    this.features = features;
    Object.assign(this, ...features.map(({ stores }) => stores(engine)));
    this.organizations = organizationStore(engine, clock);
    this.tokens = credentialStore(engine, "tokens");
    this.readKeys = credentialStore(engine, "read_keys");
    this.exclusions = exclusionStore(engine);
    this.outages = outageStore(engine);
    this.warnings = warningStore(engine);
    this.checks = checkStore(engine);
    this.copies = copyStore(engine, features);
    this.imports = importStore(engine);
    this.settings = settingsStore(engine);
    this.audit = auditStore(engine);
    this.members = memberStore(engine, features);
    this.logins = loginStore(engine);
    this.personData = personDataStore(engine);
    this.sources = sourceStore(engine);
    this.identities = identityStore(engine);
    this.rejectedEvents = rejectedEventStore(engine, inbox);
    this.heldEvents = heldEventStore(engine);
    this.#engine = engine;
    this.#inbox = inbox;
    this.#rebuilds = new Rebuilds(engine, clock);
  }

  abstract loadedUptoMs(): Promise<number | null>;

  async freshness(organization: number): Promise<LedgerFreshness> {
    const found = await this.organizations.find(organization);
    if (found === undefined) throw noOrganization(organization);
    return {
      timezone: found.timezone,
      loadedUptoMs: await this.loadedUptoMs(),
      rebuildingSinceMs: await this.#rebuilds.pendingSinceMs(organization),
    };
  }

  async dayCounts(organization: number): Promise<readonly DayCount[]> {
    this.#inbox.flush();
    return this.#engine.alone(dayCountsOf(organization));
  }

  lastBulkLoadAtMs(organization: number): Promise<number | null> {
    return lastBulkLoadAtMs(this.#engine, organization);
  }

  imported(organization: number): Promise<{ rows: number; lastAtMs: number | null }> {
    return this.#engine.alone(importedRows(organization));
  }

  noteBulkLoad(organization: number, atMs: number): Promise<void> {
    return noteBulkLoad(this.#engine, organization, atMs);
  }

  populations(organization: number): Promise<Populations> {
    return this.#engine.alone(populationsOf(organization));
  }

  rebuildsPending(): Promise<readonly number[]> {
    return this.#rebuilds.pending();
  }

  rebuildBegun(organization: number): Promise<RebuildBegun> {
    return this.#rebuilds.begun(organization);
  }

  rebuildDone(organization: number, askedAtMs: number): Promise<void> {
    return this.#rebuilds.done(organization, askedAtMs);
  }
}

/** Deletes old rows of the stores: held events and warnings at every call, most others once an hour. */
export class StoreTidy {
  readonly #engine: Engine;
  readonly #maxHeldEventBytes: number;
  readonly #features: readonly Feature[];
  readonly #hourly = new Hourly();

  /** @param maxHeldEventBytes of an organization. Above it the oldest held events are dropped */
  constructor(engine: Engine, maxHeldEventBytes: number, features: readonly Feature[]) {
    this.#engine = engine;
    this.#maxHeldEventBytes = maxHeldEventBytes;
    this.#features = features;
  }

  /** The steps that are due. Each may fail by itself. */
  steps(nowMs: number): readonly (() => Promise<void>)[] {
    const engine = this.#engine;
    const maxBytes = this.#maxHeldEventBytes;
    const always = [
      () => tidyHeldEvents(engine, maxBytes, nowMs),
      () => tidyWarnings(engine, nowMs),
      ...this.#features.flatMap(({ tidy }) => (tidy === undefined ? [] : [() => tidy(engine, nowMs)])),
    ];
    if (!this.#hourly.isDue(nowMs)) return always;
    return [
      ...always,
      () => tidySources(engine, nowMs),
      ...this.#features.flatMap(({ tidyHourly: tidy }) =>
        tidy === undefined ? [] : [() => tidy(engine, nowMs)],
      ),
      () => engine.alone(tidyLogins(nowMs)),
      () => engine.alone(tidyAudit(nowMs)),
    ];
  }
}
