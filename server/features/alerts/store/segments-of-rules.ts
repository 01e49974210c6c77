/** The segments that alert rules name: in their scope, their condition or their exemptions. */
import type { AlertRuleSettings } from "../../../../contract/alerts/rules.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { SegmentKind } from "../../../../contract/segments/segments.ts";
import { integer, json, RowOf, select, text, type Work, word } from "../../../ledger/sql.ts";
import { isKept } from "./which-alerts.ts";

type NamesSegments = Pick<AlertRuleSettings, "scope" | "condition" | "exemptions">;

const ruleRow = new RowOf<{ readonly name: string; readonly settings: NamesSegments }>({
  name: text(),
  settings: json<NamesSegments>(),
});
const segmentRow = new RowOf<{ readonly id: number; readonly kind: SegmentKind; readonly name: string }>({
  id: integer(),
  kind: word(),
  name: text(),
});

function namedBy({ scope, condition, exemptions }: NamesSegments) {
  const named = {
    "scope.segment": scope.segment,
    "condition.segment": condition.kind === "inSegment" ? condition.segment : undefined,
    "exemptions.segment": exemptions.segment,
  };
  return Object.entries(named).flatMap(([field, id]) => (id === undefined ? [] : [{ field, id }]));
}

/** The organization has to be locked, so that no segment is deleted before the commit.
 * @throws Refusal when a segment is not there, or not of the scope's kind */
export function* refuseForeignSegments(organization: number, settings: NamesSegments): Work<void> {
  const named = namedBy(settings);
  if (named.length === 0) return;
  const segments = yield* select(segmentRow)`FROM segments WHERE organization = ${organization}`;
  for (const { field, id } of named) {
    const found = segments.find((segment) => segment.id === id);
    if (found === undefined)
      throw new Refusal(`${field} is not valid: there is no segment with the id ${id}.`);
    if (found.kind !== settings.scope.kind) {
      throw new Refusal(`${field} is not valid: ${found.name} is a segment of ${found.kind}.`);
    }
  }
}

/** The names of the alert rules that name a segment, in their order. */
export function* rulesWithSegment(organization: number, id: number): Work<readonly string[]> {
  const rules = yield* select(
    ruleRow,
  )`FROM alert_rules WHERE organization = ${organization} AND ${isKept} ORDER BY name`;
  return rules
    .filter(({ settings }) => namedBy(settings).some((one) => one.id === id))
    .map(({ name }) => name);
}
