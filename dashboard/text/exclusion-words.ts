/** Exclusion rules in words. */
import type { Reads } from "../api/paths.ts";

export type ExclusionRule = Pick<
  Reads["/api/exclusions"]["answer"]["rules"][number],
  "kind" | "key" | "value"
>;
export type ExclusionKind = ExclusionRule["kind"];

const words: Readonly<Record<ExclusionKind, (rule: ExclusionRule) => string>> = {
  email_domain: ({ value }) => `E-mails at ${value.replace(/^@/, "")}`,
  email: ({ value }) => `E-mails like ${value}`,
  trait: ({ key, value }) => `Users whose ${key} is ${value}`,
  user: ({ value }) => `The user ${value}`,
  account: ({ value }) => `All users of the account ${value}`,
};

/** Which users a rule matches. */
export function ruleWords(rule: ExclusionRule): string {
  return words[rule.kind](rule);
}

/** Which users a rule in an entry of the audit log matches. The log leaves out what may name a user. */
export function loggedRuleWords(kind: unknown, key: unknown, value: unknown): string | undefined {
  if (typeof kind !== "string" || !(kind in words)) return undefined;
  if (kind === "user") return "one user";
  if (kind === "email") return "e-mails like a pattern";
  if (kind === "trait") return `users by the trait ${String(key)}`;
  return kind === "account" ? `all users of the account ${String(value)}` : `e-mails at ${String(value)}`;
}
