/**
 * The ledger across the process boundary: intake answers on the control socket, analysis and the command
 * line call. The names listed here are all that can be asked for.
 */
import type { Importer } from "../../intake/importer.ts";
import type { AskedErasure, Erasures } from "../../ledger/ports/erasures.ts";
import type { Ledger, SharedLedger } from "../../ledger/ports/ledger.ts";
import type { WarningKind } from "../../ledger/ports/warnings.ts";
import { type Operations, remoteService } from "../../process/control.ts";

const organizationReads = ["list", "find"] as const;
const organizationChanges = ["create", "set", "eventsDropped"] as const;
const credentialChanges = ["create", "revoke"] as const;
const erasureCalls = [
  "begin",
  "beginAccount",
  "pending",
  "counted",
  "accountCounted",
  "finish",
  "find",
  "list",
  "accountsSince",
] as const;
const deletionCalls = ["begin", "pending", "finish"] as const;
const inboxCalls = ["freeze", "finish", "backlog"] as const;
const settingsCalls = ["get", "change", "restore", "history"] as const;
const rejectedEventCalls = ["list", "count", "retry", "drop", "missing"] as const;
const exclusionCalls = ["list", "add", "remove", "rules", "revisions"] as const;
const outageCalls = ["list", "add", "remove"] as const;
const auditCalls = ["add", "list"] as const;
const memberCalls = [
  "list",
  "invitations",
  "invite",
  "withEmail",
  "remove",
  "addPasswordLink",
  "isClaimed",
  "makeOwner",
] as const;
const segmentCalls = ["organizations", "list", "numbers", "ofUser", "add", "change", "remove"] as const;
const destinationCalls = ["list", "asking"] as const;
const deliveryCalls = ["add", "list"] as const;
const alertRuleCalls = ["list", "add", "change", "remove", "experiments"] as const;
const ruleDecisionCalls = [
  "deciding",
  "toDecide",
  "states",
  "holdOut",
  "knownArms",
  "named",
  "sentOn",
  "gathered",
  "openMoments",
  "toldOpen",
  "unsent",
  "namedInMessages",
  "leaveOut",
  "insideBySettings",
  "commitDecision",
] as const;
const alertCalls = [
  "list",
  "weights",
  "withIds",
  "ofEntity",
  "workedOn",
  "all",
  "fired",
  "firedByDay",
  "controls",
] as const;
const noteCalls = ["ofEntity", "all"] as const;
const taskCalls = ["entities", "ofEntity", "openOf", "all"] as const;
const personDataCalls = [
  "identity",
  "rejectedEvents",
  "auditEntries",
  "alertStates",
  "calls",
  "holdOutEntries",
  "deliveries",
] as const;
const workTimelineCalls = ["entries"] as const;
const heldEventCalls = ["counts", "people", "labels"] as const;
const checkCalls = ["list", "keep"] as const;
const importCalls = ["begin", "ofFile", "append", "finish", "check"] as const;
const ledgerCalls = [
  "flush",
  "dayCounts",
  "lastBulkLoadAtMs",
  "imported",
  "populations",
  "freshness",
  "findUser",
  "findAccount",
  "rebuildsPending",
  "rebuildBegun",
  "rebuildDone",
] as const;

/** The caches of tokens, keys and organizations, which follow changes and lists. */
interface Memory {
  forget(): void;
  recordUse(): Promise<void>;
  /** Writes down the warnings that were only counted so far. */
  recordWarnings(): Promise<void>;
  /** Writes down what came from sources and was only counted so far. */
  recordSources(): Promise<void>;
  /** Leaves no warning that names the user but those that are written down. */
  forgetWarningsOf(organization: number, userId: string): Promise<void>;
  /** Shows no more in the live view what names the account. */
  forgetAccount(organization: number, accountId: string): void;
  /** Ends the live view of an organization that is deleted. */
  forgetOrganization(organization: number): void;
  /** Resolves when every write that was admitted before is committed. */
  settled(): Promise<void>;
}

type Operation = (...parameters: never[]) => Promise<unknown>;

