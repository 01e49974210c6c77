/** Reads the content of a digest, from the warehouse and the ledger. */
import { type DigestPeriod, digestDays, digestLimits } from "../../../contract/digest/digest.ts";
import { readCallList } from "../../analytics/call-list.ts";
import { type Controls, controlsOn } from "../../analytics/entities/controls.ts";
import { hasPayers } from "../../analytics/revenue/payers-now.ts";
import { formatDay } from "../../calendar/days.ts";
import { type Zone, zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import { keyOfEntity, type RuleEntity } from "../../ledger/stores/entity-rows.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { lacksData } from "../../scoring/churn/ladder.ts";
import { nameOfRung } from "../../scoring/churn/model-names.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { highRiskMoves } from "../../scoring/queries/lists/high-risk-moves.ts";
import { rowsOf } from "../../scoring/run/entity.ts";
import { modelChanges } from "../../scoring/run/model-changes.ts";
import type { RunBody } from "../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../scoring/run/records.ts";
import type { SourceWatch } from "../../scoring/run/source-watch.ts";
import { newestRun } from "../../scoring/run/status.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { mrrReader } from "../alerts/rules/mrr.ts";
import { modelSentences } from "../destinations/notices.ts";
import { readResults } from "../results/results.ts";
import { totalsOf } from "../results/totals.ts";
import {
  alertsOfWeek,
  type Digest,
  type DigestData,
  type DigestEntity,
  mostImportant,
  type UnnamedEntity,
} from "./digest.ts";
import { digestSpan } from "./digest-times.ts";
import { livePrecision } from "./live-precision.ts";

export interface DigestParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<
    SharedLedger,
    | "alerts"
    | "alertRules"
    | "members"
    | "ruleDecisions"
    | "ruleSteps"
    | "settings"
    | "rejectedEvents"
    | "tasks"
  >;
  readonly sources: Pick<SourceWatch, "silent" | "stoppedFor">;
  readonly nowMs: () => number;
}

type Run = ScoreRecord<RunBody>;

/** What the parts of a digest share. */
interface Ground extends DigestParts {
  readonly organization: Organization;
  readonly zone: Zone;
  readonly kind: EntityKind;
  readonly day: number;
  readonly now: Run | undefined;
  /** Controls of a hold-out, which are counted and not named. */
  readonly controls: Controls;
}

/** Entities of each direction that are read at most; the counts end here. */
const mostMoves = 10_000;
/** How long daily scores are kept, from which outcomes follow. */
const precisionDays = 90;
const mostAlerts = 20_000;

/** The digest of a day. @param day in the organization's timezone, in days since 1970-01-01. @throws
 * WarehouseError */
export async function readDigest(
  parts: DigestParts,
  organization: Organization,
  period: DigestPeriod,
  day: number,
): Promise<Digest> {
  const { warehouse, ledger } = parts;
  const { id } = organization;
  const zone = zoneOf(organization.timezone);
  const accounts = await newestRun(warehouse, id, "account", day);
  const kind = accounts !== undefined && accounts.body.scored > 0 ? "account" : "user";
  const now = kind === "account" ? accounts : await newestRun(warehouse, id, "user", day);
  const controls = await controlsOn(parts, id, kind, day);
  const ground: Ground = { ...parts, organization, zone, kind, day, now, controls };
  const before = now && (await newestRun(warehouse, id, kind, day - digestDays[period]));
  const since = now === undefined || before === undefined || before.day >= now.day ? undefined : before;
  const { settings } = await ledger.settings.get(id);
  const { fromMs, toMs } = digestSpan(period, zone, day);
  const [moves, top, results, fired, data, insideBySettings] = await Promise.all([
    movesOf(ground, since),
    topOf(ground),
    readResults(parts, organization, { days: digestLimits.alertDays }),
    ledger.alerts.fired(id, {
      fromDay: day - precisionDays - settings.churnHorizonDays,
      toDay: day,
      today: day,
      limit: mostAlerts,
    }),
    dataOf(ground),
    ledger.ruleDecisions.insideBySettings(id, fromMs, toMs),
  ]);
  const ofWeek = fired.filter(({ firedDay }) => firedDay < day && firedDay >= day - digestLimits.alertDays);
  return {
    period,
    day,
    kind,
    scoredDay: now?.day ?? null,
    sinceDay: since?.day ?? null,
    hasModel: now !== undefined && now.body.model !== null,
    lacksData: now === undefined || lacksData(now.body),
    ...moves,
    ...top,
    insideBySettings,
    alerts: alertsOfWeek(ofWeek),
    done: totalsOf(results.customers),
    precision: await livePrecision(
      warehouse,
      {
        organization: { id, zone },
        today: day,
        horizonDays: settings.churnHorizonDays,
        outages: now?.body.outages ?? [],
      },
      fired,
    ),
    changes: await changesOf(ground, period),
    data,
  };
}

type Moves = Pick<Digest, "entered" | "left" | "movedBySettings">;
const noMoves: Moves = {
  entered: { total: 0, named: [] },
  left: { total: 0, named: [] },
  movedBySettings: 0,
};

