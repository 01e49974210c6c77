/** Stores of rows that belong to an organization, described by what they have in common. */
import type { AuditAction } from "../../contract/audit.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { createProjectToken, createReadKey } from "../../server/ledger/stores/credentials.ts";
import { alertRule } from "./alert-decision.ts";
import type { Ground, Prepare } from "./change-kinds.ts";
import { account, user, writePeople } from "./writes.ts";

/** Characters that a store may take for its own: none of them is lost. */
const hostile = "a\0b\\0c\\d 'e' \"f\" {g} ünïcode 😀";
const expiresAtMs = 9e12;
/** The day on which alert rules are listed. */
const today = 20_000;

interface Row {
  readonly id: number;
}

/** What is done to a row by its id and its organization. */
interface Call {
  /** Its entry in the audit log. */
  readonly action: AuditAction;
  /** Making it again changes something again. */
  readonly repeats?: true;
  readonly of: (ledger: Ledger, organization: number, id: number, nowMs: number) => Promise<unknown>;
}

export interface RowStore<Add extends string = string, Method extends string = string> {
  /** The method that adds a row, and its entry in the audit log. */
  readonly method: Add;
  readonly action: AuditAction;
  /** Adding the same row again changes something again. */
  readonly repeats?: true;
  /** Adds a row. @param n differs in each row of an organization */
  readonly add: (ledger: Ledger, organization: number, n: number, nowMs: number) => Promise<unknown>;
  /** All rows of an organization. */
  readonly list: (ledger: Ledger, organization: number) => Promise<readonly Row[]>;
  /** By the methods' names. */
  readonly calls: Readonly<Record<Method, Call>>;
  /** The most rows of an organization (or of one user), and the begin of the refusal of one more. */
  readonly limit?: readonly [rows: number, refusal: string];
  /** Adds a row that the limit does not count, because it is about another user. */
  readonly elsewhere?: (ledger: Ledger, organization: number, nowMs: number) => Promise<unknown>;
}

const rows = <const Add extends string, const Method extends string>(store: RowStore<Add, Method>) => store;

/** The user of every organization about whom there are notes and tasks. */
export const userId = "ada";
export const otherUserId = "bob";
/** The account of every organization about which there are pulses. */
export const accountId = "engines";
export const otherAccountId = "wings";
const ada = { kind: "user", id: userId } as const;
const bob = { kind: "user", id: otherUserId } as const;
const task = (title: string) => ({ title, dueDay: null, assignee: null });
const name = (n: number) => `${hostile} ${n}`;
const filter = { filter: { riskBand: "high" } } as const;
const mapping = { event: { path: hostile }, userId: "user.id" } as const;
const webhook = { kind: "webhook", address: "https://example.com/", secrets: ["s"], notices: [] } as const;

