/** The parts that tests of alert rules share: rows of scores as runs store them, and the readings that follow
 * from them. */

import { defaultSettings } from "../../contract/settings.ts";
import { type EntitySet, setOfNumbers } from "../../server/analytics/entities/entity-sets.ts";
import type { ScoreCondition } from "../../server/features/alerts/rules/conditions.ts";
import type { Reading } from "../../server/features/alerts/rules/step.ts";
import { differenceOf, storeEvaluation } from "../../server/features/segments/evaluations.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import type { RunBody } from "../../server/scoring/run/record-bodies.ts";
import { keepRecord } from "../../server/scoring/run/records.ts";
import { absoluteRiskScale, type RiskScale } from "../../server/scoring/scores/risk-scale.ts";
import type { State } from "../../server/scoring/scores/state.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import type { Random } from "../../simulation/random.ts";
import type { WarehouseUnderTest } from "../warehouse/support.ts";

/** The conditions on figures that users have, too. */
export type UserCondition = Exclude<ScoreCondition, { kind: "seatsAbove" | "seatsBelow" | "pulseAtMost" }>;

/** A row of scores. */
export interface ScoreRow {
  readonly entity: number;
  readonly day: number;
  readonly state: State;
  readonly risk: number | null;
  readonly health: number | null;
  readonly volume28: number;
  /** Of accounts. */
  readonly activeMembers28?: number;
  readonly seats?: number | null;
  readonly pulse?: number | null;
}

type Horizon = RunBody["settings"]["churnHorizonDays"];

export interface StoredDays {
  readonly organization: number;
  readonly kind: EntityKind;
  /** Days with a finished run. */
  readonly days: readonly number[];
  readonly rows: readonly ScoreRow[];
  readonly riskScale?: RiskScale;
  readonly horizonDays?: Horizon;
  /** When the runs were first shown. Default: at the beginning of 1970. */
  readonly firstPublishedAtMs?: number;
  /** Names the excluded users. */
  readonly excluded?: string;
  /** Days without data that the runs know. */
  readonly outages?: RunBody["outages"];
  /** Null: no model served, so no entity had a risk. Default: BG/BB. */
  readonly rung?: RunBody["choice"]["rung"];
}

const version = 1_000;

/** Stores finished runs of days with these rows. Rows of other days are those of runs that were cut off. */
export async function storeDays(
  { warehouse }: WarehouseUnderTest,
  { organization, kind, days, rows, riskScale, horizonDays, firstPublishedAtMs, excluded, rung }: StoredDays,
): Promise<void> {
  const firstDays = new Map<number, number>();
  for (const { entity, day } of rows) firstDays.set(entity, Math.min(day, firstDays.get(entity) ?? day));
  const isOfAccounts = kind === "account";
  const line = ({ entity, day, state, risk, health, volume28, ...more }: ScoreRow) => {
    const { activeMembers28 = 0, seats = null, pulse = null } = more;
    const tenureDays = day - (firstDays.get(entity) ?? day) + 1;
    return JSON.stringify([
      organization,
      isoDay(day),
      entity,
      version,
      state,
      "watch",
      risk,
      health,
      volume28,
      tenureDays,
      ...(isOfAccounts ? [activeMembers28, seats, pulse] : []),
    ]);
  };
  await warehouse.insertInto(
    `${kind}_scores`,
    [
      "organization",
      "day",
      kind,
      "version",
      "state",
      "colour",
      "risk",
      "health",
      "volume_28",
      "tenure_days",
      ...(isOfAccounts ? ["active_members_28", "seats", "pulse"] : []),
    ],
    { rows: rows.length, token: crypto.randomUUID(), body: Buffer.from(rows.map(line).join("\n")) },
  );
  await storeRuns(warehouse, {
    organization,
    kind,
    days,
    ...(riskScale !== undefined && { riskScale }),
    ...(horizonDays !== undefined && { horizonDays }),
    ...(firstPublishedAtMs !== undefined && { firstPublishedAtMs }),
    ...(excluded !== undefined && { excluded }),
    ...(rung !== undefined && { rung }),
  });
}

