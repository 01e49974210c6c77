/** The win-back list: users or accounts that churned lately, by the money that they paid. Controls of a
 * hold-out are not among them. */

import { winBackDays } from "../../contract/api/win-back.ts";
import type { JsonObject } from "../../contract/json.ts";
import { lists } from "../analytics/entities/lists.ts";
import { type Owners, ownerIn } from "../analytics/entities/owners.ts";
import { reasonsAt } from "../analytics/revenue/churn-reasons.ts";
import { type LastPaid, lastPaid } from "../analytics/revenue/last-paid.ts";
import { hasPayers } from "../analytics/revenue/payers-now.ts";
import { dayOrNull, formatDay } from "../calendar/days.ts";
import { msPerDay } from "../calendar/zone.ts";
import { churnEventsOf } from "../figures/churn-events.ts";
import { controlsOf } from "../figures/controls.ts";
import { ownerFields, ownerFilterOf, ownersOfOrganization } from "../figures/owners.ts";
import { listedAccount, listedUser } from "../figures/rows.ts";
import { type Run, scoreContext } from "../figures/score-context.ts";
import { warehouseWithin } from "../figures/segment-evaluation.ts";
import type { AnalysisHandlers, ApiContext } from "../http/api/context.ts";
import { revenueOf } from "../http/api/currency.ts";
import { today, usersQuestion } from "../http/api/days.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { type ChurnedLately, churnedLately } from "../scoring/queries/lists/churned-lately.ts";
import { departureDaysOf, rowsOf } from "../scoring/run/entity.ts";

type Context = ApiContext<"GET /api/win-back">;

/** The latest that are sorted by money. */
const maxChurned = 50_000;
/** Rows whose details are read together. */
const detailRows = 5_000;

