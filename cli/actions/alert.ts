/** `rekindle alert list | assign | snooze | handled | not-useful | reopen | note` */
import { type Command, Option } from "commander";
import { type AlertState, alertStates } from "../../contract/alerts/rules.ts";
import type { RouteAnswer, RouteBody } from "../../contract/api/routes.ts";
import { readId, wholeNumber } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";
import type { Api } from "./api.ts";
import { apiCommand, assigneeIn, group, memberId, segmentIdIn } from "./api-command.ts";

type Alert = RouteAnswer<"PATCH /api/alerts/:id">;
type Change = RouteBody<"PATCH /api/alerts/:id">;

/** The command for alerts. */
export function alertCommand(): Command {
  return group("alert", "List alerts, assign and snooze them, and say what came of them", [
    list(),
    change("assign <id> <email>", "Assign an alert to a team member, or to nobody", async (api, email) => ({
      assignee: await memberId(api, email),
    })),
    change("snooze <id> <date>", "Hide an alert until a day", (_, date) => ({ snoozedUntil: date })),
    change("handled <id>", "Say that an alert was handled", () => ({ verdict: "handled" })),
    change("not-useful <id>", "Say that an alert was not useful", () => ({ verdict: "notUseful" })),
    change("reopen <id>", "Take back what was said about an alert, and its snooze", () => ({
      verdict: null,
      snoozedUntil: null,
    })),
    change("note <id> <text>", "Write a note on an alert; an empty text removes it", (_, text) => ({
      note: text === "" ? null : text,
    })),
  ]);
}

interface ListOptions {
  readonly state: AlertState;
  readonly rule?: number;
  readonly user?: string;
  readonly account?: string;
  readonly segment?: string;
  readonly assignee?: string;
  readonly limit: number;
  readonly offset: number;
}

const mostListed = 1_000;

function list(): Command {
  return apiCommand<ListOptions, RouteAnswer<"GET /api/alerts">>({
    words: "list",
    description: "List alerts, the highest expected loss first",
    options: [
      new Option("--state <state>", "which ones").choices(alertStates).default("open"),
      new Option("--rule <id>", "only alerts of this rule").argParser(readId),
      new Option("--user <id>", "only alerts about this user").conflicts("account"),
      new Option("--account <id>", "only alerts about this account"),
      new Option("--segment <name>", "only alerts about users or accounts that are in this segment now"),
      new Option("--assignee <email>", "only those of a team member, or of nobody"),
      new Option("--limit <number>", "at most so many")
        .argParser(wholeNumber(1, mostListed))
        .default(mostListed),
      new Option("--offset <number>", "pass over so many").argParser(wholeNumber(0, 10_000_000)).default(0),
    ],
    run: async (api, _, options) => {
      const { state, rule, user, account, segment: name, assignee, limit, offset } = options;
      const segment = await segmentIdIn(api, name);
      const page = { state, rule, user, account, segment, limit, offset };
      const query = { ...page, assignee: await assigneeIn(api, assignee) };
      return api.ask("GET /api/alerts", { query });
    },
    print: ({ alerts }) => printAlerts(alerts),
  });
}

function change(
  words: string,
  description: string,
  bodyOf: (api: Api, value: string) => Change | Promise<Change>,
): Command {
  return apiCommand({
    words,
    description,
    run: async (api, [id = "", value = ""]) =>
      api.ask("PATCH /api/alerts/:id", { path: { id }, body: await bodyOf(api, value) }),
    print: (alert) => printAlerts([alert]),
  });
}

function printAlerts(alerts: readonly Alert[]): void {
  printTable(
    ["ID", "DAY", "RULE", "ABOUT", "NAME", "RISK", "REASON", "STATE", "ASSIGNEE", "NOTE"],
    alerts.map((alert) => [
      String(alert.id),
      alert.firedDay,
      oneLine(alert.rule.name),
      oneLine(alert.entityId),
      alert.entityLabel === alert.entityId ? "-" : oneLine(alert.entityLabel),
      alert.risk === null ? "-" : alert.risk.toFixed(2),
      oneLine(alert.reasons[0] ?? ""),
      stateOf(alert),
      oneLine(alert.assignee?.name ?? "-"),
      oneLine(alert.note ?? "-"),
    ]),
  );
}

function stateOf({ verdict, closedWhy, snoozedUntil }: Alert): string {
  if (verdict !== null) return verdict;
  if (closedWhy !== null) return closedWhy;
  return snoozedUntil === null ? "open" : `snoozed until ${snoozedUntil}`;
}
