/** Every method of the ledger, with its kind. It is a read, a write by the service itself, or a change in the
 * audit log. */
import { commandLine as by, settingUp } from "../../server/ledger/audit.ts";
import { createProjectToken, createReadKey } from "../../server/ledger/stores/credentials.ts";
import { noteOfAssistant } from "./assistant-write.ts";
import { type Ground, type Kind, type Kinds, logOf, type Prepare, read, service } from "./change-kinds.ts";
import { alertRules, alerts, ruleDecisions } from "./changes-of-alerts.ts";
import { copies, deliveries, destinations } from "./changes-of-destinations.ts";
import { logins, members } from "./changes-of-people.ts";
import { eventLine, reject } from "./contract-operation.ts";
import { changesOf, rowStores } from "./rows-of-stores.ts";
import { account, user, writePeople } from "./writes.ts";

async function threeRejectedEvents({ subject, id }: Ground): Promise<void> {
  await reject(
    subject,
    "events",
    [1, 2, 3].map((number) => eventLine(id, number)),
    2024,
  );
}

const organizations: Kinds["organizations"] = {
  list: read,
  find: read,
  create: async ({ ledger, nowMs }) => ({
    action: "organization.created",
    make: () => ledger.organizations.create({ name: "new", timezone: "UTC", nowMs }, by),
    logOf,
  }),
  set: async ({ ledger, nowMs }) => {
    const rates = { requestsPerSecond: 7, itemsPerSecondSet: 8, keepEventsDays: 9 };
    const change = { name: "renamed", timezone: "Asia/Tokyo", ...rates };
    return {
      action: "organization.changed",
      of: (organization) => ledger.organizations.set(organization, change, by, nowMs),
    };
  },
  eventsDropped: service,
};

const tokens: Kinds["tokens"] = {
  list: read,
  find: read,
  touch: service,
  ...changesOf(rowStores["project tokens"]),
  revoke: async ({ ledger, id: organization, nowMs }) => {
    const wanted = { organization, name: "web", nowMs };
    const { id } = await createProjectToken(ledger.tokens, wanted, settingUp);
    return { action: "token.revoked", make: () => ledger.tokens.revoke(id, by, nowMs) };
  },
};

const readKeys: Kinds["readKeys"] = {
  list: read,
  find: read,
  touch: service,
  ...changesOf(rowStores["read keys"]),
  revoke: async ({ ledger, id: organization, nowMs }) => {
    const wanted = { organization, name: "bi", nowMs, more: [] };
    const { id } = await createReadKey(ledger.readKeys, wanted, settingUp);
    return { action: "read_key.revoked", make: () => ledger.readKeys.revoke(id, by, nowMs) };
  },
};

const segments: Kinds["segments"] = {
  organizations: read,
  list: read,
  numbers: read,
  ofUser: read,
  ...changesOf(rowStores.segments),
};

const rejectedEvents: Kinds["rejectedEvents"] = {
  list: read,
  count: read,
  missing: read,
  retry: async (ground) => {
    await threeRejectedEvents(ground);
    const { ledger, nowMs } = ground;
    return {
      action: "rejected_events.retried",
      of: (organization) => ledger.rejectedEvents.retry({ organization }, by, nowMs),
    };
  },
  drop: async (ground) => {
    await threeRejectedEvents(ground);
    const { ledger, nowMs } = ground;
    return {
      action: "rejected_events.dropped",
      of: (organization) => ledger.rejectedEvents.drop({ organization }, by, nowMs),
    };
  },
};

const exclusions: Kinds["exclusions"] = {
  list: read,
  rules: read,
  revisions: read,
  ...changesOf(rowStores.exclusions),
};

const outages: Kinds["outages"] = { list: read, ...changesOf(rowStores.outages) };

const settings: Kinds["settings"] = {
  get: read,
  history: read,
  change: async ({ ledger, nowMs }) => ({
    action: "settings.changed",
    of: (organization) => ledger.settings.change(organization, { weekStart: 7 }, by, nowMs),
  }),
  restore: async ({ ledger, id, nowMs }) => {
    await ledger.settings.change(id, { weekStart: 7 }, settingUp, nowMs);
    return {
      action: "settings.restored",
      of: (organization) => ledger.settings.restore(organization, { to: 0 }, by, nowMs),
    };
  },
};

const sources: Kinds["sources"] = {
  add: service,
  totals: read,
  hours: read,
  retire: async ({ ledger, id, nowMs }) => {
    const items = { accepted: 1, held: 0, duplicate: 0, rejected: 0, ignored: 0 };
    const times = { firstMs: nowMs, lastMs: nowMs, firstHeardMs: nowMs, lastHeardMs: nowMs };
    await ledger.sources.add([{ organization: id, source: "segment", utcHour: 1, ...items, ...times }]);
    return {
      action: "source.retired",
      of: (organization) => ledger.sources.retire(organization, "segment", by, nowMs + 1),
    };
  },
};

