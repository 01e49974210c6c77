/** All stores that are written once for both engines. */
import type { AlertStore } from "../ports/actions/alerts.ts";
import type { DeliveryStore } from "../ports/actions/deliveries.ts";
import type { DestinationStore } from "../ports/actions/destinations.ts";
import type { PersonDataStore } from "../ports/actions/person-data.ts";
import type { AlertRuleStore } from "../ports/actions/rule-settings.ts";
import type { RuleDecisions } from "../ports/actions/rules.ts";
import type { SegmentStore } from "../ports/actions/segments.ts";
import type { NoteStore, TaskStore } from "../ports/actions/work.ts";
import type { WorkTimeline } from "../ports/actions/work-timeline.ts";
import type { AuditStore } from "../ports/audit.ts";
import type { Credentials } from "../ports/credentials.ts";
import type { ExclusionStore } from "../ports/exclusions.ts";
import type { CheckStore, LedgerFreshness, Populations, RebuildBegun } from "../ports/health.ts";
import type { HeldEventStore } from "../ports/held-events.ts";
import type { Imports } from "../ports/imports.ts";
import type { DayCount } from "../ports/inbox.ts";
import type { LoginStore, MemberStore } from "../ports/members.ts";
import type { Organizations } from "../ports/organizations.ts";
import type { RejectedEventStore } from "../ports/rejected-events.ts";
import type { OutageStore, SettingsStore } from "../ports/settings.ts";
import type { IdentityStore, SourceSettingsStore } from "../ports/source-settings.ts";
import type { SourceStore } from "../ports/sources.ts";
import type { ViewStore } from "../ports/views.ts";
import type { WarningStore } from "../ports/warnings.ts";
import { Hourly } from "../rules/hourly.ts";
import { noOrganization } from "../rules/organization-notes.ts";
import { ruleDecisions } from "./actions/alert-decisions.ts";
import { tidyAlerts } from "./actions/alert-rows.ts";
import { alertRuleStore } from "./actions/alert-rules.ts";
import { alertStore } from "./actions/alerts.ts";
import { noteStore } from "./actions/notes.ts";
import { personDataStore } from "./actions/person-data.ts";
import { finishRuleDeletions } from "./actions/rule-deletions.ts";
import { segmentStore } from "./actions/segments.ts";
import { deliveryStore, tidyDeliveries } from "./actions/sending/deliveries.ts";
import { destinationStore } from "./actions/sending/destinations.ts";
import { taskStore } from "./actions/tasks.ts";
import { workTimeline } from "./actions/work-timeline.ts";
import { auditStore, tidyAudit } from "./audit.ts";
import { lastBulkLoadAtMs, noteBulkLoad } from "./bulk-loads.ts";
import { checkStore } from "./checks.ts";
import { credentialStore } from "./credentials.ts";
import type { Engine, InboxWriter } from "./engine/engine.ts";
import { dayCountsOf, populationsOf } from "./events/counts.ts";
import { heldEventStore, tidyHeldEvents } from "./events/held-events.ts";
import { rejectedEventStore } from "./events/rejected-events.ts";
import { exclusionStore } from "./exclusions.ts";
import { identityStore } from "./identities.ts";
import { importedRows, importStore } from "./imports.ts";
import { loginStore, tidyLogins } from "./logins.ts";
import { memberStore } from "./members.ts";
import { organizationStore, Rebuilds } from "./organizations.ts";
import { outageStore } from "./outages.ts";
import { settingsStore } from "./settings.ts";
import { sourceSettingsStore } from "./source-settings.ts";
import { sourceStore, tidySources } from "./sources.ts";
import { viewStore } from "./views.ts";
import { tidyWarnings, warningStore } from "./warnings.ts";

/** The stores of a ledger, the same for both engines. */
export abstract class LedgerStores {
  readonly organizations: Organizations;
  readonly tokens: Credentials;
  readonly readKeys: Credentials;
  readonly exclusions: ExclusionStore;
  readonly outages: OutageStore;
  readonly warnings: WarningStore;
  readonly checks: CheckStore;
  readonly imports: Imports;
  readonly settings: SettingsStore;
  readonly audit: AuditStore;
  readonly members: MemberStore;
  readonly logins: LoginStore;
  readonly views: ViewStore;
  readonly destinations: DestinationStore;
  readonly deliveries: DeliveryStore;
  readonly alertRules: AlertRuleStore;
  readonly ruleDecisions: RuleDecisions;
  readonly alerts: AlertStore;
  readonly notes: NoteStore;
  readonly tasks: TaskStore;
  readonly workTimeline: WorkTimeline;
  readonly personData: PersonDataStore;
  readonly segments: SegmentStore;
  readonly sources: SourceStore;
  readonly sourceSettings: SourceSettingsStore;
  readonly identities: IdentityStore;
  readonly rejectedEvents: RejectedEventStore;
  readonly heldEvents: HeldEventStore;
  readonly #rebuilds: Rebuilds;
  readonly #engine: Engine;
  readonly #inbox: InboxWriter;

  constructor(engine: Engine, clock: () => number, inbox: InboxWriter) {
    this.organizations = organizationStore(engine, clock);
    this.tokens = credentialStore(engine, "tokens");
    this.readKeys = credentialStore(engine, "read_keys");
    this.exclusions = exclusionStore(engine);
    this.outages = outageStore(engine);
    this.warnings = warningStore(engine);
    this.checks = checkStore(engine);
    this.imports = importStore(engine);
    this.settings = settingsStore(engine);
    this.audit = auditStore(engine);
    this.members = memberStore(engine);
    this.logins = loginStore(engine);
    this.views = viewStore(engine);
    this.destinations = destinationStore(engine);
    this.deliveries = deliveryStore(engine);
    this.alertRules = alertRuleStore(engine);
    this.ruleDecisions = ruleDecisions(engine);
    this.alerts = alertStore(engine);
    this.notes = noteStore(engine);
    this.tasks = taskStore(engine);
    this.workTimeline = workTimeline(engine);
    this.personData = personDataStore(engine);
    this.segments = segmentStore(engine);
    this.sources = sourceStore(engine);
    this.sourceSettings = sourceSettingsStore(engine);
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

/** Deletes old rows of the stores: held events, warnings and rows of deleted rules at every call, all others
 * once an hour. */
export class StoreTidy {
  readonly #engine: Engine;
  readonly #maxHeldEventBytes: number;
  readonly #hourly = new Hourly();

  /** @param maxHeldEventBytes of an organization. Above it the oldest held events are dropped */
  constructor(engine: Engine, maxHeldEventBytes: number) {
    this.#engine = engine;
    this.#maxHeldEventBytes = maxHeldEventBytes;
  }

  /** The steps that are due. Each may fail by itself. */
  steps(nowMs: number): readonly (() => Promise<void>)[] {
    const engine = this.#engine;
    const maxBytes = this.#maxHeldEventBytes;
    const always = [
      () => tidyHeldEvents(engine, maxBytes, nowMs),
      () => tidyWarnings(engine, nowMs),
      () => finishRuleDeletions(engine),
    ];
    if (!this.#hourly.isDue(nowMs)) return always;
    return [
      ...always,
      () => tidySources(engine, nowMs),
      () => tidyDeliveries(engine, nowMs),
      () => tidyAlerts(engine, nowMs),
      () => engine.alone(tidyLogins(nowMs)),
      () => engine.alone(tidyAudit(nowMs)),
    ];
  }
}
