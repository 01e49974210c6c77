/** The entities of alert rules, as rules, alerts and messages refer to them. */
import type { SenderName } from "../../../contract/sources.ts";

/** A user or an account by its number, or a source. */
export type RuleEntity =
  | { readonly kind: "user" | "account"; readonly number: number }
  | { readonly kind: "source"; readonly source: SenderName };

/** A key of an entity: `user 7`, `source api`. */
export function keyOfEntity(entity: RuleEntity): string {
  return `${entity.kind} ${entity.kind === "source" ? entity.source : entity.number}`;
}