export const rowStores = {
  views: rows({
    method: "add",
    action: "view.created",
    add: (ledger, of, n, at) =>
      ledger.views.add(of, { page: "users", name: name(n), query: hostile }, by, at),
    list: (ledger, of) => ledger.views.list(of),
    calls: {
      change: {
        action: "view.changed",
        of: (ledger, of, id, at) => ledger.views.change(of, id, { name: "changed" }, by, at),
      },
      remove: { action: "view.deleted", of: (ledger, of, id, at) => ledger.views.remove(of, id, by, at) },
    },
    limit: [200, "There are 200 views already: delete one before you"],
  }),
  webhooks: rows({
    method: "addWebhook",
    action: "webhook.created",
    add: (ledger, of, n, at) => ledger.sourceSettings.addWebhook(of, { name: `hook-${n}`, mapping }, by, at),
    list: (ledger, of) => ledger.sourceSettings.webhooks(of),
    calls: {
      changeWebhook: {
        action: "webhook.changed",
        of: (ledger, of, id, at) =>
          ledger.sourceSettings.changeWebhook(of, id, { mapping: { ...mapping, userId: "id" } }, by, at),
      },
      removeWebhook: {
        action: "webhook.deleted",
        of: (ledger, of, id, at) => ledger.sourceSettings.removeWebhook(of, id, by, at),
      },
    },
    limit: [20, "There are 20 webhooks already: delete one before you"],
  }),
  notes: rows({
    method: "add",
    action: "note.created",
    repeats: true,
    add: (ledger, of, n, at) => ledger.notes.add(of, ada, name(n), by, at),
    list: (ledger, of) => ledger.notes.all(of, 0, 9_999),
    calls: {
      change: {
        action: "note.changed",
        of: (ledger, of, id, at) => ledger.notes.change(of, id, "changed", by, at),
      },
      remove: { action: "note.deleted", of: (ledger, of, id, at) => ledger.notes.remove(of, id, by, at) },
    },
    elsewhere: (ledger, of, at) => ledger.notes.add(of, bob, "text", by, at),
    limit: [1_000, "There are 1000 notes here already: delete one before you"],
  }),
  tasks: rows({
    method: "add",
    action: "task.created",
    repeats: true,
    add: (ledger, of, n, at) => ledger.tasks.add(of, ada, task(name(n)), by, at),
    list: (ledger, of) => ledger.tasks.all(of, 0, 9_999),
    calls: {
      change: {
        action: "task.changed",
        of: (ledger, of, id, at) => ledger.tasks.change(of, id, { isDone: true }, by, at),
      },
      remove: { action: "task.deleted", of: (ledger, of, id, at) => ledger.tasks.remove(of, id, by, at) },
    },
    elsewhere: (ledger, of, at) => ledger.tasks.add(of, bob, task("title"), by, at),
    limit: [500, "There are 500 tasks here already: delete one before you"],
  }),
  pulses: rows({
    method: "add",
    action: "pulse.said",
    repeats: true,
    add: (ledger, of, n, at) => ledger.pulses.add(of, accountId, { value: 2, text: name(n) }, by, at),
    list: (ledger, of) => ledger.pulses.all(of, 0, 9_999),
    calls: {
      takeBack: {
        action: "pulse.taken_back",
        of: (ledger, of, id, at) => ledger.pulses.takeBack(of, id, by, at),
      },
    },
    elsewhere: (ledger, of, at) => ledger.pulses.add(of, otherAccountId, { value: 5, text: "text" }, by, at),
    limit: [500, "There are 500 pulses of this account already"],
  }),
  segments: rows({
    method: "add",
    action: "segment.created",
    add: (ledger, of, n, at) =>
      ledger.segments.add(of, { kind: "users", name: name(n), content: filter }, by, at),
    list: (ledger, of) => ledger.segments.list(of),
    calls: {
      change: {
        action: "segment.changed",
        of: (ledger, of, id, at) => ledger.segments.change(of, id, { name: "changed" }, by, at),
      },
      remove: {
        action: "segment.deleted",
        of: (ledger, of, id, at) => ledger.segments.remove(of, id, by, at),
      },
    },
    limit: [200, "There are 200 segments already: delete one before you"],
  }),
  "alert rules": rows({
    method: "add",
    action: "alert_rule.created",
    add: (ledger, of, n, at) => ledger.alertRules.add(of, { ...alertRule, name: name(n) }, by, at),
    list: (ledger, of) => ledger.alertRules.list(of, today),
    calls: {
      change: {
        action: "alert_rule.changed",
        of: (ledger, of, id, at) => ledger.alertRules.change(of, id, { cap: 3 }, by, at),
      },
      remove: {
        action: "alert_rule.deleted",
        of: (ledger, of, id, at) => ledger.alertRules.remove(of, id, by, at),
      },
    },
    limit: [100, "There are 100 alert rules already: delete one before you"],
  }),
  destinations: rows({
    method: "add",
    action: "destination.created",
    add: (ledger, of, n, at) => ledger.destinations.add(of, { ...webhook, name: name(n) }, by, at),
    list: (ledger, of) => ledger.destinations.list(of),
    calls: {
      change: {
        action: "destination.changed",
        of: (ledger, of, id, at) => ledger.destinations.change(of, id, { name: "changed" }, by, at),
      },
      addSecret: {
        action: "destination.changed",
        repeats: true,
        of: (ledger, of, id, at) => ledger.destinations.addSecret(of, id, "t", by, at),
      },
      remove: {
        action: "destination.deleted",
        of: (ledger, of, id, at) => ledger.destinations.remove(of, id, by, at),
      },
    },
    limit: [20, "There are 20 destinations already: delete one before you"],
  }),
  exclusions: rows({
    method: "add",
    action: "exclusion.added",
    add: (ledger, of, n, at) => ledger.exclusions.add(of, { kind: "user", key: "", value: name(n) }, by, at),
    list: (ledger, of) => ledger.exclusions.list(of),
    calls: {
      remove: {
        action: "exclusion.removed",
        of: (ledger, of, id, at) => ledger.exclusions.remove(of, id, by, at),
      },
    },
    limit: [200, "There are 200 exclusion rules already: remove one before you"],
  }),
  outages: rows({
    method: "add",
    action: "outage.added",
    add: (ledger, of, n, at) => ledger.outages.add(of, { fromDay: n, toDay: n + 1 }, by, at),
    list: (ledger, of) => ledger.outages.list(of),
    calls: {
      remove: { action: "outage.removed", of: (ledger, of, id, at) => ledger.outages.remove(of, id, by, at) },
    },
    limit: [100, "There are 100 declared outages already: remove one before you"],
  }),
  invitations: rows({
    method: "invite",
    action: "invitation.created",
    repeats: true,
    add: (ledger, of, n, at) => {
      const invitation = {
        organization: of,
        email: `${n}@example.com`,
        role: "viewer",
        expiresAtMs,
      } as const;
      return ledger.members.invite({ ...invitation, sha256: `${of} ${n}` }, by, at);
    },
    list: (ledger, of) => ledger.members.invitations(of, 0),
    calls: {
      revokeInvitation: {
        action: "invitation.revoked",
        of: (ledger, of, id, at) => ledger.members.revokeInvitation(of, id, by, at),
      },
    },
    limit: [200, "There are 200 open invitations already: take one back before you"],
  }),
  // Credentials are revoked by their id alone: their routes look the organization up, and bound their number.
  "project tokens": rows({
    method: "create",
    action: "token.created",
    repeats: true,
    add: (ledger, of, n, nowMs) =>
      createProjectToken(ledger.tokens, { organization: of, name: name(n), nowMs }, by),
    list: (ledger, of) => ledger.tokens.list(of),
    calls: {},
  }),
  "read keys": rows({
    method: "create",
    action: "read_key.created",
    repeats: true,
    add: (ledger, of, n, nowMs) =>
      createReadKey(ledger.readKeys, { organization: of, name: name(n), nowMs, more: ["erase"] }, by),
    list: (ledger, of) => ledger.readKeys.list(of),
    calls: {},
  }),
};

