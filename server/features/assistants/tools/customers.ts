/** Tools about users and accounts. */
import Type from "typebox";
import { assistantLimits } from "../../../../contract/assistants/assistants.ts";
import { formatDay, parseDay } from "../../../calendar/days.ts";
import { answerWith, columnsOf, factColumns, factsOf } from "../answer.ts";
import type { Asking } from "../asking.ts";
import { Input, input, tool } from "../tool.ts";
import { controlsNote, ifThere, type Kind, modelOf, moneyNote } from "./common.ts";

const orders = {
  expectedLoss: { sort: "expectedLoss", order: "descending" },
  risk: { sort: "risk", order: "descending" },
  fall: { sort: "change", order: "ascending" },
} as const;

const scoreColumns = [
  "state",
  "health",
  "healthBand",
  "change",
  "risk",
  "riskBand",
  "mrr",
  "plan",
  "renewsAt",
  "expectedLoss",
  "owner",
  "lastSeenDay",
  "controlUntil",
] as const;

export const listCustomers = tool({
  name: "list_customers",
  title: "Customers",
  description:
    "Users or accounts with scores, MRR and renewal. sort: expectedLoss, risk, or fall (of health in 28 days). Rows with controlUntil are controls: never call them. Terms: get_workspace.",
  input: input({
    kind: Type.Enum(["users", "accounts"]),
    segment: Input.segment,
    owner: Type.Optional(
      Type.String({
        pattern: "^(nobody|[0-9]{1,15})$",
        description: "Team member id (ownerId of get_account), or nobody.",
      }),
    ),
    renewsWithinDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_650 })),
    search: Input.text("Part of a name, id or e-mail."),
    sort: Type.Optional(Type.Enum(["expectedLoss", "risk", "fall"])),
    limit: Input.limit,
  }),
  run: async (asking, { kind, sort = "risk", limit = assistantLimits.rows, ...filters }) => {
    const query = { ...filters, ...orders[sort], limit };
    const { head, table } = kind === "users" ? await usersOf(asking, query) : await accountsOf(asking, query);
    return answerWith(asking, {
      ...table,
      totalRows: head.total,
      untrusted: ["id", "name", "account", "plan", "owner"],
      limit,
      asOf: head.day,
      ...(await modelOf(asking, kind === "users" ? "user" : "account")),
      notes: [moneyNote(head.billing?.reportingCurrency ?? null), controlsNote],
      page: kind,
    });
  },
});

type Query = Readonly<Record<string, string | number | undefined>>;

async function usersOf(asking: Asking, query: Query) {
  const { users, ...head } = await asking.ask("GET /api/users", { query });
  const rows = users.map((user) => ({
    ...user,
    id: user.userId,
    name: user.name ?? user.email,
    account: user.accountName,
  }));
  return { head, table: columnsOf(rows, ["id", "name", "account", ...scoreColumns]) };
}

async function accountsOf(asking: Asking, query: Query) {
  const { accounts, ...head } = await asking.ask("GET /api/accounts", { query });
  const rows = accounts.map((account) => ({ ...account, id: account.accountId }));
  return { head, table: columnsOf(rows, ["id", "name", "members", "activeMembers", ...scoreColumns]) };
}

const [mostNotes, mostEntries, mostMembers] = [10, 15, 15];

export const getUser = tool({
  name: "get_user",
  title: "A user",
  description:
    "Everything on a user's page: traits, scores and reasons, subscriptions, open tasks, notes, latest events.",
  input: input({ userId: Input.userId }),
  run: async (asking, { userId }) => {
    const path = { userId };
    const [user, score, billing, tasks, notes, timeline] = await Promise.all([
      asking.ask("GET /api/users/:userId", { path }),
      ifThere(asking.ask("GET /api/users/:userId/score", { path })),
      asking.ask("GET /api/users/:userId/subscriptions", { path }),
      asking.ask("GET /api/users/:userId/tasks", { path }),
      asking.ask("GET /api/users/:userId/notes", { path, query: { limit: mostNotes } }),
      asking.ask("GET /api/users/:userId/timeline", { path, query: { limit: mostEntries } }),
    ]);
    const facts = factsOf({ user, score: scoreOf(score), billing: billingOf(billing) }, "");
    return answerWith(asking, {
      columns: factColumns,
      rows: [
        ...facts,
        ...workRows(tasks.tasks, notes.notes),
        ...timeline.events.map(({ kind, event, timestamp }) => [`${kind} at ${timestamp}`, event]),
      ],
      untrusted: factColumns,
      limit: assistantLimits.mostRows,
      asOf: score?.day,
      ...(await modelOf(asking, "user")),
      notes: [moneyNote(billing.billing?.reportingCurrency ?? null), controlNote(user.controlUntil)],
      page: `users/${encodeURIComponent(userId)}`,
    });
  },
});

