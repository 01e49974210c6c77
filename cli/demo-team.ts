/** What the team of the demonstration's vendor has set up and done: segments, alert rules, a view, tasks,
 * notes, contacts and pulses. What is there already, by its name or text, is not made again: a load that was
 * killed goes on where it stopped. */

import type { RouteBody } from "../contract/api/routes.ts";
import type { ContactKind } from "../contract/notes-and-tasks.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import type { Api } from "./api/ask.ts";

/** Segments of accounts. */
const segments = [
  { name: "Enterprise", filter: { subscriptionPlan: "enterprise" } },
  { name: "Larger renewals in 60 days", filter: { renewsWithinDays: 60, mrrFrom: 5_000 } },
] as const;

/** Rules about accounts, two of them about those of the second segment, and one about who could buy more. Who
 * is inside at the first scores has an alert. */
const rules: readonly (Pick<RouteBody<"POST /api/alert-rules">, "name" | "condition"> & {
  readonly isOfRenewing?: true;
})[] = [
  { name: "High churn risk", condition: { kind: "riskBand", band: "high" } },
  { name: "Seats near the limit", condition: { kind: "seatsAbove", percent: 90 } },
  {
    name: "Weak before a renewal",
    condition: { kind: "healthBelow", below: 40 },
    isOfRenewing: true,
  },
  {
    name: "No report in three weeks",
    condition: { kind: "keyEventUnseen", event: "report_created", days: 21 },
    isOfRenewing: true,
  },
];
const view = { page: "accounts", name: "Largest first", query: "sort=mrr" } as const;
/** How long the first alerts may take after the first scores. */
const alertPatienceMs = 60_000;

/** What is done about one account. */
interface AccountWork {
  /** Its title says later which account the rest is about: the call list may have changed when a killed load
   * goes on. */
  readonly task: { readonly title: string; readonly dueInDays: number };
  readonly note?: string;
  readonly contact?: { readonly daysAgo: number; readonly kind: ContactKind; readonly text: string };
  readonly pulse?: RouteBody<"POST /api/accounts/:accountId/pulses">;
}

/** By the place of the account on the call list. */
const work: readonly AccountWork[] = [
  {
    task: { title: "Ask what would make them stay", dueInDays: 1 },
    note: "A new head of operations wants fewer tools. She decides at the end of the quarter.",
    pulse: { value: 2, text: "Their new head of operations does not know what it is for." },
  },
  {
    task: { title: "Offer a yearly plan before they renew", dueInDays: 4 },
    contact: { daysAgo: 2, kind: "call", text: "No answer, tried twice." },
    pulse: { value: 3, text: "Friendly when we reach them, which is seldom." },
  },
  {
    task: { title: "Find out who uses it now", dueInDays: -1 },
    contact: { daysAgo: 6, kind: "email", text: "Sent them a summary of last month." },
  },
  {
    task: { title: "Tell them when single sign-on comes", dueInDays: 9 },
    note: "They asked for single sign-on twice. It is on our list for spring.",
    contact: { daysAgo: 16, kind: "meeting", text: "Went through their reports. One team has stopped." },
  },
];
/** Of one answer about tasks, contacts and notes. */
const pageRows = 200;

/** Sets up the segments, alert rules and views that are missing. @returns whether there were any */
export async function addRules({ ask }: Api): Promise<boolean> {
  let isChanged = false;
  const stored = (await ask("GET /api/segments")).segments;
  const ids: number[] = [];
  for (const { name, filter } of segments) {
    const found = stored.find((segment) => segment.name === name);
    isChanged ||= found === undefined;
    const body = { kind: "accounts" as const, name, filter };
    ids.push((found ?? (await ask("POST /api/segments", { body }))).id);
  }
  const ruleNames = new Set((await ask("GET /api/alert-rules")).rules.map(({ name }) => name));
  for (const { isOfRenewing, ...rule } of rules) {
    if (ruleNames.has(rule.name)) continue;
    const segment = isOfRenewing ? ids[1] : undefined;
    const scope = { kind: "accounts" as const, ...(segment !== undefined && { segment }) };
    await ask("POST /api/alert-rules", { body: { ...rule, scope, includeCurrent: true } });
    isChanged = true;
  }
  const { views } = await ask("GET /api/views");
  if (!views.some(({ page, name }) => page === view.page && name === view.name)) {
    await ask("POST /api/views", { body: view });
    isChanged = true;
  }
  return isChanged;
}