/** The table of operations that intake answers. */
export function ledgerOperations(ledger: Ledger, memory: Memory, importer: ImportService): Operations {
  const operations = new Map<string, Operation>();
  const offer = <Part extends object>(
    prefix: string,
    part: Part,
    names: readonly (keyof Part & string)[],
    after: () => void = () => {},
  ) => {
    for (const name of names) {
      const operation = part[name];
      if (typeof operation !== "function") throw new TypeError(`${prefix}.${name} is no operation`);
      operations.set(`${prefix}.${name}`, async (...parameters) => {
        const result: unknown = await operation.apply(part, parameters);
        after();
        return result;
      });
    }
  };
  const forget = () => memory.forget();
  offer("organizations", ledger.organizations, organizationReads);
  offer("organizations", ledger.organizations, organizationChanges, forget);
  for (const kind of ["tokens", "readKeys"] as const) {
    offer(kind, ledger[kind], credentialChanges, forget);
    operations.set(`${kind}.list`, async (organization: number) => {
      // Uses are written down once a minute; a list shows them all.
      await memory.recordUse();
      return ledger[kind].list(organization);
    });
  }
  offer("inbox", ledger.inbox, inboxCalls);
  offer("rejectedEvents", ledger.rejectedEvents, rejectedEventCalls);
  offer("exclusions", ledger.exclusions, exclusionCalls);
  offer("outages", ledger.outages, outageCalls);
  offer("audit", ledger.audit, auditCalls);
  // Removing a member revokes read keys.
  offer("members", ledger.members, memberCalls, forget);
  offer("segments", ledger.segments, segmentCalls);
  offer("destinations", ledger.destinations, destinationCalls);
  offer("deliveries", ledger.deliveries, deliveryCalls);
  offerAlerts(offer, ledger);
  offer("notes", ledger.notes, noteCalls);
  offer("tasks", ledger.tasks, taskCalls);
  offer("workTimeline", ledger.workTimeline, workTimelineCalls);
  offer("personData", ledger.personData, personDataCalls);
  offer("heldEvents", ledger.heldEvents, heldEventCalls);
  offer("checks", ledger.checks, checkCalls);
  offer("sources", ledger.sources, ["totals", "hours", "retire"]);
  offerCounted(operations, ledger, memory);
  offer("erasures", ledger.erasures, erasureCalls);
  offer("settings", ledger.settings, settingsCalls);
  offerErasures(operations, ledger.erasures, memory);
  offer("deletions", ledger.deletions, deletionCalls);
  operations.set("deletions.begin", async (organization: number) => {
    const begun = await ledger.deletions.begin(organization);
    memory.forget();
    await memory.settled();
    memory.forgetOrganization(organization);
    return begun;
  });
  offer("imports", importer, importCalls);
  offer("ledger", ledger, ledgerCalls);
  operations.set("ledger.rebuildsPending", async () => {
    const pending = await ledger.rebuildsPending();
    // Items that were admitted in the old timezone have to be in the inbox before the rebuild drains it.
    if (pending.length > 0) await memory.settled();
    return pending;
  });
  return operations;
}

type Offer = <Part extends object>(
  prefix: string,
  part: Part,
  names: readonly (keyof Part & string)[],
) => void;

function offerAlerts(offer: Offer, { alertRules, ruleDecisions, alerts }: Ledger): void {
  offer("alertRules", alertRules, alertRuleCalls);
  offer("ruleDecisions", ruleDecisions, ruleDecisionCalls);
  offer("alerts", alerts, alertCalls);
}

/** Warnings and items of sources that were only counted so far are written down before they are read. */
function offerCounted(operations: Map<string, Operation>, ledger: Ledger, memory: Memory): void {
  operations.set("warnings.list", async (organization: number, limit: number, kind?: WarningKind) => {
    await memory.recordWarnings();
    return ledger.warnings.list(organization, limit, kind);
  });
  operations.set("personData.identity", async (organization: number, userId: string) => {
    await memory.recordWarnings();
    return ledger.personData.identity(organization, userId);
  });
  operations.set("sources.hours", async (organization: number, fromUtcHour: number) => {
    await memory.recordSources();
    return ledger.sources.hours(organization, fromUtcHour);
  });
}

