/** Commands of 0.1, in the words of today. They work until 0.3.0, with a warning that names the new form. */

import { ruleTemplates } from "../contract/alerts/rules.ts";
import { Refusal } from "../contract/refusal.ts";
import { churnTargetIn } from "./churn-target.ts";
import { textOf } from "./text-of.ts";

/** The words of a command that has an older form, and those of its new form. */
export interface Older {
  /** `<name>` is an argument, `<ids...>` any number of them, and `--user <user>` an option that was
   * needed. */
  readonly from: string;
  /** The new words. Without them, they stay. */
  readonly to?: string;
  /** Older options by their new names; a function makes the new options of their values. */
  readonly options?: Readonly<Record<string, string | Renamed>>;
}

type Renamed = (values: readonly string[]) => readonly string[] | Promise<readonly string[]>;

const none =
  (word: string, flag: string): Renamed =>
  ([value = ""]) =>
    value === word ? [`--no-${flag}`] : [`--${flag}`, value];

const ofTask = { "--due": none("none", "due"), "--assignee": none("nobody", "assignee") };

const ofDestination = {
  "--address-file": async ([file = ""]: readonly string[]) => ["--address", (await textOf(file)).trim()],
  "--notice": "--notices",
  "--send-emails": "--sends-emails",
  "--no-send-emails": "--no-sends-emails",
};

const ofCondition = {
  // A template has a scope, and another may follow.
  "--scope": (kinds: readonly string[]) =>
    kinds.flatMap((kind) => [kind.startsWith("{") ? "--scope" : "--scope-kind", kind]),
  "--segment": ([name = ""]: readonly string[]) =>
    name === "all" || name === "none" ? ["--no-scope-segment"] : ["--scope-segment", name],
  "--cooldown": none("horizon", "cooldown-days"),
};

const ofRule = {
  "--scope": ofCondition["--scope"],
  "--segment": ofCondition["--segment"],
  "--cooldown": ofCondition["--cooldown"],
  "--destination": (names: readonly string[]) =>
    names[0] === "none" ? ["--no-destinations"] : ["--destinations", ...names],
  "--hold-out": "--hold-out-share",
  "--exempt-segment": none("none", "exemptions-segment"),
  "--exempt-mrr": none("none", "exemptions-mrr-above"),
};

const ofSettings = {
  "--churn-horizon": "--churn-horizon-days",
  "--health-weights": ([pairs = ""]: readonly string[]) =>
    pairs.startsWith("{") ? ["--health-weights", pairs] : json("--health-weights", weightsIn(pairs)),
  "--health-trait": (texts: readonly string[]) => json("--health-traits", texts.map(healthTrait)),
  "--user-risk-bands": ([text = ""]: readonly string[]) => riskBands("user", text),
  "--account-risk-bands": ([text = ""]: readonly string[]) => riskBands("account", text),
  "--event-weight": (pairs: readonly string[]) => ["--event-weights", ...pairs.map(withNull)],
  "--passive-event": "--passive-events",
  "--key-event": "--key-events",
  "--user-churn": ([text = ""]: readonly string[]) =>
    json("--churn-targets-user", churnTargetIn(text) ?? text),
  "--account-churn": ([text = ""]: readonly string[]) =>
    json("--churn-targets-account", churnTargetIn(text) ?? text),
  "--ordinary-event": "--ordinary-events",
  "--week-start": ([day = ""]: readonly string[]) => [
    "--week-start",
    { monday: "1", sunday: "7" }[day] ?? day,
  ],
  "--reporting-currency": ([code = ""]: readonly string[]) =>
    code === "default" ? ["--no-reporting-currency"] : ["--reporting-currency", code.toUpperCase()],
  "--currency-rate": (pairs: readonly string[]) => ["--currency-rates", ...pairs.map(withNull)],
  "--if-version": "--version",
};

