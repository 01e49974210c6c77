/** The options that describe an alert rule, and the rule that they make. */
import { Option } from "commander";
import {
  type RuleScope,
  type RuleTime,
  ruleLimits,
  ruleTemplates,
  ruleTimes,
} from "../../contract/alerts/rules.ts";
import type { RouteAnswer, RouteBody } from "../../contract/api/routes.ts";
import { Refusal } from "../../contract/refusal.ts";
import { wholeNumber } from "../numbers.ts";
import { segmentNamed } from "../segment-named.ts";
import type { Api } from "./api.ts";
import { destinationNamed } from "./destination.ts";

type Rule = RouteAnswer<"PUT /api/alert-rules/:id">;
type RuleBody = RouteBody<"POST /api/alert-rules">;
/** The part of a rule that a preview needs. */
type Watched = RouteBody<"POST /api/alert-rules/preview">;

interface ConditionOptions {
  readonly template?: string;
  readonly condition?: string;
  readonly event?: string;
  readonly scope?: RuleScope["kind"];
  readonly segment?: string;
  readonly cooldown?: number | "horizon";
}

export interface RuleOptions extends ConditionOptions {
  readonly name?: string;
  readonly destination?: readonly string[];
  readonly cap?: number;
  readonly when?: RuleTime;
  readonly holdOut?: number;
  readonly exemptSegment?: string;
  readonly exemptMrr?: number | "none";
  readonly includeCurrent?: boolean;
}

/** A whole number, or a word. */
function orWord<Word extends string>(word: Word, least: number, most: number) {
  const number = wholeNumber(least, most);
  return (text: string): number | Word => (text === word ? word : number(text));
}

/** The options of the scope, the condition and the cooldown. */
export const conditionOptions: readonly Option[] = [
  new Option("--template <key>", "what it waits for")
    .choices(ruleTemplates.map(({ key }) => key))
    .conflicts("condition"),
  new Option(
    "--condition <json>",
    'what it waits for, as in the API: \'{"kind": "healthBelow", "below": 40}\'',
  ),
  new Option("--event <event>", "the key event, with the template key-event"),
  new Option("--scope <kind>", "users or accounts; needed with --condition").choices(["users", "accounts"]),
  new Option("--segment <name>", "only those in this segment, or all"),
  new Option(
    "--cooldown <days>",
    "days in which it does not fire again for the same one, or horizon for the churn horizon",
  ).argParser(orWord("horizon", 1, ruleLimits.days)),
];

/** All options of a rule. */
export const ruleOptions: readonly Option[] = [
  new Option("--name <name>", "its name; without it, that of the template"),
  ...conditionOptions,
  new Option("--destination <name...>", "destinations that get its messages, or none"),
  new Option("--cap <number>", "alerts a day that are in messages").argParser(
    wholeNumber(0, ruleLimits.maxCap),
  ),
  new Option("--when <time>", "when Slack and e-mail get their message").choices(ruleTimes),
  new Option("--hold-out <share>", "the share of entries without messages: 0.2, or 0 for none").argParser(
    Number,
  ),
  new Option("--exempt-segment <name>", "a segment that is left out of the hold-out, or none"),
  new Option(
    "--exempt-mrr <amount>",
    "an MRR in minor units: accounts above it are left out of the hold-out. Without it the top 10 % are, with none none are",
  ).argParser(orWord("none", 0, Number.MAX_SAFE_INTEGER)),
  new Option("--include-current", "those for whom the condition is true already fire, too"),
];

/** The scope, the condition and the cooldown of these options. @param before the rule that is changed
 * @throws Refusal when they are not complete */
export async function watchedBy(
  api: Api,
  options: ConditionOptions,
  before: Watched | undefined,
): Promise<Watched> {
  const { cooldown, segment } = options;
  const template = ruleTemplates.find(({ key }) => key === options.template);
  const condition = conditionIn(options) ?? before?.condition;
  const kind = options.scope ?? template?.scope.kind ?? before?.scope.kind;
  if (condition === undefined) throw new Refusal("give --template or --condition.");
  if (kind === undefined) throw new Refusal("--condition needs --scope: users or accounts.");
  const kept = kind === before?.scope.kind ? before.scope.segment : undefined;
  const id = segment === undefined ? kept : await segmentIn(api, segment, kind);
  return {
    scope: { kind, ...(id !== undefined && { segment: id }) },
    condition,
    cooldownDays: cooldown === undefined ? (before?.cooldownDays ?? null) : daysOf(cooldown),
  };
}

function daysOf(cooldown: number | "horizon"): number | null {
  return cooldown === "horizon" ? null : cooldown;
}

/** The condition of a template or of JSON. Its fields are checked by the API. */
function conditionIn({
  template: key,
  condition,
  event,
}: ConditionOptions): Watched["condition"] | undefined {
  const template = ruleTemplates.find((one) => one.key === key);
  if (template === undefined || template.condition.kind !== "keyEventUnseen") {
    if (event !== undefined) throw new Refusal("only the template key-event takes --event.");
  } else if (event === undefined) {
    throw new Refusal("the template key-event needs --event: the event that should come.");
  }
  if (template !== undefined) return { ...template.condition, ...(event !== undefined && { event }) };
  if (condition === undefined) return undefined;
  try {
    return JSON.parse(condition);
  } catch {
    throw new Refusal("--condition is not valid: give a JSON object.");
  }
}

/** @throws Refusal for a segment of the other kind */
async function segmentIn(
  { installation, organization }: Api,
  name: string,
  kind: RuleScope["kind"],
): Promise<number | undefined> {
  if (name === "all" || name === "none") return undefined;
  const segment = await segmentNamed(installation.ledger, organization.id, name);
  if (segment.kind === kind) return segment.id;
  throw new Refusal(`the segment ${JSON.stringify(name)} is of ${segment.kind}, and the rule of ${kind}.`);
}

/** The rule of these options. Of a rule that is changed, the parts stay that they do not name. */
export async function ruleBody(api: Api, options: RuleOptions, before: Rule | undefined): Promise<RuleBody> {
  const watched = await watchedBy(api, options, before);
  const template = ruleTemplates.find(({ key }) => key === options.template);
  const name = options.name ?? before?.name ?? template?.name;
  if (name === undefined) throw new Refusal("--condition needs --name: the rule's name.");
  const holdOutShare = options.holdOut ?? before?.holdOutShare ?? 0;
  const { kind } = watched.scope;
  const kept = kind === before?.scope.kind ? before.exemptions.segment : undefined;
  const { exemptSegment } = options;
  const segment = exemptSegment === undefined ? kept : await segmentIn(api, exemptSegment, kind);
  const { exemptMrr = before?.exemptions.mrrAbove } = options;
  return {
    name,
    ...watched,
    holdOutShare,
    cap: options.cap ?? before?.cap ?? ruleLimits.defaultCap,
    when: options.when ?? before?.when ?? "08:00",
    destinations: await destinationsOf(api, options, before),
    exemptions: {
      ...(segment !== undefined && { segment }),
      ...(exemptMrr !== undefined && { mrrAbove: exemptMrr === "none" ? null : exemptMrr }),
    },
    includeCurrent: options.includeCurrent ?? false,
  };
}

async function destinationsOf(
  api: Api,
  { destination: names }: RuleOptions,
  before: Rule | undefined,
): Promise<number[]> {
  if (names === undefined) return before?.destinations ?? [];
  if (names.length === 1 && names[0] === "none") return [];
  return Promise.all(names.map(async (name) => (await destinationNamed(api, name)).id));
}
