/** The hold-out of an alert rule: entries that get no message, so that the others can be compared with them. */
import { createHmac } from "node:crypto";
import type { AlertArm } from "../../../contract/actions/rules.ts";
import type { FiredAlert, RuleVersion } from "../../ledger/ledger.ts";

/**
 * A number in [0, 1) that is always the same for a unit of an experiment: the first 48 bits of HMAC-SHA256 / 2^48.
 * @param secret of the organization, which never changes
 * @param experiment names the draw
 * @param unit `account 7`, or `user 7` for a user without an account
 */
export function drawOf(secret: string, experiment: string, unit: string): number {
  const hash = createHmac("sha256", secret)
    .update(JSON.stringify([experiment, unit]))
    .digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}

/** The arm of an entry: all users of an account have the same. Null without a hold-out, and for a source. */
export function armOf(
  { rule, experiment, holdOutShare }: Pick<RuleVersion, "rule" | "experiment" | "holdOutShare">,
  { entity, account, isExempt }: Pick<FiredAlert, "entity" | "account" | "isExempt">,
  secret: string,
): AlertArm | null {
  if (holdOutShare === 0 || entity.kind === "source") return null;
  if (isExempt) return "exempt";
  const unit = account === null ? `${entity.kind} ${entity.number}` : `account ${account}`;
  return drawOf(secret, `rule ${rule}, ${experiment}`, unit) < holdOutShare ? "control" : "treated";
}
