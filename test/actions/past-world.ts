/** An organization whose facts come day by day: users, accounts, traits, events, subscriptions and scores,
 * from a seed. On each day lists see what has come until then. */

import type { Filter } from "../../contract/segments/filters.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import type { FindSegment } from "../../server/features/alerts/rules/past-segments.ts";
import { segmentsInPast } from "../../server/features/segments/in-past.ts";
import { evaluationOf } from "../../server/figures/segment-evaluation.ts";
import type { SelectionContext } from "../../server/figures/segment-selection.ts";
import type { Segment } from "../../server/ledger/ports/actions/segments.ts";
import type { RunBody } from "../../server/scoring/run/record-bodies.ts";
import { keepRecord } from "../../server/scoring/run/records.ts";
import { absoluteRiskScale, type RiskScale } from "../../server/scoring/scores/risk-scale.ts";
import type { Random } from "../../simulation/random.ts";
import { event, insertEvents, msPerDay, type WarehouseUnderTest } from "../warehouse/support.ts";
import { storeRuns } from "./rules-support.ts";

const users = 24;
const accounts = 5;
/** Counts in no figure. */
const excludedUser = 3;
const plans = ["pro", "free", "profi", ""];
const zone = new Zone("UTC");

type Traits = Record<string, string | null>;

interface Entity {
  readonly traits: Traits;
  account: number;
  version: number;
  risk: number;
  health: number;
  /** Of the scored day before. */
  band: string;
}

interface Subscription {
  readonly from: number[];
  readonly status: string[];
  readonly plan: string[];
  readonly mrr: number[];
  readonly periodEnds: (number | null)[];
  readonly ends: (number | null)[];
  /** The number of the user or the account: a subscription may pass to another one. */
  readonly payers: number[];
}

const emptySubscription = (): Subscription => ({
  from: [],
  status: [],
  plan: [],
  mrr: [],
  periodEnds: [],
  ends: [],
  payers: [],
});

/** 0 is no time. */
const timesOrNull = (name: string) =>
  `arrayMap(ms -> if(ms = 0, NULL, fromUnixTimestamp64Milli(ms, 'UTC')), {${name}:Array(Int64)})`;

/** The limits of churn risks change once, in the middle. */
const scaleOf = (isLater: boolean): RiskScale => ({
  ...absoluteRiskScale,
  medium: 0.3,
  high: isLater ? 0.5 : 0.6,
});

type SegmentOfWorld = Pick<Segment, "kind" | "filter"> & { readonly ids?: readonly number[] };

export class PastWorld {
  readonly #subject: WarehouseUnderTest;
  readonly #random: Random;
  readonly organization: number;
  readonly #people: Entity[] = [];
  readonly #firms: Entity[] = [];
  readonly #subscriptions = new Map<number, Subscription>();
  readonly segments: readonly Segment[];
  readonly #numbers = new Map<number, readonly number[]>();
  #today = 0;
  #firstBilled = 0;

  /** @param segments with ids from 1 on, in this order */
  constructor(subject: WarehouseUnderTest, random: Random, segments: readonly SegmentOfWorld[]) {
    this.#subject = subject;
    this.#random = random;
    this.organization = subject.newOrganization();
    this.segments = segments.map(({ kind, filter, ids = [] }, at) => {
      this.#numbers.set(at + 1, ids);
      return { id: at + 1, kind, name: `Segment ${at + 1}`, filter, contentAtMs: 1 } as Segment;
    });
  }