/** The entities that entered and left high risk since an earlier run. Entities that did so only by a change
 * of the model or the settings are counted apart. */
async function movesOf(ground: Ground, before: Run | undefined): Promise<Moves> {
  const { warehouse, organization, kind, now, controls } = ground;
  if (now === undefined || before === undefined) return noMoves;
  const withLimit = (run: Run) => ({
    run: rowsOf(organization.id, kind, run),
    highRisk: run.body.riskScale.high,
  });
  const all = await highRiskMoves(warehouse, withLimit(now), withLimit(before), mostMoves);
  const moved = all.filter(({ isByRules }) => !isByRules);
  const mrrOf = mrrReader(warehouse, ground.ledger, ground.nowMs);
  const mrrs = await mrrOf(
    organization,
    kind,
    moved.map(({ entity }) => entity),
  );
  const side = async (direction: "entered" | "left") => {
    const ofSide = moved.filter((move) => move.direction === direction);
    const unnamed = ofSide.flatMap(({ entity: number, risk, riskBefore, state }) => {
      if (controls.has(number)) return [];
      const mrr = mrrs.get(number);
      const atRisk = direction === "entered" ? risk : riskBefore;
      const expectedLoss = mrr == null || atRisk === null ? null : atRisk * mrr;
      return [{ number, risk, riskBefore, state, expectedLoss }];
    });
    return { total: ofSide.length, named: await withNames(ground, mostImportant(unnamed)) };
  };
  return {
    entered: await side("entered"),
    left: await side("left"),
    movedBySettings: all.length - moved.length,
  };
}

/** The first rows of the call list. An entity that was erased meanwhile has no name. */
async function topOf(ground: Ground): Promise<Pick<Digest, "top" | "currency">> {
  const { warehouse, ledger, organization } = ground;
  const { id } = organization;
  const { rows, currency } = await readCallList(ground, organization, {
    list: "call",
    limit: digestLimits.top,
  });
  // Names of messages: none of them is an e-mail address.
  const names = await ledger.ruleDecisions.named(id, rows);
  const top = rows.flatMap((row) => {
    const name = names[keyOfEntity(row)];
    if (name === undefined) return [];
    const { kind, number, mrr, plan, reason, rankValue, expectedLoss, owner } = row;
    const named = { kind, number, id: name.id, label: name.label };
    return [
      {
        ...named,
        mrr,
        plan,
        class: row.class,
        reason,
        rankValue,
        expectedLoss,
        owner: owner?.name ?? null,
      },
    ];
  });
  const hasRevenue = (await hasPayers(warehouse, id, "account")) || (await hasPayers(warehouse, id, "user"));
  const isKnown = hasRevenue || rows.some(({ mrr }) => mrr !== null);
  return { top, currency: isKnown ? currency : "" };
}

/** The entities with their names. An entity that was erased meanwhile has no name. */
async function withNames(
  { ledger, organization, kind }: Ground,
  unnamed: readonly UnnamedEntity[],
): Promise<DigestEntity[]> {
  if (unnamed.length === 0) return [];
  const keyed = (number: number): RuleEntity => ({ kind, number });
  const names = await ledger.ruleDecisions.named(
    organization.id,
    unnamed.map(({ number }) => keyed(number)),
  );
  return unnamed.flatMap((entity) => {
    const name = names[keyOfEntity(keyed(entity.number))];
    if (name === undefined) return [];
    const { id, label } = name;
    return [{ kind, id, label, ...entity }];
  });
}

/** Changes of settings and models within the period, the oldest first. */
async function changesOf({ warehouse, ledger, organization, zone, day }: Ground, period: DigestPeriod) {
  const firstDay = day - digestDays[period];
  const { id } = organization;
  const versions = await ledger.settings.history(id, { limit: historyVersions });
  const settings = versions.toReversed().flatMap(({ changedAtMs, changes }) => {
    const on = zone.dayOf(changedAtMs);
    if (on < firstDay || on >= day || changes.length === 0) return [];
    return [`Settings changed on ${formatDay(on)}: ${changes.map(({ setting }) => setting).join(", ")}.`];
  });
  const models: string[] = [];
  for (const kind of ["user", "account"] as const) {
    const changes = await modelChanges(warehouse, { organization: id, kind });
    for (const change of changes) {
      if (change.day <= firstDay || change.day > day) continue;
      const [from, to] = [nameOfRung(change.from), nameOfRung(change.to)];
      models.push(modelSentences(kind, { from, to }));
    }
  }
  return [...settings, ...models];
}

const historyVersions = 50;

async function dataOf({ ledger, sources, organization: { id }, zone, day }: Ground): Promise<DigestData> {
  const [silent, stopped, rejectedEvents] = await Promise.all([
    sources.silent({ id, zone }),
    sources.stoppedFor({ id, zone }, day),
    ledger.rejectedEvents.count({ organization: id }),
  ]);
  return {
    silent: silent.map(({ source, sinceMs }) => ({ source, sinceMs })),
    stoppedSince: stopped === null ? null : zone.dayOf(stopped.sinceMs),
    rejectedEvents,
  };
}
