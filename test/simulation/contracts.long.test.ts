/** The simulated contracts: rules that hold for every seed, and what the log must not reveal. */

import { describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { BatchBody } from "../../contract/write-api.ts";
import { msPerDay, Zone } from "../../server/calendar/zone.ts";

import { metricsOf } from "../../server/scoring/statistics/metrics.ts";
import { wireItem } from "../../simulation/items.ts";
import { stateOn } from "../../simulation/truth.ts";
import { billingEvents, endEvent, features } from "./contracts/catalogue.ts";
import { Contracts, type ContractsOptions } from "./contracts/contracts.ts";
import { daysPerMonth } from "./contracts/customer.ts";
import { settled, situations } from "./contracts/reasons.ts";

const endDay = Date.UTC(2026, 5, 17) / msPerDay;
const small: ContractsOptions = { seed: 1, accounts: 40, weeks: 30, endDay };

const logOf = (options: Partial<ContractsOptions> = {}, zone = new Zone("UTC")) =>
  new Contracts({ ...small, ...options }).log(zone);
const wire = (log: ReturnType<typeof logOf>) =>
  log.items.map((item, index) => JSON.stringify(wireItem(item, `c-${index}`)));

/** The lives of accounts, with their active days. */
function livesOf(options: ContractsOptions) {
  const contracts = new Contracts(options);
  return Array.from({ length: options.accounts }, (_, number) => {
    const customer = contracts.customer(number);
    const activeDays: number[] = [];
    const counts = new Map<string, number>();
    for (const { day, use } of contracts.life(customer)) {
      if (use.length > 0) activeDays.push(day);
      for (const { event, count } of use) counts.set(event, (counts.get(event) ?? 0) + count);
    }
    return { truth: customer.truth, activeDays, counts };
  });
}

describe("the seed decides:", () => {
  test("the same one gives the same log and truth, another one others", () => {
    const [first, again, other] = [logOf(), logOf(), logOf({ seed: 2 })];
    expect(wire(again)).toEqual(wire(first));
    expect(again.truth).toEqual(first.truth);
    const known = new Set(first.items.map(({ timeMs }) => timeMs));
    const shared = other.items.filter(({ timeMs }) => known.has(timeMs)).length;
    expect(shared / other.items.length).toBeLessThan(0.05);
  });

  test("an account lives the same life alone and among others, as counts and as items", () => {
    const among = livesOf(small);
    const alone = livesOf({ ...small, accounts: 10 });
    expect(alone.map(({ truth }) => truth)).toEqual(among.slice(0, 10).map(({ truth }) => truth));
    const names = new Set(features.map(({ name }) => name));
    const tracked = logOf().items.flatMap((item) =>
      item.type === "track" && names.has(item.event)
        ? [`${item.person.account.facts.accountId} ${item.event}`]
        : [],
    );
    const counted = among.flatMap(({ truth, counts }) =>
      [...counts].map(([event, count]): [string, number] => [`${truth.accountId} ${event}`, count]),
    );
    const items = [...Map.groupBy(tracked, (key) => key)].map(([key, list]): [string, number] => [
      key,
      list.length,
    ]);
    expect(new Map(items)).toEqual(new Map(counted));
  });
});

describe.each(["UTC", "Asia/Kathmandu", "America/New_York"])("the log in %s", (name) => {
  const zone = new Zone(name);
  const log = logOf({ seed: 3, accounts: 70 }, zone);

  test("is valid input of the write API, in time order", () => {
    const batch = Compile(BatchBody);
    expect(wire(log).filter((text) => !batch.Check({ batch: [JSON.parse(text)] }))).toEqual([]);
    const times = log.items.map(({ timeMs }) => timeMs);
    expect(times.filter((timeMs, index) => timeMs < (times[index - 1] ?? 0))).toEqual([]);
    expect(zone.dayOf(times.at(-1) ?? 0)).toBeLessThan(endDay);
  });

  test("identifies each user before the first event, with an address of their own", () => {
    const emails = new Map<string, string>();
    const early = log.items.filter(({ type, person }) => {
      if (type === "identify") emails.set(person.userId, person.email);
      return !emails.has(person.userId);
    });
    expect(early).toEqual([]);
    expect(new Set(emails.values()).size).toBe(emails.size);
  });

  test("has nothing of an account after its contract has ended, and the end itself", () => {
    const endOf = new Map(log.truth.map(({ accountId, endedDay }) => [accountId, endedDay]));
    const ends = log.items.filter((item) => item.type === "track" && item.event === endEvent);
    const ended = [...endOf.values()].filter((day) => day !== null);
    expect(ended.length).toBeGreaterThan(3);
    expect(ends.map(({ timeMs }) => zone.dayOf(timeMs)).sort()).toEqual(ended.sort());
    const late = log.items.filter((item) => {
      const endedDay = endOf.get(item.person.account.facts.accountId) ?? null;
      return endedDay !== null && zone.dayOf(item.timeMs) >= endedDay && !ends.includes(item);
    });
    expect(late.filter((item) => item.type === "identify" || !billingEvents.has(item.event))).toEqual([]);
  });
});

describe("the truth:", () => {
  const options = { seed: 1, accounts: 800, weeks: 60, endDay };
  const lives = livesOf(options);
  const firstDay = endDay - options.weeks * 7;
  const months = lives.flatMap(({ truth, activeDays }) =>
    truth.months
      .filter(({ fromDay }) => fromDay >= firstDay + daysPerMonth && fromDay + daysPerMonth <= endDay)
      .map(({ fromDay, endProbability, isCanceling }) => {
        const last = activeDays.findLast((day) => day < fromDay);
        return {
          situation: stateOn(truth.situations, fromDay),
          predicted: endProbability,
          idleDays: fromDay - (last ?? firstDay),
          isCanceling,
          label: truth.endedDay !== null && truth.endedDay < fromDay + daysPerMonth,
        };
      }),
  );
  const predicted = months.filter(({ isCanceling }) => !isCanceling);
  const standardErrors = (rows: typeof months) => {
    const gap = rows.reduce((sum, { predicted: p, label }) => sum + Number(label) - p, 0);
    return gap / Math.sqrt(rows.reduce((sum, { predicted: p }) => sum + p * (1 - p), 0));
  };

  test("the probabilities of ends are right: in all, in each third, and of scheduled ends", () => {
    expect(predicted.length).toBeGreaterThan(3_000);
    const sorted = predicted.toSorted((a, b) => a.predicted - b.predicted);
    const third = Math.ceil(sorted.length / 3);
    const parts = [0, 1, 2].map((part) => sorted.slice(part * third, (part + 1) * third));
    const canceling = months.filter(({ isCanceling }) => isCanceling);
    for (const rows of [predicted, ...parts, canceling]) {
      expect(rows.length).toBeGreaterThan(50);
      expect(Math.abs(standardErrors(rows))).toBeLessThan(3);
    }
  });

  test("every situation occurs, and dangerous ones end contracts oftener", () => {
    const rateOf = (situation: string) => {
      const rows = predicted.filter((row) => row.situation === situation);
      expect(rows.length).toBeGreaterThan(20);
      return rows.filter(({ label }) => label).length / rows.length;
    };
    for (const { name, hazard } of situations) {
      const rate = rateOf(name);
      if (hazard > 5 * settled.hazard) expect(rate).toBeGreaterThan(2 * rateOf("settled"));
    }
  });

  test("silence does not reveal the end: it has less than half of the truth's excess AUC", () => {
    const truth = metricsOf(predicted)?.auc ?? 0;
    const idle = metricsOf(
      predicted.map(({ idleDays, label }) => ({ predicted: idleDays / (idleDays + 1), label })),
    );
    expect(truth).toBeWithin(0.7, 0.9);
    expect((idle?.auc ?? 1) - 0.5).toBeLessThan((truth - 0.5) / 2);
  });

  test("customers who decide for the end work until the end", () => {
    const left = lives.filter(
      ({ truth }) => truth.ending === "canceled" && (truth.endedDay ?? 0) > firstDay + 14,
    );
    expect(left.length).toBeGreaterThan(80);
    const working = left.filter(
      ({ truth, activeDays }) => (activeDays.at(-1) ?? 0) >= (truth.endedDay ?? 0) - 7,
    );
    expect(working.length / left.length).toBeGreaterThan(0.95);
  });
});