/** The methods of a store that add and change rows, each with the change that it makes. */
export function changesOf<Add extends string, Method extends string>(
  store: RowStore<Add, Method>,
): Record<Add | Method, Prepare> {
  const { action, repeats } = store;
  const adding: Prepare = async (ground) => {
    await withUser(ground);
    const of = (organization: number) => store.add(ground.ledger, organization, 0, ground.nowMs);
    return { action, of, ...(repeats && { repeats }) };
  };
  const calling =
    (call: Call): Prepare =>
    async (ground) => {
      await withUser(ground);
      const { ledger, id: organization, nowMs } = ground;
      await store.add(ledger, organization, 0, nowMs);
      const [row] = await store.list(ledger, organization);
      const of = (one: number) => call.of(ledger, one, row?.id ?? 0, nowMs + 1);
      return { action: call.action, of, ...(call.repeats && { repeats: call.repeats }) };
    };
  const calls = Object.entries<Call>(store.calls).map(([method, call]) => [method, calling(call)]);
  return { [store.method]: adding, ...Object.fromEntries(calls) } as Record<Add | Method, Prepare>;
}

async function withUser({ ledger, id }: Ground): Promise<void> {
  await writePeople(ledger, { users: [user(id, userId)], accounts: [account(id, accountId)] });
}
