/** Random users and exclusion rules, and the matches of a rule as the documentation defines them. */

import type { JsonObject } from "../../contract/json.ts";
import type { User } from "../../server/ledger/entities.ts";
import type { ExclusionRule } from "../../server/ledger/stores/exclusions.ts";
import type { Random } from "../../simulation/random.ts";
import { user } from "../ledger/writes.ts";

const hostile = ["\\", "'", "%", "_", '"', "ü", "\n", "{x:String}", "a\tb"];
const domains = ["example.com", "Example.COM", "sub.example.com", "xexample.com", "test.io"];
const locals = ["ada", "ADA", "qa+1", "bot_7", "a%b", '"a@b"', ...hostile.map((text) => `x${text}y`)];
const traitKeys = ["plan", "n", "flag", "deep.key", 'quo"te', "ü"];
const traitValues: unknown[] = [
  "internal",
  "Internal",
  "",
  "3",
  "true",
  "null",
  'say "hi"',
  "back\\slash",
  "ü",
  "\u2028",
  3,
  3.5,
  -1,
  0,
  1e20,
  1e300,
  1e-7,
  9007199254740992,
  true,
  false,
  null,
  ["internal"],
  { plan: "internal" },
];
const ruleValues = ["internal", "3", "3.0", "3.5", "-1", "true", "false", "null", "1e20", "1e+300", "", "x"];

export function randomUser(random: Random, organization: number, number: number, version: number): User {
  const traits: Record<string, unknown> = {};
  for (const key of traitKeys) if (random.chance(0.5)) traits[key] = random.pick(traitValues);
  return user(organization, random.chance(0.3) ? `${random.pick(hostile)}${number}` : `user ${number}`, {
    number,
    version,
    email: `${random.pick(locals)}@${random.pick(domains)}`,
    account: random.between(0, 3),
    traits,
  });
}

export function randomRule(random: Random): ExclusionRule {
  switch (random.between(0, 4)) {
    case 0:
      return {
        kind: "user",
        key: "",
        value: `${random.pick(["user ", ...hostile])}${random.between(1, 60)}`,
      };
    case 1:
      return { kind: "email_domain", key: "", value: random.pick([...domains, "%", "_est.io"]) };
    case 2:
      return {
        kind: "email",
        key: "",
        value: random.pick([
          "*@test.io",
          "ADA@*",
          "*+*@*",
          "qa*",
          "a%b@*",
          "bot_7@*",
          "*\\*",
          "x'y@*",
          "%",
          "b*b",
        ]),
      };
    case 3:
      return { kind: "trait", key: random.pick(traitKeys), value: random.pick(ruleValues) };
    default:
      return { kind: "account", key: "", value: `account ${random.between(0, 3)}` };
  }
}

const asciiLower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** One rule and one user, as the documentation says it. */
export function matches(
  { kind, key, value }: ExclusionRule,
  { userId, email: known, account, traits }: User,
): boolean {
  const email = known ?? "";
  if (kind === "user") return userId === value;
  if (kind === "account") return account > 0 && value === `account ${account}`;
  if (kind === "email_domain")
    return asciiLower(email.slice(email.lastIndexOf("@") + 1)) === asciiLower(value);
  if (kind === "email") {
    const pattern = asciiLower(value)
      .split("*")
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${pattern.join(".*")}$`, "su").test(asciiLower(email));
  }
  return traitIs((traits as JsonObject)[key], value);
}

function traitIs(trait: unknown, value: string): boolean {
  if (typeof trait === "string") return trait === value;
  if (typeof trait === "boolean") return String(trait) === value;
  return typeof trait === "number" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) && Number(value) === trait;
}

/** The rules as the ledger gives them, which knows accounts 1 to 3. */
export function asRules(rules: readonly ExclusionRule[]) {
  const accounts = [1, 2, 3].filter((number) =>
    rules.some(({ kind, value }) => kind === "account" && value === `account ${number}`),
  );
  return { revision: 1, rules, accounts };
}