  /** Makes everybody, on a day before all others. @param firstBilled the first day with subscriptions */
  async begin(day: number, firstBilled: number): Promise<void> {
    this.#firstBilled = firstBilled;
    const random = this.#random;
    const fresh = (): Entity => ({
      traits: {},
      account: 0,
      version: 0,
      risk: random.next(),
      health: 100 * random.next(),
      band: "none",
    });
    for (let user = 0; user < users; user += 1) this.#people.push(fresh());
    for (let account = 0; account < accounts; account += 1) this.#firms.push(fresh());
    const excluded = { organization: this.organization, user: excludedUser };
    await this.#subject.warehouse.command(
      `INSERT INTO excluded_users SELECT {organization:UInt32}, 1, groupBitmapState({user:UInt32})`,
      excluded,
    );
    await this.#tell(day, true);
  }

  /** The facts of a day, and what is known at its end. */
  async live(day: number): Promise<void> {
    const random = this.#random;
    await this.#tell(day, false);
    const events = this.#people.flatMap(({ account, version }, at) =>
      ["opened", "report", "heartbeat"].flatMap((name, which) =>
        Array.from(
          { length: version > 0 && random.chance(at / users) ? random.between(0, 3 - which) : 0 },
          () =>
            event(this.organization, {
              user: at + 1,
              event: name,
              account: random.chance(0.8) ? account : 0,
              timeMs: day * msPerDay + random.between(0, msPerDay - 1),
            }),
        ),
      ),
    );
    if (events.length > 0) await insertEvents(this.#subject, events);
    if (day >= this.#firstBilled) await this.#bill(day);
  }

  /** Scores of the start of a day. Some have no row. On every third day the rules of scores have changed, and
   * moved some of them. */
  async score(day: number, isLater: boolean, outages: RunBody["outages"]): Promise<void> {
    this.#today = day;
    for (const [kind, all] of [
      ["user", this.#people],
      ["account", this.#firms],
    ] as const) {
      const bandsBefore = all.map(({ band }) => band);
      const rows = all.flatMap((entity, at) =>
        entity.version === 0 ? [] : [this.#scored(entity, at + 1, day)],
      );
      if (day % 3 === 0) await this.#shift(kind, day, bandsBefore);
      const columns = [
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
      ];
      const kept = rows.filter(() => !this.#random.chance(0.03)).map((row) => JSON.stringify(row));
      const body = Buffer.from(kept.join("\n"));
      await this.#subject.warehouse.insertInto(`${kind}_scores`, columns, {
        rows: kept.length,
        token: crypto.randomUUID(),
        body,
      });
      const about = { organization: this.organization, kind, days: [day], horizonDays: 14 } as const;
      await storeRuns(this.#subject.warehouse, { ...about, outages, riskScale: scaleOf(isLater) });
    }
  }

  /** What changed rules changed. Of every other one that is all that moved its band. */
  async #shift(kind: "user" | "account", day: number, bandsBefore: readonly string[]): Promise<void> {
    const random = this.#random;
    const { warehouse } = this.#subject;
    const rows = (kind === "user" ? this.#people : this.#firms).flatMap(({ band, version }, at) => {
      if (version === 0 || random.chance(0.3)) return [];
      const before = random.chance(0.5) ? bandsBefore[at] : random.pick(["healthy", "watch", "at_risk"]);
      const health = random.normal(0, 10);
      return [JSON.stringify([this.organization, formatDay(day), at + 1, 1_000, health, before, band])];
    });
    const columns = ["organization", "day", kind, "version", "health", "colour_before", "colour"];
    const body = Buffer.from(rows.join("\n"));
    await warehouse.insertInto(`${kind}_score_shifts`, columns, {
      rows: rows.length,
      token: crypto.randomUUID(),
      body,
    });
    await keepRecord(
      warehouse,
      { organization: this.organization, kind, what: "shift" },
      { day, version: 1_000, body: { rowsVersion: 1_000, settingsKey: "" } },
    );
  }

  #scored(entity: Entity, number: number, day: number) {
    const random = this.#random;
    entity.risk = Math.min(1, Math.max(0, entity.risk + random.normal(0, 0.1)));
    entity.health = Math.min(100, Math.max(0, entity.health + random.normal(0, 10)));
    const state = random.pick(["active", "active", "active", "inactive", "new", "churned"]);
    const band = state === "churned" ? "churned" : random.pick(["healthy", "watch", "at_risk", "none"]);
    entity.band = band;
    const risk = state === "churned" || random.chance(0.05) ? null : entity.risk;
    // Of few events, so that falls are as large as a limit now and then.
    const volume = random.between(0, 5);
    return [this.organization, formatDay(day), number, 1_000, state, band, risk, entity.health, volume, 50];
  }

  /** News of users and accounts: on the first day of half of them, later now and then. */
  async #tell(day: number, isFirst: boolean): Promise<void> {
    const random = this.#random;
    const tells = (entity: Entity) => random.chance(isFirst ? 0.7 : entity.version === 0 ? 0.1 : 0.06);
    for (const [index, firm] of this.#firms.entries()) {
      if (!tells(firm) && firm.version > 0) continue;
      await this.#version("account", index + 1, firm, day, this.#attributes(day));
    }
    for (const [index, person] of this.#people.entries()) {
      if (!tells(person)) continue;
      if (random.chance(0.6)) person.account = random.between(0, accounts);
      await this.#version("user", index + 1, person, day, { plan: random.pick(plans) });
    }
  }

  /** Some have a renewal: a date, an instant with an offset, or none any more. */
  #attributes(day: number): Traits {
    const random = this.#random;
    const renewsAt = formatDay(day + random.between(-3, 20));
    return {
      tier: random.pick(["gold", "silver"]),
      ...(random.chance(0.6) && { renewsAt: random.pick([renewsAt, `${renewsAt}T22:30:00-03:00`, null]) }),
    };
  }

  async #version(
    kind: "user" | "account",
    number: number,
    entity: Entity,
    day: number,
    traits: Traits,
  ): Promise<void> {
    Object.assign(entity.traits, traits);
    entity.version += 1;
    const { warehouse } = this.#subject;
    const at = day * msPerDay + this.#random.between(0, msPerDay - 1);
    const time = "fromUnixTimestamp64Milli({at:Int64}, 'UTC')";
    const own = { organization: this.organization, number, version: entity.version, at };
    const all = JSON.stringify(entity.traits);
    const isUser = kind === "user";
    await warehouse.command(
      `INSERT INTO ${kind}_versions (organization, ${kind}, version, at, traits ${isUser ? ", account" : ""})
       SELECT {organization:UInt32}, {number:UInt32}, {version:UInt32}, ${time}, {traits:String} ${isUser ? ", {account:UInt32}" : ""}`,
      { ...own, traits: JSON.stringify(traits), ...(isUser && { account: entity.account }) },
    );
    const { at: _, ...row } = own;
    await warehouse.command(
      isUser
        ? `INSERT INTO users (organization, user, user_id, traits, account, first_identified_at, updated_at, version)
           SELECT {organization:UInt32}, {number:UInt32}, toString({number:UInt32}), {traits:String}, {account:UInt32}, now64(3), now64(3), {version:UInt32}`
        : `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version, traits)
           SELECT {organization:UInt32}, {number:UInt32}, toString({number:UInt32}), '', now64(3), now64(3), {version:UInt32}, {traits:String}`,
      { ...row, traits: all, ...(isUser && { account: entity.account }) },
    );
  }

  /** Accounts pay subscriptions with odd numbers, and users those with even ones. */
  async #bill(day: number): Promise<void> {
    const random = this.#random;
    for (let payer = 1; payer <= 12; payer += 1) {
      if (!random.chance(0.2)) continue;
      const own = this.#subscriptions.get(payer) ?? emptySubscription();
      this.#subscriptions.set(payer, own);
      own.from.push(day * msPerDay + random.between(0, msPerDay - 1));
      const status = random.pick(["active", "active", "trialing", "past_due", "canceled"]);
      own.status.push(status);
      own.plan.push(random.pick(["Team", "Gold"]));
      const renewal = (day + random.between(-3, 20)) * msPerDay + random.between(1, 23) * msPerHour;
      own.periodEnds.push(random.chance(0.8) ? renewal : null);
      own.ends.push(random.chance(0.15) ? renewal : null);
      own.mrr.push(status === "canceled" ? 0 : random.between(1, 9) * 1_000);
      const usual = payer % 2 === 1 ? 1 + (payer % accounts) : payer;
      own.payers.push(random.chance(0.2) ? random.between(1, accounts) : usual);
      await this.#store(payer, own);
    }
  }

  async #store(payer: number, own: Subscription): Promise<void> {
    const { from, status, plan, mrr, periodEnds, ends, payers } = own;
    const nobody = from.map(() => 0);
    const isAccount = payer % 2 === 1;
    await this.#subject.warehouse.command(
      `INSERT INTO subscriptions (organization, subscription, version, "from", status, plan, mrr, currency, payer_account, payer_user, period_end, ends_at)
       SELECT {organization:UInt32}, toString({payer:UInt32}), {version:UInt64},
         arrayMap(ms -> fromUnixTimestamp64Milli(ms, 'UTC'), {from:Array(Int64)}), {status:Array(String)}, {plan:Array(String)}, {mrr:Array(Int64)},
         arrayMap(_ -> 'USD', {from:Array(Int64)}), {accounts:Array(UInt32)}, {users:Array(UInt32)},
         ${timesOrNull("periodEnds")}, ${timesOrNull("ends")}`,
      {
        organization: this.organization,
        payer,
        version: from.length,
        from,
        status,
        plan,
        mrr,
        periodEnds: periodEnds.map((ms) => ms ?? 0),
        ends: ends.map((ms) => ms ?? 0),
        accounts: isAccount ? payers : nobody,
        users: isAccount ? nobody : payers,
      },
    );
  }

  /** As a handler has it, at the start of the day that was scored last. */
  get context(): SelectionContext {
    const settings = { version: 1, settings: { ...defaultSettings, reportingCurrency: "USD" } };
    return {
      warehouse: this.#subject.warehouse,
      zone,
      nowMs: () => this.#today * msPerDay + 1_000,
      organization: { id: this.organization, timezone: "UTC" },
      passiveEvents: async () => ["heartbeat"],
      sources: { stoppedFor: async () => null },
      ledger: {
        segments: {
          list: async () => this.segments,
          numbers: async (_: number, segment: number) => this.#numbers.get(segment) ?? [],
        },
        members: { list: async () => [] },
        settings: { get: async () => settings },
      },
    } as object as SelectionContext;
  }

  get findSegment(): FindSegment {
    return segmentsInPast(this.context);
  }

  /** The members that lists have now, by their numbers in order: of some segments, by id. */
  async membersNow(ids: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>> {
    const filter: Filter = { segments: ids.map((segment) => ({ segment })) };
    const evaluation = await evaluationOf(this.context, [{ kind: "user", filter }]);
    const bitmaps: string[] = [];
    for (const id of ids) bitmaps.push((await evaluation.set(id)).bitmap);
    // In one query: one for each set took a third of the time.
    const rows = await this.#subject.warehouse.rows<{ numbers: readonly number[] }>(
      `SELECT arraySort(bitmapToArray(CAST(base64Decode(set.1) AS AggregateFunction(groupBitmap, UInt32)))) AS numbers
       FROM (SELECT arrayJoin(arrayZip({bitmaps:Array(String)}, arrayEnumerate({bitmaps:Array(String)}))) AS set)
       ORDER BY set.2`,
      { bitmaps },
    );
    return new Map(ids.map((id, at) => [id, rows[at]?.numbers ?? []]));
  }

  /** The numbers of those that exist now and count. */
  existing(kind: Segment["kind"]): readonly number[] {
    const all = kind === "users" ? this.#people : this.#firms;
    return all
      .flatMap(({ version }, at) => (version === 0 ? [] : [at + 1]))
      .filter((number) => kind === "accounts" || number !== excludedUser);
  }
}