/** The table of older forms. The first that fits counts. */
export const olderForms: readonly Older[] = [
  { from: "alert assign <id> <email>", to: "alert change <id> --assignee <email>" },
  { from: "alert snooze <id> <date>", to: "alert change <id> --snoozed-until <date>" },
  { from: "alert handled <id>", to: "alert change <id> --verdict handled" },
  { from: "alert not-useful <id>", to: "alert change <id> --verdict notUseful" },
  { from: "alert reopen <id>", to: "alert change <id> --no-verdict --no-snoozed-until" },
  { from: "alert note <id> <text>", to: "alert change <id> --note <text>" },
  { from: "alert-rule create", options: ofRule },
  { from: "alert-rule change <id>", options: ofRule },
  { from: "alert-rule preview", options: ofCondition },
  { from: "churn-reason set <text> --user <user>", to: "user churn-reason <user> --reason <text>" },
  {
    from: "churn-reason set <text> --account <account>",
    to: "account churn-reason <account> --reason <text>",
  },
  { from: "contact add <user>", to: "user add-contact <user>", options: { "--at": "--timestamp" } },
  { from: "contact list --user <user>", to: "user contacts <user>" },
  { from: "contact list --account <account>", to: "account contacts <account>" },
  { from: "destination add <name>", to: "destination create --name <name>", options: ofDestination },
  { from: "destination change <name>", options: ofDestination },
  { from: "destination pause <name>", to: "destination change <name> --state paused" },
  { from: "destination resume <name>", to: "destination change <name> --state active" },
  { from: "destination held <name> <held>", to: "destination held <name> --held <held>" },
  { from: "erase user <id>", to: "user erase <id> --json" },
  { from: "erase account <id>", to: "account erase <id> --json" },
  { from: "erase list", to: "erasure list" },
  { from: "exclude list", to: "exclusion list" },
  { from: "exclude remove <id>", to: "exclusion delete <id>" },
  { from: "exclude add --user <value>", to: "exclusion create --kind user --value <value>" },
  { from: "exclude add --email-domain <value>", to: "exclusion create --kind email_domain --value <value>" },
  { from: "exclude add --email <value>", to: "exclusion create --kind email --value <value>" },
  { from: "exclude add --account <value>", to: "exclusion create --kind account --value <value>" },
  { from: "exclude add", to: "exclusion create --kind trait", options: { "--trait": traitIn } },
  { from: "note add <text> --user <user>", to: "user add-note <user> --text <text>" },
  { from: "note add <text> --account <account>", to: "account add-note <account> --text <text>" },
  { from: "note change <id> <text>", to: "note change <id> --text <text>" },
  { from: "note list --user <user>", to: "user notes <user>" },
  { from: "note list --account <account>", to: "account notes <account>" },
  {
    from: "organization set <name>",
    to: "organization change --organization <name>",
    options: {
      "--rate-limit": "--requests-per-second",
      "--item-rate-limit": "--items-per-second",
      "--keep-events": none("forever", "keep-events-days"),
    },
  },
  { from: "outage add", to: "outage create" },
  { from: "outage remove <id>", to: "outage delete <id>" },
  { from: "owner set <email> --user <user>", to: "user owner <user> --owner <email>" },
  { from: "owner set <email> --account <account>", to: "account owner <account> --owner <email>" },
  { from: "owner show --user <user>", to: "user show <user>" },
  { from: "owner show --account <account>", to: "account show <account>" },
  { from: "rejected-events drop <ids...>", to: "rejected-events delete --ids <ids>" },
  { from: "rejected-events drop", to: "rejected-events delete" },
  { from: "rejected-events retry <ids...>", to: "rejected-events retry --ids <ids>" },
  {
    from: "revenue",
    options: {
      "--by": ([by = ""]) => (by === "plan" ? ["--split", "plan"] : ["--split", "trait", "--trait", by]),
      "--format": ([format]) => (format === "json" || format === "csv" ? [`--${format}`] : []),
    },
  },
  { from: "segment create <name>", to: "segment create --kind users --name <name>" },
  { from: "settings set", to: "settings change", options: ofSettings },
  { from: "settings restore", options: { "--if-version": "--version" } },
  { from: "task about --user <user>", to: "user tasks <user>" },
  { from: "task about --account <account>", to: "account tasks <account>" },
  { from: "task add <title> --user <user>", to: "user add-task <user> --title <title>", options: ofTask },
  {
    from: "task add <title> --account <account>",
    to: "account add-task <account> --title <title>",
    options: ofTask,
  },
  { from: "task change <id>", options: ofTask },
  { from: "task done <id>", to: "task change <id> --is-done" },
  { from: "task reopen <id>", to: "task change <id> --no-is-done" },
];

/** Options that take no value. */
const flags: ReadonlySet<string> = new Set([
  "--all",
  "--csv",
  "--help",
  "--include-current",
  "--is-done",
  "--json",
  "--send-emails",
  "--sends-emails",
  "--with-account",
]);
/** Options that take several values. */
const lists: ReadonlySet<string> = new Set([
  "--currency-rate",
  "--destination",
  "--event-weight",
  "--health-trait",
  "--key-event",
  "--notice",
  "--ordinary-event",
  "--passive-event",
]);

/** The words of a command: arguments in their order, and options with their values. */
interface Read {
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, readonly string[]>;
}

/** A command in the words of today, with a warning when it was given in older ones. */
export async function currentWords(
  given: readonly string[],
): Promise<{ readonly words: readonly string[]; readonly warning?: string }> {
  const written = withTemplate(given);
  const read = readWords(written);
  for (const one of olderForms) {
    const values = valuesFor(one, read);
    if (values === undefined) continue;
    const options = await optionsFor(one, read, values);
    const from = one.from.split(" ").filter((word) => !/^<|^--/.test(word));
    const words = one.to?.split(" ").map((word) => values.get(word) ?? word) ?? read.words;
    const current = [...words, ...options.flatMap(({ words: of }) => of)];
    if (one.to === undefined && !options.some(({ isRenamed }) => isRenamed)) return { words: written };
    // Without values: some are secrets.
    const flags = options.flatMap(({ words: of }) => of.filter((word) => word.startsWith("--")));
    const form = [one.to ?? one.from, ...flags].join(" ");
    return {
      words: current,
      warning: `this form of ${from.join(" ")} goes with 0.3.0: use rekindle ${form}`,
    };
  }
  return { words: written };
}

