/**
 * What is wrong with a form, in words. The API names a field by its path, for programs:
 * `churnTargets.user.event is empty: send a name of 1 to 256 characters without spaces, e.g.
 * order_completed.` A page says: “The event is empty: use a name …, e.g. order_completed.”
 */
import { settingName } from "./setting-names.ts";

/** Names that say more in other words. */
const words: Readonly<Record<string, string>> = {
  mrrFrom: "lowest MRR",
  mrrTo: "highest MRR",
  mrrAbove: "exempt MRR",
  userId: "user id",
  accountId: "account id",
  undoneBy: "event that undoes it",
  by: "amount",
  snoozedUntil: "day of the snooze",
  ids: "list of ids",
  body: "form",
  query: "saved filter",
  churnHorizonDays: "churn horizon",
};

/** Settings whose last name is one of the organization's own: settingName has words for them. */
const ofOwnNames = ["eventWeights", "healthWeights", "healthTraits", "currencyRates"];

const verbs =
  "is|are|was|has|have|had|may|need|needs|add|adds|contains|would|makes|lies|ends|goes|inflates|and|or";
const beginsWithPath = new RegExp(`^([A-Za-z_$][^\\s:,]*)((?:, [A-Za-z_][\\w.]*)*) ((?:${verbs}) .*)$`, "su");
const joined = /^(and|or) ([A-Za-z_][\w.]*) (.*)$/su;

/** A message of the API as a page says it. Sentences stay as they are. */
export function errorSentence(message: string): string {
  if (!/^[a-z_$]/.test(message)) return message;
  const [, path = "", , rest = ""] = beginsWithPath.exec(message) ?? [];
  if (path === "") return capital(readable(message));
  const [, and, other = "", after = ""] = joined.exec(rest) ?? [];
  if (and !== undefined) return `The ${nameOf(path)} ${and} ${nameOf(other)} ${readable(after)}`;
  const name = nameOf(path);
  return `The ${name} ${isPlural(name) ? plural(readable(rest)) : readable(rest)}`;
}

/** Addresses, statuses and analysis are one. */
const isPlural = (name: string) => /[^sui]s$/.test(name);

function plural(rest: string): string {
  const verbOf: Readonly<Record<string, string>> = {
    is: "are",
    was: "were",
    has: "have",
    contains: "contain",
  };
  return rest.replace(/^\w+/, (verb) => verbOf[verb] ?? verb);
}

/** What is said of a field that stands beside the message. @param rest of it, behind the field's name */
export function errorOfField(rest: string): string {
  return `This ${readable(rest)}`;
}

/** churnTargets.user.event → event, signingSecrets.0 → signing secret, eventWeights.logged_in → weight of
 * logged_in */
function nameOf(path: string): string {
  const [group = "", ...inside] = path.split(".");
  if (ofOwnNames.includes(group) && inside.length > 0 && !isIndex(inside[0])) {
    const name = settingName(path);
    return name.charAt(0).toLowerCase() + name.slice(1);
  }
  const names = path.split(".").filter((one) => !isIndex(one));
  const last = names.at(-1) ?? "";
  const said = words[last] ?? spaced(last);
  return isIndex(path.split(".").at(-1)) ? said.replace(/ies$/, "y").replace(/([^s])s$/, "$1") : said;
}

const isIndex = (name: string | undefined) => name !== undefined && /^\d+$/.test(name);

/** keyEventUnseen → key event unseen */
function spaced(name: string): string {
  return name.replace(
    /([a-z0-9])([A-Z])/g,
    (_, before: string, letter: string) => `${before} ${letter.toLowerCase()}`,
  );
}

/** The rest of a message without names of the API. */
function readable(text: string): string {
  return text
    .replace(/: \w+ needs (it|them)\./u, ".")
    .replace(/: send /u, ": use ")
    .replace(/\b[a-z]+(?:\.[a-z][A-Za-z]*)+\b(?!\.\w)/gu, (path) => (isNameOfApi(path) ? nameOf(path) : path))
    .replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/gu, (name) => words[name] ?? spaced(name))
    .replace(/\b(\w+)=(\w+)\b/gu, "$1 $2");
}

/** Whether a text with dots is a path in a body, and no name of a host or a file. */
function isNameOfApi(path: string): boolean {
  return /[A-Z]/.test(path) || /^(condition|filter|scope|exemptions|properties)\./.test(path);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