/** Beginning an erasure is more than the ledger's work: memory forgets, too. */
function offerErasures(operations: Map<string, Operation>, erasures: Erasures, memory: Memory): void {
  operations.set("erasures.begin", async (organization: number, userId: string, asked?: AskedErasure) => {
    await memory.forgetWarningsOf(organization, userId);
    const begun = await erasures.begin(organization, userId, asked);
    // Requests that were under way at the erasure have ended.
    await memory.settled();
    for (const name of begun?.names ?? [userId]) await memory.forgetWarningsOf(organization, name);
    if (begun?.ofAccount) memory.forgetAccount(organization, begun.ofAccount.accountId);
    return begun;
  });
  operations.set(
    "erasures.beginAccount",
    async (organization: number, accountId: string, asked?: AskedErasure) => {
      const begun = await erasures.beginAccount(organization, accountId, asked);
      await memory.settled();
      memory.forgetAccount(organization, accountId);
      return begun;
    },
  );
}

/** Imports rows: the importer of the intake process, or the command line's own. */
export type ImportService = Pick<Importer, (typeof importCalls)[number]>;

/** The importer of the intake process behind this socket. */
export function remoteImporter(socket: string): ImportService {
  return remoteService<ImportService>(socket, "imports", importCalls);
}

/** The ledger of the intake process behind this socket. The reader is the caller's own, since the rows of a
 * batch, and a snapshot, are better read from the file than carried through the process that serves
 * writes. */
export function remoteLedger(
  socket: string,
  reader: Pick<SharedLedger["inbox"], "read"> & Pick<SharedLedger, "snapshot">,
): SharedLedger {
  const remote = <Part extends object>(prefix: string, names: readonly (keyof Part & string)[]) =>
    remoteService<Part>(socket, prefix, names);
  const whole = remote<Pick<SharedLedger, (typeof ledgerCalls)[number]>>("ledger", ledgerCalls);
  return {
    ...whole,
    organizations: remote<SharedLedger["organizations"]>("organizations", [
      ...organizationReads,
      ...organizationChanges,
    ]),
    tokens: remote<SharedLedger["tokens"]>("tokens", ["list", ...credentialChanges]),
    readKeys: remote<SharedLedger["readKeys"]>("readKeys", ["list", ...credentialChanges]),
    rejectedEvents: remote<SharedLedger["rejectedEvents"]>("rejectedEvents", rejectedEventCalls),
    exclusions: remote<SharedLedger["exclusions"]>("exclusions", exclusionCalls),
    outages: remote<SharedLedger["outages"]>("outages", outageCalls),
    audit: remote<SharedLedger["audit"]>("audit", auditCalls),
    members: remote<SharedLedger["members"]>("members", memberCalls),
    segments: remote<SharedLedger["segments"]>("segments", segmentCalls),
    destinations: remote<SharedLedger["destinations"]>("destinations", destinationCalls),
    deliveries: remote<SharedLedger["deliveries"]>("deliveries", deliveryCalls),
    alertRules: remote<SharedLedger["alertRules"]>("alertRules", alertRuleCalls),
    ruleDecisions: remote<SharedLedger["ruleDecisions"]>("ruleDecisions", ruleDecisionCalls),
    alerts: remote<SharedLedger["alerts"]>("alerts", alertCalls),
    notes: remote<SharedLedger["notes"]>("notes", noteCalls),
    tasks: remote<SharedLedger["tasks"]>("tasks", taskCalls),
    personData: remote<SharedLedger["personData"]>("personData", personDataCalls),
    workTimeline: remote<SharedLedger["workTimeline"]>("workTimeline", workTimelineCalls),
    heldEvents: remote<SharedLedger["heldEvents"]>("heldEvents", heldEventCalls),
    checks: remote<SharedLedger["checks"]>("checks", checkCalls),
    warnings: remote<SharedLedger["warnings"]>("warnings", ["list"]),
    sources: remote<SharedLedger["sources"]>("sources", ["totals", "hours", "retire"]),
    erasures: remote<SharedLedger["erasures"]>("erasures", erasureCalls),
    deletions: remote<SharedLedger["deletions"]>("deletions", deletionCalls),
    settings: remote<SharedLedger["settings"]>("settings", settingsCalls),
    inbox: {
      ...remote<Pick<SharedLedger["inbox"], (typeof inboxCalls)[number]>>("inbox", inboxCalls),
      read: reader.read,
    },
    snapshot: async (folder) => {
      await whole.flush();
      return reader.snapshot(folder);
    },
  };
}