/** Stores the records of finished runs. Their rows have the version 1,000. */
export async function storeRuns(
  warehouse: Warehouse,
  {
    organization,
    kind,
    days,
    riskScale = absoluteRiskScale,
    horizonDays = 28,
    firstPublishedAtMs = 0,
    excluded = "",
    outages = [],
    rung = 1,
  }: Omit<StoredDays, "rows">,
): Promise<void> {
  for (const day of days) {
    const settingsKey = `{} ${excluded}`;
    const common = bodyOf(riskScale, horizonDays);
    const choice = { ...common.choice, rung };
    const body = { ...common, firstPublishedAtMs, settingsKey, outages, choice };
    await keepRecord(warehouse, { organization, kind, what: "run" }, { day, version, body });
  }
}

const isoDay = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** A run whose model is not stored. */
function bodyOf(riskScale: RiskScale, churnHorizonDays: Horizon): RunBody {
  const nothing = {
    scale: { scale: {} },
    scaleDay: 0,
    model: null,
    bgbb: {},
    counts: {},
    choice: { rung: null, why: "" },
    trainedDay: 0,
    backtest: { results: [] },
    entities: 0,
    scored: 0,
    finishedAtMs: 0,
    tookMs: 0,
  } as object as RunBody;
  return {
    ...nothing,
    rowsVersion: version,
    settings: { ...defaultSettings, churnHorizonDays },
    outages: [],
    declaredOutages: "[]",
    riskScale,
    firstPublishedAtMs: 0,
  };
}

/** Rows of active users, whose risks on the days from one on are all these. */
export function rowsOfRisks(
  entities: readonly number[],
  firstDay: number,
  risks: readonly number[],
): ScoreRow[] {
  return entities.flatMap((entity) =>
    risks.map((risk, at) => ({ entity, day: firstDay + at, state: "active", risk, health: 50, volume28: 1 })),
  );
}

/** Rows of random walks, some of them with days missing at the start, churns and returns. */
export function randomRows(random: Random, entities: number, days: readonly number[]): ScoreRow[] {
  return Array.from({ length: entities }, (_, index) => {
    const first = random.pick([0, 0, 0, random.between(0, days.length - 1)]);
    let [risk, health, volume, isChurned] = [
      random.next(),
      100 * random.next(),
      random.between(0, 200),
      false,
    ];
    const pace = random.pick([0.02, 0.1, 0.3]);
    return days.slice(first).flatMap((day) => {
      risk = Math.min(1, Math.max(0, risk + random.normal(0, pace)));
      health = Math.min(100, Math.max(0, health + random.normal(0, 100 * pace)));
      volume = Math.max(0, Math.round(volume * random.within(0.7, 1.4)));
      isChurned = isChurned ? random.chance(0.7) : random.chance(0.02);
      if (random.chance(0.01)) return [];
      const state: State = isChurned ? "churned" : random.pick(["active", "active", "new", "inactive"]);
      return [
        {
          entity: index + 1,
          day,
          state,
          volume28: volume,
          risk: isChurned || random.chance(0.02) ? null : risk,
          health: isChurned ? 0 : random.chance(0.02) ? null : health,
        },
      ];
    });
  }).flat();
}

/** The readings of an entity by plain arithmetic, under the same rules on all days. @param rows of the
 * entity, with all days before */