export const getAccount = tool({
  name: "get_account",
  title: "An account",
  description:
    "Everything on an account's page: attributes, scores and reasons, subscriptions, members, open tasks, notes.",
  input: input({ accountId: Input.accountId }),
  run: async (asking, { accountId }) => {
    const path = { accountId };
    const [account, score, billing, members, tasks, notes] = await Promise.all([
      asking.ask("GET /api/accounts/:accountId", { path, query: { limit: 1 } }),
      ifThere(asking.ask("GET /api/accounts/:accountId/score", { path })),
      asking.ask("GET /api/accounts/:accountId/subscriptions", { path }),
      ifThere(asking.ask("GET /api/accounts/:accountId/members", { path, query: { limit: mostMembers } })),
      asking.ask("GET /api/accounts/:accountId/tasks", { path }),
      asking.ask("GET /api/accounts/:accountId/notes", { path, query: { limit: mostNotes } }),
    ]);
    const { users: _, ...own } = account;
    return answerWith(asking, {
      columns: factColumns,
      rows: [
        ...factsOf({ account: own, score: scoreOf(score), billing: billingOf(billing) }, "").filter(
          ([name]) => !name.startsWith("account.freshness"),
        ),
        ...(members?.members ?? []).map(
          ({ userId, name, email, activeDays28, share, health, risk, isAccountOwner }) => [
            `member ${userId}`,
            JSON.stringify({ name: name ?? email, activeDays28, share, health, risk, isAccountOwner }),
          ],
        ),
        ...workRows(tasks.tasks, notes.notes),
      ],
      untrusted: factColumns,
      limit: assistantLimits.mostRows,
      asOf: score?.day,
      ...(await modelOf(asking, "account")),
      notes: [moneyNote(billing.billing?.reportingCurrency ?? null), controlNote(account.controlUntil)],
      page: `accounts/${encodeURIComponent(accountId)}`,
    });
  },
});

function controlNote(until: string | null): string | undefined {
  return until === null ? undefined : `In a control group until ${until}: do not contact it.`;
}

interface Worked {
  readonly createdBy: { readonly name: string } | null;
  readonly author: string | null;
  readonly createdAt: string;
}

function workRows(
  tasks: readonly (Worked & {
    readonly id: number;
    readonly title: string;
    readonly due: string | null;
    readonly doneAt: string | null;
  })[],
  notes: readonly (Worked & { readonly id: number; readonly text: string })[],
) {
  const by = ({ createdBy, author }: Worked) => createdBy?.name ?? author ?? "nobody known";
  return [
    ...tasks
      .filter(({ doneAt }) => doneAt === null)
      .map((task) => [`task ${task.id}, by ${by(task)}, due ${task.due ?? "any day"}`, task.title]),
    ...notes.map((note) => [`note ${note.id}, by ${by(note)}, ${note.createdAt}`, note.text]),
  ];
}

/** A score without what other tools tell: the freshness and the model. */
function scoreOf(score: object | undefined): object | undefined {
  if (score === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(score).filter(([name]) => !["freshness", "model", "id"].includes(name)),
  );
}

function billingOf({ payer, subscriptions }: { readonly payer: unknown; readonly subscriptions: unknown }) {
  return { payer, subscriptions };
}

const usualDays = 7;

export const explainScoreChange = tool({
  name: "explain_score_change",
  title: "Why a score changed",
  description:
    "How the health, engagement and churn risk of a user or account changed since a day (default: 7 days before the scores), split into behaviour, time and settings, and the reasons for the risk now.",
  input: input({ kind: Input.kind, id: Input.userId, since: Input.day("Day to compare with.") }),
  run: async (asking, { kind, id, since }) => {
    const sinceDay = since ?? (await weekBefore(asking, kind, id));
    const score = await scoreSince(asking, kind, id, sinceDay);
    const { day, state, verdict, note, change, health, engagement, momentum, risk } = score;
    return answerWith(asking, {
      columns: factColumns,
      rows: factsOf({ state, verdict, note, change, health, engagement, momentum, risk }, ""),
      untrusted: factColumns,
      limit: assistantLimits.mostRows,
      asOf: day,
      ...(await modelOf(asking, kind)),
      notes: [change === null ? "There are no earlier scores to compare with." : null],
      page: `${kind}s/${encodeURIComponent(id)}`,
    });
  },
});

function scoreSince(asking: Asking, kind: Kind, id: string, since?: string) {
  return kind === "user"
    ? asking.ask("GET /api/users/:userId/score", { path: { userId: id }, query: { since } })
    : asking.ask("GET /api/accounts/:accountId/score", { path: { accountId: id }, query: { since } });
}

async function weekBefore(asking: Asking, kind: Kind, id: string): Promise<string | undefined> {
  const { day } = await scoreSince(asking, kind, id);
  const scored = day === null ? undefined : parseDay(day);
  return scored === undefined ? undefined : formatDay(scored - usualDays);
}
