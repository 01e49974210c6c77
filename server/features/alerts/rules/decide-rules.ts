/** Decides the rules of an organization that are due. */
import { isMoment, type RuleCondition } from "../../../../contract/alerts/rules.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { RuleToDecide } from "../store/decisions.ts";
import { closeMoments } from "./close-moments.ts";
import { decideDays } from "./decide-days.ts";
import { decideEvents } from "./decide-events.ts";
import { decideOwners } from "./decide-owners.ts";
import { decideSources } from "./decide-sources.ts";
import type { DecisionParts } from "./decision-parts.ts";
import type { DailyRuleCondition } from "./segments.ts";

/** Called with the error of a rule that fails. The other rules are still decided. */
type Failed = (rule: Pick<RuleToDecide, "version">, error: unknown) => void;

/** Decides the rules about moments and sources, one after another. */
export async function decideContinuousRules(
  parts: DecisionParts,
  organization: Organization,
  failed: Failed,
): Promise<void> {
  for (const rule of await parts.rules.toDecide(organization.id)) {
    const { condition } = rule.version;
    if (isDaily(condition)) continue;
    await decideNow(parts, organization, rule, condition).catch((error: unknown) => failed(rule, error));
  }
}

/** Decides the rules about scores and segments on the scored days that are not decided yet. */
export async function decideDailyRules(
  parts: DecisionParts,
  organization: Organization,
  failed: Failed,
): Promise<void> {
  const rules = await parts.rules.toDecide(organization.id);
  const daily = rules.flatMap((rule): (readonly [RuleToDecide, DailyRuleCondition])[] => {
    const { condition } = rule.version;
    return isDaily(condition) ? [[rule, condition]] : [];
  });
  await decideDays(parts, organization, daily, failed);
}

function isDaily(condition: RuleCondition): condition is DailyRuleCondition {
  return condition.kind !== "sourceSilent" && !isMoment(condition);
}

/** Decides a rule about a moment or a source. */
async function decideNow(
  parts: DecisionParts,
  organization: Organization,
  rule: RuleToDecide,
  condition: Exclude<RuleCondition, DailyRuleCondition>,
): Promise<void> {
  switch (condition.kind) {
    case "sourceSilent":
      await decideSources(parts, organization, rule, condition.source);
      return;
    case "event":
    case "paymentFailed":
    case "cardExpires":
    case "cancellationScheduled": {
      const watermark = await decideEvents(parts, organization, rule, condition);
      const kind = rule.version.scope.kind === "users" ? "user" : "account";
      await closeMoments(parts, organization, { ...rule, watermark }, kind);
      return;
    }
    case "lastOwnerRemoved": {
      const watermark = await decideOwners(parts, organization, rule);
      const after = await closeMoments(parts, organization, { ...rule, watermark }, "account");
      parts.seenOwners.moved(rule.version.rule, watermark.sequence, after.sequence);
    }
  }
}