export function plainReadings(
  condition: UserCondition,
  rows: readonly ScoreRow[],
  {
    scored,
    fromDay,
    riskScale = absoluteRiskScale,
  }: { scored: readonly number[]; fromDay: number; riskScale?: RiskScale },
): Reading[] {
  const rowOn = (day: number | undefined) => rows.find((row) => row.day === day);
  const earlier = (day: number, days: number) =>
    rowOn(scored.findLast((each) => each <= day - days && each >= day - days - 28));
  return scored.flatMap((day) => {
    const row = rowOn(day);
    if (row === undefined || day < fromDay) return [];
    const firstDay = Math.min(...rows.map((each) => each.day));
    const [isInside, isOut] = judge(condition, row, (days) => earlier(day, days), { riskScale, firstDay });
    const isChurned = row.state === "churned";
    // The entity is older than the scored day before, and has no row of it: it was excluded.
    const before = scored.findLast((each) => each < day) ?? 0;
    const isBack = rows.some((each) => each.day < before) && rowOn(before) === undefined;
    const standing = isChurned ? "churned" : isBack && isInside ? "adopted" : "present";
    return [
      {
        day,
        isInside: isInside && !isChurned,
        isInsideAsBefore: isInside && !isChurned,
        isOut: isOut && !isChurned,
        standing,
      },
    ];
  });
}

function judge(
  condition: UserCondition,
  { state, risk, health, volume28 }: ScoreRow,
  earlier: (days: number) => ScoreRow | undefined,
  { riskScale, firstDay }: { readonly riskScale: RiskScale; readonly firstDay: number },
): [isInside: boolean, isOut: boolean] {
  const unknown: [boolean, boolean] = [false, false];
  switch (condition.kind) {
    case "riskBand": {
      const limit = riskScale[condition.band];
      return risk === null ? unknown : [risk >= limit, risk < limit - 0.05];
    }
    case "healthBelow":
      return health === null ? unknown : [health < condition.below, health >= condition.below + 5];
    case "state":
      return [state === condition.state, state !== condition.state];
    case "riskUp": {
      const before = earlier(condition.days)?.risk ?? null;
      if (risk === null || before === null) return unknown;
      return [risk - before >= condition.by, risk - before < condition.by / 2];
    }
    case "healthDown": {
      const before = earlier(condition.days)?.health ?? null;
      if (health === null || before === null) return unknown;
      return [before - health >= condition.by, before - health < condition.by / 2];
    }
    case "usageDown": {
      const before = earlier(28)?.volume28;
      if (before === undefined) return unknown;
      const [down, half] = [1 - condition.percent / 100, 1 - condition.percent / 200];
      return [before > 0 && volume28 <= before * down, before === 0 || volume28 > before * half];
    }
    case "usageUp": {
      const base = earlier(28);
      if (base === undefined) return unknown;
      const before = base.day - firstDay + 1 < 28 ? 0 : base.volume28;
      const [up, half] = [1 + condition.percent / 100, 1 + condition.percent / 200];
      return [before > 0 && volume28 >= before * up, before === 0 || volume28 < before * half];
    }
  }
}

/** Excludes these users, and no others. @param revision higher than before */
export async function exclude(
  warehouse: Warehouse,
  organization: number,
  users: readonly number[],
  revision: number,
): Promise<void> {
  await warehouse.command(
    `INSERT INTO excluded_users (organization, users, revision)
     SELECT {organization:UInt32}, groupBitmapState(user), {revision:UInt64}
     FROM (SELECT toUInt32(arrayJoin({users:Array(UInt32)})) AS user)`,
    { organization, users, revision },
  );
}

/** Records the members of a segment after the scores of a day, as the keeper of segments does. Days come in
 * order. */
export async function recordMembers(
  warehouse: Warehouse,
  {
    organization,
    segment,
    of,
    day,
    members,
  }: {
    readonly organization: number;
    readonly segment: number;
    readonly of: EntitySet["of"];
    readonly day: number;
    readonly members: readonly number[];
  },
): Promise<void> {
  const set = await setOfNumbers(warehouse, of, { organization, numbers: members });
  const difference = await differenceOf(warehouse, { organization, segment }, set);
  const ground = { content: "", ground: "", rules: "", scoredDay: day, scoredAtMs: 0, loadedUptoMs: 0 };
  const evaluation = { ...ground, sequence: day, atMs: day * 86_400_000, size: difference.size, day };
  await storeEvaluation(
    warehouse,
    { ...evaluation, organization, segment, of, cause: "change", touched: undefined },
    difference,
  );
}
