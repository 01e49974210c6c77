/** The hold-out of an alert rule: a share of its alerts, the controls, gets no message. */
import { createHmac } from "node:crypto";
import type { AlertArm } from "../../../../contract/alerts/rules.ts";
import { type EntityNumbers, keyOfEntity } from "../../../ledger/stores/entity-rows.ts";
import type { DecisionChunk, DrawnAlert, FiredAlert, RuleVersion } from "../store/decisions.ts";
import type { KnownArms } from "./experiments.ts";

/**
 * A number in [0, 1) that is always the same for a unit of an experiment: the first 48 bits of HMAC-SHA256 /
 * 2^48.
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

/** The arm of an alert that enters an experiment. All users of an account have one arm. Null without a
 * hold-out, and for a source. */
export function armOf(
  { rule, experiment, holdOutShare }: Pick<RuleVersion, "rule" | "experiment" | "holdOutShare">,
  alert: Pick<FiredAlert, "entity" | "account" | "isExempt">,
  secret: string,
): AlertArm | null {
  if (holdOutShare === 0 || alert.entity.kind === "source") return null;
  if (alert.isExempt) return "exempt";
  return drawOf(secret, `rule ${rule}, ${experiment}`, unitsOf(alert)[0] ?? "") < holdOutShare
    ? "control"
    : "treated";
}

/** The unit of an alert that is drawn (the account, or a user without an account), then its user. */
function unitsOf({ entity, account }: Pick<FiredAlert, "entity" | "account">): readonly string[] {
  if (entity.kind === "account" || account === null) return [keyOfEntity(entity)];
  return [`account ${account}`, keyOfEntity(entity)];
}

/**
 * Draws the alerts of a chunk. A control of the rule stays a control until its horizon is over, also in
 * another experiment, in another account, or when it became exempt. A unit that was drawn before keeps its
 * arm: the arm of its account, else its own arm.
 * @param known of all users and accounts of the chunk
 */
export function drawAlerts(
  of: Pick<RuleVersion, "rule" | "experiment" | "holdOutShare">,
  { fired, horizonDays }: Pick<DecisionChunk, "fired" | "horizonDays">,
  secret: string,
  known: KnownArms,
): DrawnAlert[] {
  const controls = new Map<string, number>();
  const hold = (units: readonly string[], untilDay: number) => {
    for (const unit of units) controls.set(unit, Math.max(controls.get(unit) ?? untilDay, untilDay));
  };
  for (const { untilDay, ...numbers } of known.controls) hold(unitsOfNumbers(numbers), untilDay);
  const heldUntil = (alert: FiredAlert) => {
    const untilDay = Math.max(...unitsOf(alert).map((unit) => controls.get(unit) ?? -1));
    return untilDay >= alert.day ? untilDay : undefined;
  };
  const arms = new Map(
    known.entries.flatMap(({ arm, ...numbers }) => unitsOfNumbers(numbers).map((unit) => [unit, arm])),
  );
  const drawn = fired.map((alert): DrawnAlert => {
    const [entered] = unitsOf(alert).flatMap((unit) => arms.get(unit) ?? []);
    const anew = armOf(of, alert, secret);
    const arm = anew === null || anew === "exempt" ? anew : (entered ?? anew);
    const untilDay = heldUntil(alert);
    if (untilDay !== undefined && (entered !== "control" || arm !== "control"))
      return heldBack(alert, untilDay);
    const controlUntil = arm === "control" ? alert.day + horizonDays - 1 : null;
    return { ...alert, arm, controlUntil, isEntry: entered === undefined, isSent: false };
  });
  for (const alert of drawn) if (alert.controlUntil !== null) hold(unitsOf(alert), alert.controlUntil);
  // An exempt user may come before a user of its account who is drawn as a control.
  return drawn.map((alert) => {
    const untilDay = alert.controlUntil === null ? heldUntil(alert) : undefined;
    return untilDay === undefined ? alert : heldBack(alert, untilDay);
  });
}

function unitsOfNumbers({ user, account }: EntityNumbers): readonly string[] {
  return [...(account > 0 ? [`account ${account}`] : []), ...(user > 0 ? [`user ${user}`] : [])];
}

function heldBack(alert: FiredAlert, controlUntil: number): DrawnAlert {
  return { ...alert, arm: "control", controlUntil, isEntry: false, isSent: false };
}
