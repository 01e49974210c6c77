/** Every method of the ledger, with its kind. It is a read, a write by the service itself, or a change in the
 * audit log. */
import { commandLine as by, settingUp } from "../../server/ledger/ports/audit.ts";
import { createProjectToken, createReadKey } from "../../server/ledger/ports/credentials.ts";
import { type Ground, type Kind, type Kinds, logOf, type Prepare, read, service } from "./change-kinds.ts";
import { alertRules, alerts, ruleDecisions } from "./changes-of-alerts.ts";
import { deliveries, destinations } from "./changes-of-destinations.ts";
import { logins, members } from "./changes-of-people.ts";
import { segments } from "./changes-of-segments.ts";
import { eventLine, reject } from "./contract-operation.ts";
import { account, user, writePeople } from "./writes.ts";

const rule = { kind: "email_domain", key: "", value: "example.com" } as const;
const outage = { fromDay: 20_000, toDay: 20_004 };
const mapping = { event: { path: "name" }, userId: "user.id" } as const;

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
  create: async ({ ledger, nowMs }) => ({
    action: "token.created",
    repeats: true,
    of: (organization) => createProjectToken(ledger.tokens, { organization, name: "web", nowMs }, by),
  }),
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
  create: async ({ ledger, nowMs }) => ({
    action: "read_key.created",
    repeats: true,
    of: (organization) =>
      createReadKey(ledger.readKeys, { organization, name: "bi", nowMs, more: ["erase"] }, by),
  }),
  revoke: async ({ ledger, id: organization, nowMs }) => {
    const wanted = { organization, name: "bi", nowMs, more: [] };
    const { id } = await createReadKey(ledger.readKeys, wanted, settingUp);
    return { action: "read_key.revoked", make: () => ledger.readKeys.revoke(id, by, nowMs) };
  },
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
  add: async ({ ledger, nowMs }) => ({
    action: "exclusion.added",
    of: (organization) => ledger.exclusions.add(organization, rule, by, nowMs),
  }),
  remove: async ({ ledger, id, nowMs }) => {
    const added = await ledger.exclusions.add(id, rule, settingUp, nowMs);
    return {
      action: "exclusion.removed",
      of: (organization) => ledger.exclusions.remove(organization, added.id, by, nowMs),
    };
  },
};

const outages: Kinds["outages"] = {
  list: read,
  add: async ({ ledger, nowMs }) => ({
    action: "outage.added",
    of: (organization) => ledger.outages.add(organization, outage, by, nowMs),
  }),
  remove: async ({ ledger, id, nowMs }) => {
    const added = await ledger.outages.add(id, outage, settingUp, nowMs);
    return {
      action: "outage.removed",
      of: (organization) => ledger.outages.remove(organization, added.id, by, nowMs),
    };
  },
};

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

const view = { page: "users", name: "mine", query: "sort=name" } as const;

const views: Kinds["views"] = {
  list: read,
  add: async ({ ledger, nowMs }) => ({
    action: "view.created",
    of: (organization) => ledger.views.add(organization, view, by, nowMs),
  }),
  change: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.views.add(organization, view, by, nowMs);
    return {
      action: "view.changed",
      of: (of) => ledger.views.change(of, id, { name: "ours" }, by, nowMs + 1),
    };
  },
  remove: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.views.add(organization, view, by, nowMs);
    return { action: "view.deleted", of: (of) => ledger.views.remove(of, id, by, nowMs) };
  },
};

const webhook = { name: "crm", mapping } as const;

