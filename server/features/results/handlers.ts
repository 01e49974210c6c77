/** Results as the API answers them. */
import { resultDays } from "../../../contract/api/results.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import { numbersOf } from "../../figures/segment-evaluation.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../http/api/context.ts";
import { resultAnswer } from "../alerts/rule-figure-handlers.ts";
import { resultsOfHoldOuts } from "../alerts/rule-figures.ts";
import { readResults, type TouchedCustomer } from "./results.ts";
import { sumsOf, totalsOf } from "./totals.ts";
import type { Touch } from "./touches.ts";

export const resultsHandlers = {
  "GET /api/results": async (context) => {
    const { organization, query } = context;
    const { period, rule, segment } = query;
    const { customers, hint, fromDay, toDay, currency } = await readResults(context, organization, {
      days: resultDays[period],
      rule,
      member: memberOf(query.member, context.actor),
      among: segment === undefined ? undefined : await numbersOf(context, segment),
    });
    return {
      from: formatDay(fromDay),
      to: formatDay(toDay),
      reportingCurrency: currency,
      totals: totalsOf(customers),
      members: sumsBy(customers, ({ touches }) => touches.flatMap(({ person }) => person ?? [])).map(
        ([member, sums]) => ({ member, ...sums }),
      ),
      rules: sumsBy(customers, ({ rules }) => rules).map(([of, sums]) => ({ rule: of, ...sums })),
      hint: hint && { ...hint },
      proof: await proofOf(context),
      customers: customers.map(customerAnswer),
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** @throws ApiError when a read key asks for its own */
function memberOf(member: string | undefined, actor: OrganizationContext["actor"]): number | undefined {
  if (member !== "me") return member === undefined ? undefined : Number(member);
  if (actor.person !== null) return actor.person.id;
  throw new ApiError("validation_error", "member is not valid: a read key has no `me`, so send an id.");
}

/** The results of all experiments that have begun, by rule. */
async function proofOf({ ledger, organization, zone, nowMs }: OrganizationContext) {
  const [rules, experiments, resultOf] = await Promise.all([
    ledger.alertRules.list(organization.id, zone.dayOf(nowMs())),
    ledger.alertRules.experiments(organization.id),
    resultsOfHoldOuts(ledger, organization.id, nowMs()),
  ]);
  return experiments.flatMap((experiment) => {
    const result = resultOf(experiment);
    const name = experiment.deletedRule ?? rules.find(({ id }) => id === experiment.rule)?.name;
    if (result === undefined || name === undefined) return [];
    return [{ rule: name, since: formatDay(zone.dayOf(experiment.beganAtMs)), ...resultAnswer(result) }];
  });
}

interface Named {
  readonly id: number;
  readonly name: string;
}

/** The sums of each of those that a customer belongs to, the most customers first. */
function sumsBy(customers: readonly TouchedCustomer[], of: (one: TouchedCustomer) => readonly Named[]) {
  const named = new Map<number, Named>();
  const own = new Map<number, TouchedCustomer[]>();
  for (const customer of customers) {
    for (const one of new Map(of(customer).map((each) => [each.id, each])).values()) {
      named.set(one.id, { id: one.id, name: one.name });
      own.set(one.id, [...(own.get(one.id) ?? []), customer]);
    }
  }
  return [...named.values()]
    .map((one) => [one, sumsOf(own.get(one.id) ?? [])] as const)
    .toSorted(([a, x], [b, y]) => y.customers - x.customers || (a.name < b.name ? -1 : 1));
}

function customerAnswer({ number: _, touches, rules, ...customer }: TouchedCustomer) {
  return { ...customer, touches: touches.map(touchAnswer), rules: rules.map((rule) => ({ ...rule })) };
}

function touchAnswer({ what, atMs, person, by, text }: Touch) {
  return { what, at: instant(atMs), person: person && { ...person }, by, text };
}
