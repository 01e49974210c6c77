/** `rekindle alert-rule list | create | change | pause | resume | delete | preview | figures` */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { CallFailed } from "../../server/process/control.ts";
import { readId } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";
import type { Api } from "./api.ts";
import { apiCommand, group } from "./api-command.ts";
import { conditionOptions, type RuleOptions, ruleBody, ruleOptions, watchedBy } from "./rule-options.ts";
import { printFigures, printPreview } from "./rule-print.ts";

type Rule = RouteAnswer<"PUT /api/alert-rules/:id">;

/** The command for alert rules. */
export function alertRuleCommand(): Command {
  return group("alert-rule", "List, add, change, pause and delete alert rules, and preview one", [
    list(),
    create(),
    change(),
    setPaused("pause", "Pause an alert rule: it makes no alerts until it is resumed"),
    setPaused(
      "resume",
      "Resume an alert rule: users and accounts that match now get no alert; only new matches do",
    ),
    remove(),
    preview(),
    figures(),
  ]);
}

function list(): Command {
  return apiCommand({
    words: "list",
    description: "List an organization's alert rules",
    run: ({ ask }) => ask("GET /api/alert-rules"),
    print: ({ rules }) => printRules(rules),
  });
}

function printRules(rules: readonly Rule[]): void {
  printTable(
    ["ID", "NAME", "CONDITION", "STATE", "OPEN ALERTS", "DECIDED THROUGH"],
    rules.map((rule) => [
      String(rule.id),
      oneLine(rule.name),
      rule.condition.kind,
      rule.isPaused ? "paused" : "on",
      String(rule.openAlerts),
      rule.decidedThrough ?? "-",
    ]),
  );
}

function create(): Command {
  return apiCommand<RuleOptions, Rule>({
    words: "create",
    description: "Add an alert rule, from a template or with a condition",
    options: ruleOptions,
    run: async (api, _, options) =>
      api.ask("POST /api/alert-rules", { body: await ruleBody(api, options, undefined) }),
    print: (rule) => {
      process.stderr.write(`alert rule ${rule.id}: ${oneLine(rule.name)}\n`);
      printExemption(rule);
    },
  });
}

function change(): Command {
  return apiCommand<RuleOptions, Rule>({
    words: "change <id>",
    description:
      "Change the parts of an alert rule that are named; another condition or scope makes a new version",
    options: ruleOptions,
    run: async (api, [id = ""], options) => {
      const body = await ruleBody(api, options, await ruleWith(api, id));
      return api.ask("PUT /api/alert-rules/:id", { path: { id }, body });
    },
    print: (rule) => {
      printRules([rule]);
      printExemption(rule);
    },
  });
}

function printExemption({ holdOutShare, exemptions: { mrrAbove } }: Rule): void {
  if (holdOutShare === 0 || mrrAbove === undefined) return;
  process.stderr.write(`exempt from the hold-out: an MRR above ${mrrAbove} in minor units\n`);
}

function setPaused(verb: "pause" | "resume", description: string): Command {
  return apiCommand({
    words: `${verb} <id>`,
    description,
    run: ({ ask }, [id = ""]) => ask(`POST /api/alert-rules/:id/${verb}`, { path: { id } }),
    print: (rule) => printRules([rule]),
  });
}

function remove(): Command {
  return apiCommand({
    words: "delete <id>",
    description: "Delete an alert rule with its alerts",
    run: ({ ask }, [id = ""]) => ask("DELETE /api/alert-rules/:id", { path: { id } }),
  });
}

function preview(): Command {
  return apiCommand<RuleOptions & { readonly rule?: number }, RouteAnswer<"POST /api/alert-rules/preview">>({
    words: "preview",
    description: "Show how a rule would have done in the last 90 days; nothing is saved",
    options: [new Option("--rule <id>", "a rule that is saved").argParser(readId), ...conditionOptions],
    run: async (api, _, options) => {
      const before = options.rule === undefined ? undefined : await ruleWith(api, String(options.rule));
      return api.ask("POST /api/alert-rules/preview", { body: await watchedBy(api, options, before) });
    },
    print: printPreview,
  });
}

function figures(): Command {
  return apiCommand({
    words: "figures",
    description: "Show for each rule how many alerts fired, and how many were followed by churn",
    run: ({ ask }) => ask("GET /api/alert-rules/figures"),
    print: ({ rules }) => printFigures(rules),
  });
}

async function ruleWith({ ask }: Api, id: string): Promise<Rule> {
  const { rules } = await ask("GET /api/alert-rules");
  const found = rules.find((rule) => String(rule.id) === id);
  if (found === undefined) throw new CallFailed("There is no such alert rule.");
  return found;
}