const sourceSettings: Kinds["sourceSettings"] = {
  webhooks: read,
  webhook: read,
  stripe: read,
  addWebhook: async ({ ledger, nowMs }) => ({
    action: "webhook.created",
    of: (organization) => ledger.sourceSettings.addWebhook(organization, webhook, by, nowMs),
  }),
  changeWebhook: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.sourceSettings.addWebhook(organization, webhook, by, nowMs);
    const changed = { ...mapping, userId: "person.id" };
    return {
      action: "webhook.changed",
      of: (of) => ledger.sourceSettings.changeWebhook(of, id, { mapping: changed }, by, nowMs + 1),
    };
  },
  removeWebhook: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.sourceSettings.addWebhook(organization, webhook, by, nowMs);
    return {
      action: "webhook.deleted",
      of: (of) => ledger.sourceSettings.removeWebhook(of, id, by, nowMs),
    };
  },
  changeStripe: async ({ ledger, nowMs }) => ({
    action: "stripe.changed",
    of: (organization) =>
      ledger.sourceSettings.changeStripe(organization, { unknownCustomers: "create" }, by, nowMs),
  }),
};

const ada = { kind: "user", id: "ada" } as const;
const wantedTask = { title: "Call", dueDay: null, assignee: null } as const;

/** A user whom notes and tasks are about. */
async function withAda({ ledger, id }: Ground): Promise<void> {
  await writePeople(ledger, { users: [user(id, "ada")] });
}

const notes: Kinds["notes"] = {
  ...{ ofEntity: read, all: read },
  add: async (ground) => {
    await withAda(ground);
    const { ledger, nowMs } = ground;
    return {
      action: "note.created",
      repeats: true,
      of: (of) => ledger.notes.add(of, ada, "text", by, nowMs),
    };
  },
  change: async (ground) => {
    await withAda(ground);
    const { ledger, id: organization, nowMs } = ground;
    const note = await ledger.notes.add(organization, ada, "text", by, nowMs);
    return {
      action: "note.changed",
      of: (of) => ledger.notes.change(of, note?.id ?? 0, "other", by, nowMs),
    };
  },
  remove: async (ground) => {
    await withAda(ground);
    const { ledger, id: organization, nowMs } = ground;
    const note = await ledger.notes.add(organization, ada, "text", by, nowMs);
    return { action: "note.deleted", of: (of) => ledger.notes.remove(of, note?.id ?? 0, by, nowMs) };
  },
};

const tasks: Kinds["tasks"] = {
  ...{ list: read, entities: read, ofEntity: read, all: read },
  add: async (ground) => {
    await withAda(ground);
    const { ledger, nowMs } = ground;
    return {
      action: "task.created",
      repeats: true,
      of: (of) => ledger.tasks.add(of, ada, wantedTask, by, nowMs),
    };
  },
  change: async (ground) => {
    await withAda(ground);
    const { ledger, id: organization, nowMs } = ground;
    const task = await ledger.tasks.add(organization, ada, wantedTask, by, nowMs);
    return {
      action: "task.changed",
      of: (of) => ledger.tasks.change(of, task?.id ?? 0, { isDone: true }, by, nowMs),
    };
  },
  remove: async (ground) => {
    await withAda(ground);
    const { ledger, id: organization, nowMs } = ground;
    const task = await ledger.tasks.add(organization, ada, wantedTask, by, nowMs);
    return { action: "task.deleted", of: (of) => ledger.tasks.remove(of, task?.id ?? 0, by, nowMs) };
  },
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
  ...{ counted: service, accountCounted: service, finish: service },
  ...{ pending: read, find: read, list: read, accountsSince: read },
};

/** Every store has to be here with every method: TypeScript says which one is missing. */
const kinds: Kinds = {
  ...{ organizations, tokens, readKeys, rejectedEvents, exclusions, outages, settings, sources, erasures },
  ...{
    members,
    logins,
    views,
    sourceSettings,
    destinations,
    notes,
    tasks,
    alertRules,
    alerts,
    ruleDecisions,
    segments,
  },
  workTimeline: { entries: read },
  personData: {
    ...{ identity: read, rejectedEvents: read, auditEntries: read },
    ...{ alertStates: read, holdOutEntries: read, deliveries: read },
  },
  deliveries,
  inbox: { freeze: service, read, finish: service, backlog: read },
  warnings: { add: service, list: read },
  checks: { list: read, keep: service },
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
