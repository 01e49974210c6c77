/** Closes alerts of moments, once a scored day: a moment has no end of its own. See docs/decisions/0086. */
import type { AlertClosing } from "../../../../contract/alerts/rules.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import { zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import {
  type ClosedAlert,
  chunkAlerts,
  type DecisionChunk,
  type OpenMoment,
  type RuleToDecide,
  type Watermark,
} from "../store/decisions.ts";
import { cardsOnFile } from "./card-moments.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { absentAccounts, excludedAmong } from "./standing.ts";

/** Alerts of a page. */
const alertsOfPage = 1_000;

/** Closes the open alerts of users and accounts that are excluded, churned or without members on the newest
 * scored day, and those about cards that are not on file any more. The cursor says which day was judged last.
 * @returns the watermark afterwards */
export async function closeMoments(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  kind: EntityKind,
): Promise<Watermark> {
  const { timezone, id } = organization;
  const today = zoneOf(timezone).dayOf(parts.nowMs());
  const run = await parts.newestRun(id, kind, today);
  if (run === undefined || run.body.awaitsTraining || run.day === watermark.cursor?.judgedDay)
    return watermark;
  // A user and an account may have one number. Alerts of the other kind are from before a change of scope.
  const open = (await openMoments(parts, version)).filter(({ entity }) => entity.kind === kind);
  const closings = await closingsOf(parts, organization, kind, run, open);
  const onFile =
    version.condition.kind === "cardExpires"
      ? await cardsOnFile(parts.warehouse, id, kind, numbersOf(open))
      : undefined;
  const replaced = (eventId: string) => (onFile?.has(eventId) === false ? "resolved" : undefined);
  const closed = open.flatMap(({ entity, firedOn, eventId }): ClosedAlert[] => {
    const why = entity.kind === "source" ? undefined : (closings.get(entity.number) ?? replaced(eventId));
    return why === undefined ? [] : [{ entity, firedOn, eventId, day: run.day, why }];
  });
  const horizonDays = await parts.horizonOf(organization);
  let now = watermark;
  for (let at = 0; at === 0 || at < closed.length; at += chunkAlerts) {
    const isLast = at + chunkAlerts >= closed.length;
    const cursor: JsonObject = { ...now.cursor, ...(isLast && { judgedDay: run.day }) };
    const chunk: DecisionChunk = {
      organization: id,
      rule: version.rule,
      version: version.version,
      after: now.sequence,
      horizonDays,
      next: { decidedThrough: today, part: null, cursor },
      states: [],
      fired: [],
      insideBySettings: 0,
      closed: closed.slice(at, at + chunkAlerts),
    };
    now = await parts.commit(version, chunk);
  }
  return now;
}

function numbersOf(open: readonly OpenMoment[]): readonly number[] {
  return [...new Set(open.flatMap(({ entity }) => (entity.kind === "source" ? [] : [entity.number])))];
}

async function openMoments(
  { rules }: DecisionParts,
  { organization, rule }: RuleToDecide["version"],
): Promise<readonly OpenMoment[]> {
  const all: OpenMoment[] = [];
  for (let after = 0; ; ) {
    const page = await rules.openMoments(organization, rule, after, alertsOfPage);
    all.push(...page);
    if (page.length < alertsOfPage) return all;
    after = page.at(-1)?.id ?? after;
  }
}

/** Why the alerts of entities close, by number. */
async function closingsOf(
  { warehouse }: DecisionParts,
  { id: organization, timezone }: Organization,
  kind: EntityKind,
  { day, body }: ScoreRecord<RunBody>,
  open: readonly OpenMoment[],
): Promise<ReadonlyMap<number, AlertClosing>> {
  const entities = numbersOf(open);
  const closings = new Map<number, AlertClosing>();
  if (entities.length === 0) return closings;
  if (kind === "account") {
    const { goneSince } = await absentAccounts(warehouse, { id: organization, zone: zoneOf(timezone) });
    for (const entity of entities) {
      if ((goneSince.get(entity) ?? Number.POSITIVE_INFINITY) <= day) closings.set(entity, "gone");
    }
  }
  const churned = await warehouse.rows<{ number: number }>(
    `SELECT ${kind} AS number FROM ${kind}_scores FINAL
     WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND version >= {rowsVersion:UInt64}
       AND ${kind} IN {entities:Array(UInt32)} AND state = 'churned'`,
    { organization, day, rowsVersion: body.rowsVersion, entities },
  );
  for (const { number } of churned) closings.set(number, "churned");
  for (const number of await excludedAmong(warehouse, organization, kind, entities)) {
    closings.set(number, "excluded");
  }
  return closings;
}