/** Uploads of imports; the audit log has what a team member does. */
const newUpload = { node: null, fileName: "users.csv", bytes: 9 } as const;
const checkedUpload = async ({ ledger, id, nowMs }: Ground) => {
  const added = await ledger.uploads.add(id, { ...newUpload, folder: crypto.randomUUID() }, by, nowMs);
  await ledger.uploads.settle(added.id, "reading", "ready", nowMs);
  await ledger.uploads.startCheck(id, added.id, { from: "segment" }, nowMs);
  await ledger.uploads.settle(added.id, "checking", "checked", nowMs);
  return added.id;
};
const uploads: Kinds["uploads"] = {
  list: read,
  find: read,
  ofNode: read,
  refuseFull: read,
  startCheck: service,
  begun: service,
  isStill: read,
  settle: service,
  fileGone: service,
  add: async ({ ledger, nowMs }) => ({
    action: "import.uploaded",
    repeats: true,
    of: (organization) =>
      ledger.uploads.add(organization, { ...newUpload, folder: crypto.randomUUID() }, by, nowMs),
  }),
  startRun: async (place) => {
    const upload = await checkedUpload(place);
    const { ledger, nowMs } = place;
    return {
      action: "import.run",
      // Meanwhile it is a conflict: test/import/browser.test.ts.
      repeats: true,
      of: (organization) => ledger.uploads.startRun(organization, upload, by, nowMs),
    };
  },
  remove: async (place) => {
    const upload = await checkedUpload(place);
    const { ledger, nowMs } = place;
    return {
      action: "import.deleted",
      of: (organization) => ledger.uploads.remove(organization, upload, by, nowMs),
    };
  },
};

const views: Kinds["views"] = { list: read, ...changesOf(rowStores.views) };

const sourceSettings: Kinds["sourceSettings"] = {
  webhooks: read,
  webhook: read,
  stripe: read,
  ...changesOf(rowStores.webhooks),
  changeStripe: async ({ ledger, nowMs }) => ({
    action: "stripe.changed",
    of: (organization) =>
      ledger.sourceSettings.changeStripe(organization, { unknownCustomers: "create" }, by, nowMs),
  }),
};

const assistantWrites: Kinds["assistantWrites"] = {
  begin: service,
  finish: service,
  giveUp: service,
  list: read,
  undoable: read,
  hasNoVerdict: read,
  undone: async ({ ledger, id, nowMs }) => {
    const write = await noteOfAssistant(ledger, id, nowMs);
    return {
      action: "assistant_write.undone",
      of: (organization) => ledger.assistantWrites.undone(organization, write, by, nowMs),
    };
  },
};

const notes: Kinds["notes"] = { ofEntity: read, all: read, ...changesOf(rowStores.notes) };

const pulses: Kinds["pulses"] = {
  ofAccount: read,
  all: read,
  counts: read,
  ...changesOf(rowStores.pulses),
};

const tasks: Kinds["tasks"] = {
  list: read,
  entities: read,
  ofEntity: read,
  openOf: read,
  doneSince: read,
  all: read,
  ...changesOf(rowStores.tasks),
};

/** The entry is written with the first step. */
const erasures: Kinds["erasures"] = {
  begin: async ({ ledger, id }) => {
    await writePeople(ledger, { users: [user(id, "ada")] });
    return {
      action: "user.erased",
      // Nodes get the order to forget the id again.
      repeats: true,
      of: (organization) => ledger.erasures.begin(organization, "ada", { by }),
    };
  },
  beginAccount: async ({ ledger, id }) => {
    await writePeople(ledger, { accounts: [account(id, "engines")] });
    return {
      action: "account.erased",
      of: (organization) => ledger.erasures.beginAccount(organization, "engines", { by }),
    };
  },
  counted: service,
  accountCounted: service,
  finish: service,
  pending: read,
  find: read,
  list: read,
  accountsSince: read,
};

/** Every store has to be here with every method: TypeScript says which one is missing. */
const kinds: Kinds = {
  organizations,
  tokens,
  readKeys,
  rejectedEvents,
  exclusions,
  outages,
  settings,
  sources,
  erasures,
  members,
  logins,
  assistantWrites,
  uploads,
  views,
  sourceSettings,
  destinations,
  notes,
  pulses,
  tasks,
  alertRules,
  alerts,
  ruleDecisions,
  holdOutResults: {
    open: read,
    due: read,
    enteredBefore: read,
    arms: read,
    entered: read,
    plans: read,
    plan: service,
    settle: service,
  },
  ruleSteps: { due: read, messagesSince: read, run: service },
  askedArms: { ask: service, lists: read, list: service },
  segments,
  workTimeline: { entries: read },
  // The entry about a chunk, like that of `imports`, is proved in contract-imported-work.ts.
  importedWork: { find: read, known: read, addNotes: service, addTasks: service },
  personData: {
    identity: read,
    rejectedEvents: read,
    auditEntries: read,
  },
  alertsAboutUser: { states: read, calls: read, verdicts: read, entries: read },
  deliveries,
  inbox: { freeze: service, read, finish: service, backlog: read },
  warnings: { add: service, list: read },
  checks: { list: read, keep: service },
  copies,
  // An organization's log goes with it.
  deletions: { begin: service, pending: read, finish: service },
  imports: { begin: service, find: read, ofFile: read, finish: service },
  heldEvents: { counts: read, people: read, labels: read },
  audit: { add: service, list: read },
  identities: { linkedTo: read, withEmail: read },
};

/** The changes in the audit log, by their names. */
export const changes: readonly (readonly [name: string, prepare: Prepare])[] = Object.entries(kinds).flatMap(
  ([store, methods]) =>
    Object.entries<Kind>(methods).flatMap(([method, kind]) =>
      typeof kind === "function" ? [[`${store}.${method}`, kind] as const] : [],
    ),
);
