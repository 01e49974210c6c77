/** The questions of lists and of segments, by their filters. */

import type { RouteQuery } from "../../contract/api/routes.ts";
import { ApiError } from "../../contract/refusal.ts";
import type { Filter } from "../../contract/segments/filters.ts";
import type { Controls } from "../analytics/entities/controls.ts";
import type { ListSelection } from "../analytics/entities/entity-list.ts";
import type { SetCondition } from "../analytics/entities/entity-sets.ts";
import { fallsOf } from "../analytics/entities/list-falls.ts";
import type { ComparedFall } from "../analytics/entities/list-scores.ts";
import type { TraitFilter } from "../analytics/entities/trait-filter.ts";
import type { OrganizationContext } from "../http/api/context.ts";
import { dayOfParameter, today, usersQuestion } from "../http/api/days.ts";
import { maxActiveDays } from "../ledger/rules/segment-rules.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { monthDays } from "../scoring/queries/lists/reading.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import { questionOfCalls } from "./calls.ts";
import { ownerFilterOf, ownersOfOrganization } from "./owners.ts";
import { billingOf } from "./payers.ts";
import { accountsRun, bothRuns, earlierRun, type Run, riskScaleOfRun } from "./score-context.ts";

type UserQuery = RouteQuery<"GET /api/users">;

/** The part of a handler's context that filters need. */
export type SelectionContext = Pick<
  OrganizationContext,
  "warehouse" | "ledger" | "organization" | "zone" | "nowMs" | "sources" | "passiveEvents" | "actor"
>;

/** The filters of a segment, and those that only lists have. */
export type ListFilter = Filter &
  Partial<
    Pick<
      UserQuery,
      | "search"
      | "since"
      | "account"
      | "activeInAccount"
      | "excluded"
      | "trait"
      | "match"
      | "value"
      | "segment"
    >
  > & {
    /** Of a list: `toCall` leaves them out. A segment has them, because a rule draws its controls from it. */
    readonly controls?: Controls;
  };

/** The question for users or for accounts, with the runs and the payers that it reads.
 * @param sets the filter's conditions on events and segments
 * @throws ApiError when a filter is not valid */
export async function selectionOf(
  context: SelectionContext,
  kind: EntityKind,
  filter: ListFilter,
  sets: readonly SetCondition[],
) {
  const { scores, ...rest } = await scoresOf(context, kind, filter);
  const owners = await ownersOfOrganization(context);
  const selection = {
    ...filter,
    search: filter.search ?? "",
    ...ownerFilterOf(context, owners, filter.owner),
    ...scores,
    payers: rest.billing.payers,
    ...(await usersQuestion(context, today(context))),
    traits: traitFilters(filter),
    sets,
    ...(kind === "user" && { accountId: filter.account, activity: activityOf(filter) }),
  } satisfies ListSelection;
  return { selection, ...rest };
}

async function scoresOf(context: SelectionContext, kind: EntityKind, filter: ListFilter) {
  const { since, comparedWithDays, toCall, controls = new Map() } = filter;
  if (since !== undefined && comparedWithDays !== undefined) {
    throw new ApiError("validation_error", "since is not valid: send one of since and comparedWithDays.");
  }
  const { runs, newest, head } = await bothRuns(context, kind, since, comparedWithDays ?? monthDays);
  const ofAccounts =
    kind === "user" && runs !== undefined ? await accountsRun(context, runs.run.day) : undefined;
  const call =
    toCall === undefined ? {} : { call: { is: toCall, by: await questionOfCalls(context, kind, controls) } };
  const riskLimits = riskScaleOfRun(newest);
  const falls = await comparedFalls(context, kind, filter, newest);
  const billing = await billingOf(context, kind, newest);
  return {
    scores: { run: undefined, earlier: undefined, ...runs, ofAccounts, riskLimits, falls, ...call },
    newest,
    head,
    billing,
  };
}

/** The falls of a filter, with the runs that the newest one is compared with. @throws ApiError when only
 * their days are there */
async function comparedFalls(
  context: SelectionContext,
  kind: EntityKind,
  filter: ListFilter,
  newest: Run | undefined,
): Promise<readonly ComparedFall[]> {
  if (filter.healthFellDays !== undefined && filter.healthFellPoints === undefined) {
    throw new ApiError("validation_error", "healthFellPoints is missing: healthFellDays needs it.");
  }
  return Promise.all(
    fallsOf(filter).map(async ({ days, ...fall }) => {
      const earlier = newest && (await earlierRun(context, kind, newest, newest.day - days));
      return { ...fall, earlier: earlier && rowsOf(context.organization.id, kind, earlier) };
    }),
  );
}

/** @throws ApiError when the days are not both there, or do not follow each other */
function activityOf(query: ListFilter): ListSelection["activity"] {
  const { activeFrom, activeTo, lifecycle, activeInAccount: inAccount } = query;
  if ([activeFrom, activeTo, lifecycle, inAccount].every((sent) => sent === undefined)) return undefined;
  if (activeFrom === undefined || activeTo === undefined) {
    throw new ApiError(
      "validation_error",
      `${activeFrom === undefined ? "activeFrom" : "activeTo"} is missing: send activeFrom and activeTo together.`,
    );
  }
  const fromDay = dayOfParameter("activeFrom", activeFrom);
  const toDay = dayOfParameter("activeTo", activeTo);
  if (toDay < fromDay || toDay - fromDay >= maxActiveDays) {
    const why = toDay < fromDay ? "it is before activeFrom" : `send at most ${maxActiveDays} days`;
    throw new ApiError("validation_error", `activeTo is not valid: ${why}.`);
  }
  return { fromDay, toDay, lifecycle, inAccount };
}

interface TraitQuery {
  readonly trait?: string | undefined;
  readonly match?: TraitFilter["match"] | undefined;
  readonly value?: string | undefined;
}

/** @throws ApiError when a part of one is missing */
function traitFilters({ traits = [], trait, match = "is", value }: ListFilter): TraitFilter[] {
  const isNone = trait === undefined && value === undefined && match === "is";
  return [
    ...(isNone ? [] : [traitFilter("trait", { trait, match, value })]),
    ...traits.map((each) => traitFilter("traits", each)),
  ];
}

/** @param parameter where it was sent @throws ApiError when a part of it is missing */
function traitFilter(parameter: string, { trait, match = "is", value }: TraitQuery): TraitFilter {
  const needsValue = match !== "isEmpty" && match !== "isNotEmpty";
  if (trait === undefined || (needsValue && value === undefined)) {
    throw new ApiError("validation_error", `${parameter} is not valid: send trait and value together.`);
  }
  return { key: trait, match, value: value ?? "" };
}
