/** `rekindle alert-rule list | create | pause | resume | delete`, and `rekindle alert list` */
import { Command, Option } from "commander";
import {
  type AlertState,
  alertStates,
  type RuleTemplate,
  ruleLimits,
  ruleTemplates,
} from "../../contract/actions/rules.ts";
import { Refusal } from "../../contract/refusal.ts";
import { formatDay, zoneOf } from "../../server/calendar/calendar.ts";
import {
  type AlertRule,
  commandLine,
  type Organization,
  type SharedLedger,
} from "../../server/ledger/ledger.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { readId } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";

/** The command for alert rules. Their conditions are set on the page or by the API, or come from a template. */
export function alertRuleCommand(): Command {
  return new Command("alert-rule")
    .description("List alert rules, add one from a template, pause, resume or delete them")
    .addCommand(listRules())
    .addCommand(createRule())
    .addCommand(setPaused("pause", true))
    .addCommand(setPaused("resume", false))
    .addCommand(deleteRule());
}

/** The command for alerts. */
export function alertCommand(): Command {
  return new Command("alert").description("List alerts").addCommand(listAlerts());
}

function listRules(): Command {
  return new Command("list")
    .description("List an organization's alert rules")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, organization) => {
        const rules = await ledger.alertRules.list(organization.id, todayOf(organization));
        printTable(
          ["ID", "NAME", "CONDITION", "STATE", "OPEN ALERTS", "DECIDED THROUGH"],
          rules.map((rule) => [
            String(rule.id),
            oneLine(rule.name),
            rule.condition.kind,
            rule.isPaused ? "paused" : "on",
            String(rule.openAlerts),
            rule.decidedThrough === null ? "-" : formatDay(rule.decidedThrough),
          ]),
        );
      }),
    );
}

interface Created extends OfOrganization {
  readonly template: string;
  readonly name?: string;
  readonly event?: string;
  readonly destination?: readonly string[];
}

function createRule(): Command {
  return new Command("create")
    .description("Add an alert rule from a template")
    .requiredOption("--organization <name>", "the organization")
    .addOption(
      new Option("--template <key>", "what it waits for")
        .choices(ruleTemplates.map(({ key }) => key))
        .makeOptionMandatory(),
    )
    .option("--name <name>", "its name; without it, that of the template")
    .option("--event <event>", "the key event, with the template key-event")
    .option("--destination <name...>", "destinations that get its messages")
    .action(({ organization, template: key, ...wanted }: Created) =>
      withOrganization(organization, async ({ ledger }, { id }) => {
        const template = ruleTemplates.find((one) => one.key === key);
        if (template === undefined) throw new Refusal(`there is no template ${key}.`);
        const rule = await ledger.alertRules.add(
          id,
          {
            ...{ name: wanted.name ?? template.name, scope: template.scope },
            condition: conditionOf(template, wanted.event),
            ...{ cooldownDays: null, cap: ruleLimits.defaultCap, when: "08:00", holdOutShare: 0 },
            destinations: await destinationsOf(ledger, id, wanted.destination ?? []),
            ...{ exemptions: {}, isPaused: false, includeCurrent: false },
          },
          commandLine,
          Date.now(),
        );
        process.stderr.write(`alert rule ${rule.id}: ${oneLine(rule.name)}\n`);
      }),
    );
}

function conditionOf({ condition }: RuleTemplate, event: string | undefined): AlertRule["condition"] {
  if (condition.kind !== "keyEventUnseen") return condition;
  if (event === undefined)
    throw new Refusal("the template key-event needs --event: the event that should come.");
  return { ...condition, event };
}

async function destinationsOf(
  ledger: SharedLedger,
  organization: number,
  names: readonly string[],
): Promise<readonly number[]> {
  const destinations = await ledger.destinations.list(organization);
  return names.map((name) => {
    const found = destinations.find((one) => one.name === name);
    if (found === undefined) throw new Refusal(`there is no destination ${JSON.stringify(name)}.`);
    return found.id;
  });
}

function setPaused(verb: "pause" | "resume", isPaused: boolean): Command {
  const description = isPaused
    ? "Pause an alert rule: it is not decided"
    : "Resume an alert rule: its next decision takes the present state over without alerts";
  return new Command(verb)
    .description(description)
    .argument("<id>", "the rule's id", readId)
    .requiredOption("--organization <name>", "the organization")
    .action((rule: number, { organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const changed = await ledger.alertRules.change(id, rule, { isPaused }, commandLine, Date.now());
        if (changed === undefined) throw noSuchRule(rule, name);
      }),
    );
}

function deleteRule(): Command {
  return new Command("delete")
    .description("Delete an alert rule with its alerts")
    .argument("<id>", "the rule's id", readId)
    .requiredOption("--organization <name>", "the organization")
    .action((rule: number, { organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const isGone = await ledger.alertRules.remove(id, rule, commandLine, Date.now());
        if (!isGone) throw noSuchRule(rule, name);
      }),
    );
}

function noSuchRule(rule: number, organization: string): Refusal {
  const list = `rekindle alert-rule list --organization ${JSON.stringify(organization)}`;
  return new Refusal(`there is no alert rule ${rule}: ${list} shows them.`);
}

const listed = 1_000;

function listAlerts(): Command {
  return new Command("list")
    .description(`List alerts, the highest expected loss first, at most ${listed}`)
    .requiredOption("--organization <name>", "the organization")
    .addOption(new Option("--state <state>", "which ones").choices(alertStates).default("open"))
    .action(({ organization: name, state }: OfOrganization & { readonly state: AlertState }) =>
      withOrganization(name, async ({ ledger }, organization) => {
        const question = { state, today: todayOf(organization), limit: listed, offset: 0 };
        const { alerts } = await ledger.alerts.list(organization.id, question);
        printTable(
          ["ID", "DAY", "RULE", "ABOUT", "RISK", "REASON"],
          alerts.map(({ id, firedDay, rule, entity, risk, reasons }) => [
            String(id),
            formatDay(firedDay),
            oneLine(rule.name),
            oneLine(entity.kind === "source" ? entity.source : entity.id),
            risk === null ? "-" : risk.toFixed(2),
            oneLine(reasons[0]?.text ?? ""),
          ]),
        );
      }),
    );
}

function todayOf({ timezone }: Organization): number {
  return zoneOf(timezone).dayOf(Date.now());
}