function readWords(given: readonly string[]): Read {
  const words: string[] = [];
  const options = new Map<string, string[]>();
  for (let at = 0; at < given.length; at++) {
    const word = given[at] ?? "";
    if (!word.startsWith("--")) {
      words.push(word);
      continue;
    }
    const [flag = "", ...rest] = word.split("=");
    const values = options.get(flag) ?? [];
    options.set(flag, values);
    if (rest.length > 0) values.push(rest.join("="));
    else if (!flags.has(flag) && !flag.startsWith("--no-")) {
      do values.push(...given.slice(++at, at + 1));
      while (lists.has(flag) && at + 1 < given.length && !given[at + 1]?.startsWith("-"));
    }
  }
  return { words, options };
}

/** The values of the placeholders in an older form; undefined when the command is not of that form. */
function valuesFor({ from }: Older, { words, options }: Read): Map<string, string> | undefined {
  const values = new Map<string, string>();
  const expected = from.split(" ");
  let at = 0;
  while (expected.length > 0) {
    const part = expected.shift() ?? "";
    if (part.startsWith("--")) {
      const [value] = options.get(part) ?? [];
      if (value === undefined) return undefined;
      values.set(expected.shift() ?? "", value);
      values.set(part, value);
    } else if (part.endsWith("...>")) {
      if (at === words.length) return undefined;
      values.set(part.replace("...", ""), words.slice(at).join(","));
      at = words.length;
    } else {
      const word = words[at++];
      if (word === undefined || (!part.startsWith("<") && part !== word)) return undefined;
      if (part.startsWith("<")) values.set(part, word);
    }
  }
  return at === words.length ? values : undefined;
}

/** The options that are not in the form itself, in their new names. */
function optionsFor(
  { options: renamed = {} }: Older,
  { options }: Read,
  values: ReadonlyMap<string, string>,
) {
  const others = [...options].filter(([flag]) => !values.has(flag));
  return Promise.all(
    others.map(async ([flag, given]) => {
      const to = renamed[flag];
      const words =
        typeof to === "function"
          ? await to(given)
          : [
              to ?? flag,
              ...given.flatMap((value, at) => (at === 0 || lists.has(flag) ? [value] : [flag, value])),
            ];
      return { words, isRenamed: words.join(" ") !== [flag, ...given].join(" ") };
    }),
  );
}

/** Alert rules may begin with a template, as on the pages: `--template key-event --event report_created`. */
function withTemplate(given: readonly string[]): readonly string[] {
  const [at, ofEvent] = [given.indexOf("--template"), given.indexOf("--event")];
  if (given[0] !== "alert-rule" || at < 0) return given;
  const template = ruleTemplates.find(({ key }) => key === given[at + 1]);
  if (template === undefined) {
    const keys = ruleTemplates.map(({ key }) => key).join(", ");
    throw new Refusal(`--template is not valid: give one of ${keys}.`);
  }
  const { name, scope, condition } = template;
  const event = ofEvent < 0 ? {} : { event: given[ofEvent + 1] };
  const taken = new Set([at, at + 1, ...(ofEvent < 0 ? [] : [ofEvent, ofEvent + 1])]);
  const rest = given.filter((_, index) => !taken.has(index));
  const before = rest[1] === "create" ? ["--name", name] : [];
  const made = [...json("--scope", scope), ...json("--condition", Object.assign({}, condition, event))];
  return [...rest.slice(0, 2), ...before, ...made, ...rest.slice(2)];
}

function json(flag: string, value: unknown): readonly string[] {
  return [flag, JSON.stringify(value)];
}

function withNull(pair: string): string {
  return pair.replace(/=default$/, "=null");
}

function traitIn([text = ""]: readonly string[]): readonly string[] {
  const at = text.indexOf("=");
  if (at < 1) throw new Refusal(`${text} is not a trait with a value: give one such as plan=internal.`);
  return ["--key", text.slice(0, at), "--value", text.slice(at + 1)];
}

function weightsIn(pairs: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.split(",").map((pair) => [pair.split("=")[0], Number(pair.split("=")[1])]));
}

/** `nps=0..10:20` */
function healthTrait(text: string): unknown {
  const at = text.lastIndexOf("=");
  const [range = "", weight] = text.slice(at + 1).split(":");
  const [zeroAt, hundredAt] = range.split("..").map(Number);
  return { trait: text.slice(0, at), zeroAt, hundredAt, weight: Number(weight) };
}

/** `.1,.3`, or `default` */
function riskBands(kind: "user" | "account", text: string): readonly string[] {
  if (text === "default") return [`--no-risk-bands-${kind}`];
  const [medium, high] = text.split(",").map(Number);
  return json(`--risk-bands-${kind}`, { medium, high });
}