export const winBackHandlers = {
  "GET /api/win-back": async (context) => {
    const { organization, query } = context;
    const { kind, limit, offset, segment } = query;
    const warehouse = await warehouseWithin(context, segment, kind);
    const { run, head } = await scoreContext(context, kind);
    if (run === undefined) {
      return { day: head.day, days: 0, reportingCurrency: null, total: 0, lastMrr: null, churned: [] };
    }
    const days = query.days ?? Math.min(run.body.settings.churnHorizonDays, winBackDays);
    const controls = await controlsOf(context, kind);
    const latest = await churnedLately(warehouse, rowsOf(organization.id, kind, run), days, maxChurned);
    const churned = latest.filter(({ entity }) => !controls.has(entity));
    const owners = await ownersOfOrganization(context);
    const owned = await ofOwner(context, run, churned, owners);
    const sinceMs = context.zone.startOfDay(run.day) - (days + run.body.settings.churnHorizonDays) * msPerDay;
    const { paid, reportingCurrency } = await paidBy(context, sinceMs, owned);
    const mrrOf = ({ entity }: ChurnedLately) => paid.get(entity)?.mrr ?? null;
    const sorted = owned.toSorted(
      (a, b) => (mrrOf(b) ?? -1) - (mrrOf(a) ?? -1) || b.churnedDay - a.churnedDay || a.entity - b.entity,
    );
    const page = sorted.slice(offset, offset + limit);
    return {
      day: head.day,
      days,
      reportingCurrency,
      total: owned.length,
      lastMrr: reportingCurrency === null ? null : owned.reduce((sum, one) => sum + (mrrOf(one) ?? 0), 0),
      churned: await detailed(context, run, page, { paid, sinceMs }, owners),
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** A row's id, name and traits. */
interface Described {
  readonly id: string;
  readonly label: string;
  readonly lastDay: number | null;
  readonly traits: JsonObject;
  /** The attribute of a user's account. */
  readonly accountOwner: string | undefined;
}

/** Of a list that is filtered by owner the rows that the owner has. */
async function ofOwner(
  context: Context,
  run: Run,
  churned: readonly ChurnedLately[],
  owners: Owners,
): Promise<readonly ChurnedLately[]> {
  const { ownerId } = ownerFilterOf(context, owners, context.query.owner);
  if (ownerId === undefined) return churned;
  const kept: ChurnedLately[] = [];
  for (let at = 0; at < churned.length; at += detailRows) {
    const some = churned.slice(at, at + detailRows);
    const described = await describedBy(context, run, some);
    for (const one of some) {
      const row = described.get(one.entity);
      if (row !== undefined && (ownerOf(owners, row)?.id ?? 0) === ownerId) kept.push(one);
    }
  }
  return kept;
}

function ownerOf(owners: Owners, { traits, accountOwner }: Described) {
  return ownerIn(owners, traits.owner) ?? ownerIn(owners, accountOwner);
}

async function paidBy(
  context: Context,
  sinceMs: number,
  churned: readonly ChurnedLately[],
): Promise<{ readonly paid: ReadonlyMap<number, LastPaid>; readonly reportingCurrency: string | null }> {
  const { warehouse, organization, query, nowMs } = context;
  if (!(await hasPayers(warehouse, organization.id, query.kind))) {
    return { paid: new Map(), reportingCurrency: null };
  }
  const { question, head } = await revenueOf(context);
  const entities = churned.map(({ entity }) => entity);
  const asked = { ...question, kind: query.kind, nowMs: nowMs(), sinceMs };
  return {
    paid: await lastPaid(warehouse, asked, entities),
    reportingCurrency: head.reportingCurrency,
  };
}

async function detailed(
  context: Context,
  run: Run,
  page: readonly ChurnedLately[],
  { paid, sinceMs }: { readonly paid: ReadonlyMap<number, LastPaid>; readonly sinceMs: number },
  owners: Owners,
) {
  const { warehouse, organization, query, nowMs } = context;
  const entities = page.map(({ entity }) => entity);
  const { id: organizationId } = organization;
  const churnEvents = await churnEventsOf(context);
  const [days, described, reasons] = await Promise.all([
    departureDaysOf(
      warehouse,
      { kind: query.kind, entities },
      { id: organizationId, zone: context.zone },
      run,
    ),
    describedBy(context, run, page),
    reasonsAt(
      warehouse,
      { organization: organizationId, churnEvents, kind: query.kind },
      // A subscription's reason may be said a year before its end. Without a subscription in the period,
      // reasons from before are about an earlier departure.
      entities.map((entity) => ({ entity, atMs: nowMs(), sinceMs: paid.has(entity) ? 0 : sinceMs })),
    ),
  ]);
  return page.flatMap(({ entity, churnedDay }, index) => {
    const row = described.get(entity);
    if (row === undefined) return [];
    const { id, label, lastDay, traits, accountOwner } = row;
    const said = reasons[index];
    const words = said?.reasonFrom === "team" ? said.reason : said?.comment || said?.reason;
    const { mrr = null, plan = null } = paid.get(entity) ?? {};
    return [
      {
        id,
        label,
        churnedDay: formatDay(days.get(entity) ?? churnedDay),
        lastSeenDay: dayOrNull(lastDay),
        lastMrr: mrr,
        plan,
        reason: words || null,
        reasonFrom: said?.reasonFrom ?? null,
        ...ownerFields(owners, traits, accountOwner),
      },
    ];
  });
}

async function describedBy(
  context: Context,
  run: Run,
  churned: readonly ChurnedLately[],
): Promise<ReadonlyMap<number, Described>> {
  const { warehouse, organization, query } = context;
  const kind: EntityKind = query.kind;
  const question = {
    ...(await usersQuestion(context, today(context))),
    run: rowsOf(organization.id, kind, run),
    earlier: undefined,
  };
  const entities = churned.map(({ entity }) => entity);
  if (kind === "user") {
    const rows = await lists.user.rows(warehouse, question, entities);
    return new Map(
      rows.map((row) => {
        const { userId, name, email, traits } = listedUser(row);
        const { entity, lastDay, accountOwner } = row;
        return [entity, { id: userId, label: name || email || userId, lastDay, traits, accountOwner }];
      }),
    );
  }
  const rows = await lists.account.rows(warehouse, question, entities);
  return new Map(
    rows.map((row) => {
      const { accountId, name, traits } = listedAccount(row);
      const { entity, lastDay } = row;
      return [entity, { id: accountId, label: name || accountId, lastDay, traits, accountOwner: undefined }];
    }),
  );
}
