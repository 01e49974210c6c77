/** Decides all rules of an organization that are due. */
import type { Organization, RuleToDecide, Watermark } from "../../ledger/ledger.ts";
import { closeMoments } from "../moments/close-moments.ts";
import { decideBillingMoments } from "../moments/decide-billing.ts";
import { decideOwners } from "../moments/decide-owners.ts";
import { type DecisionParts, decideDays } from "./decide.ts";
import { decideSources } from "./decide-sources.ts";

/** One rule after another. A rule that fails does not keep the others back.
 * @param failed is called with the error of a rule */
export async function decideRules(
  parts: DecisionParts,
  organization: Organization,
  failed: (rule: RuleToDecide, error: unknown) => void,
): Promise<void> {
  for (const rule of await parts.rules.toDecide(organization.id)) {
    await decideRule(parts, organization, rule).catch((error: unknown) => failed(rule, error));
  }
}

/** Decides one rule. @returns its watermark afterwards */
async function decideRule(
  parts: DecisionParts,
  organization: Organization,
  rule: RuleToDecide,
): Promise<Watermark> {
  const { condition } = rule.version;
  switch (condition.kind) {
    case "sourceSilent":
      return decideSources(parts, organization, rule, condition.source);
    case "paymentFailed":
    case "cancellationScheduled": {
      const watermark = await decideBillingMoments(parts, organization, rule, condition.kind);
      const kind = rule.version.scope.kind === "users" ? "user" : "account";
      return closeMoments(parts, organization, { ...rule, watermark }, kind);
    }
    case "lastOwnerRemoved": {
      const watermark = await decideOwners(parts, organization, rule);
      const after = await closeMoments(parts, organization, { ...rule, watermark }, "account");
      parts.seenOwners.moved(rule.version.rule, watermark.sequence, after.sequence);
      return after;
    }
    default:
      return decideDays(parts, organization, rule, condition);
  }
}