/** Does what is missing of the work about the first accounts of the call list. Contacts made before have to
 * be loaded.
 * @param owner the e-mail of who does the tasks, if a team member @returns whether something was missing */
export async function addWork(api: Api, owner: string | undefined, nowMs: number): Promise<boolean> {
  const { ask, installation, organization } = api;
  const members = await installation.ledger.members.list(organization.id);
  const assignee = members.find(({ email }) => email === owner)?.id ?? null;
  const inDays = (days: number) => new Date(nowMs + days * msPerDay).toISOString();
  const accountOf = await accountsOfTasks(api);
  const begun = new Set(accountOf.values());
  const { rows } = await ask("GET /api/call-list", { query: { limit: 10 } });
  const others = rows.flatMap(({ accountId }) =>
    accountId === null || begun.has(accountId) ? [] : [accountId],
  );
  let isChanged = false;
  for (const { task, note, contact, pulse } of work) {
    const known = accountOf.get(task.title);
    const accountId = known ?? others.shift();
    if (accountId === undefined) continue;
    const path = { accountId };
    if (known === undefined) {
      const body = { title: task.title, due: inDays(task.dueInDays).slice(0, 10), assignee };
      await ask("POST /api/accounts/:accountId/tasks", { path, body });
      isChanged = true;
    }
    if (note !== undefined && !(await hasNote(api, accountId, note))) {
      await ask("POST /api/accounts/:accountId/notes", { path, body: { text: note } });
      isChanged = true;
    }
    if (pulse !== undefined && !(await hasPulse(api, accountId, pulse.text))) {
      await ask("POST /api/accounts/:accountId/pulses", { path, body: pulse });
      isChanged = true;
    }
    if (contact !== undefined && !(await hasContact(api, accountId, contact.text))) {
      const { users } = await ask("GET /api/users", { query: { account: accountId, limit: 1 } });
      const { daysAgo, kind, text } = contact;
      const body = { kind, text, timestamp: inDays(-daysAgo) };
      for (const { userId } of users) {
        await ask("POST /api/users/:userId/contacts", { path: { userId }, body });
        isChanged = true;
      }
    }
  }
  return isChanged;
}

/** The accounts that have a task already, by the task's title. */
async function accountsOfTasks({ ask }: Api): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const list of ["open", "done"] as const) {
    for (let offset = 0, total = 1; offset < total; offset += pageRows) {
      const answer = await ask("GET /api/tasks", { query: { list, limit: pageRows, offset } });
      total = answer.total;
      for (const { title, entity } of answer.tasks) {
        if (entity.kind === "account") found.set(title, entity.id);
      }
    }
  }
  return found;
}

async function hasNote({ ask }: Api, accountId: string, text: string): Promise<boolean> {
  const { notes } = await ask("GET /api/accounts/:accountId/notes", {
    path: { accountId },
    query: { limit: pageRows },
  });
  return notes.some((note) => note.text === text);
}

async function hasPulse({ ask }: Api, accountId: string, text: string): Promise<boolean> {
  const { pulses } = await ask("GET /api/accounts/:accountId/pulses", { path: { accountId } });
  return pulses.some((pulse) => pulse.text === text);
}

async function hasContact({ ask }: Api, accountId: string, text: string): Promise<boolean> {
  const { contacts } = await ask("GET /api/accounts/:accountId/contacts", {
    path: { accountId },
    query: { limit: pageRows },
  });
  return contacts.some((contact) => contact.text === text);
}

/** Waits until the rules have seen the first scores. The server looks every few seconds. @returns false when
 * they have not in time */
export async function untilDecided({ ask }: Api): Promise<boolean> {
  const endMs = performance.now() + alertPatienceMs;
  const isDecided = async () =>
    (await ask("GET /api/alert-rules")).rules.every(
      ({ decidedThrough, isPaused }) => isPaused || decidedThrough !== null,
    );
  while (!(await isDecided())) {
    if (performance.now() > endMs) return false;
    await Bun.sleep(200);
  }
  return true;
}
