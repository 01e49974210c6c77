/** How the simulated users behave as a whole. They nearly fulfil the assumptions of churn models. Each figure
 * is of four seeds of 1,000 users. The bounds leave several standard errors. */
import { describe, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { eventKinds } from "../../simulation/catalogue.ts";
import { stateOn } from "../../simulation/truth.ts";
import { type Judged, judge, share, simulate } from "./support.ts";

const zone = new Zone("America/New_York");
const logs = [1, 2, 3, 4].map((seed) => simulate({ users: 1_000, seed, zone }));
const judged = logs.map(judge);
const everybody = judged.flat();

describe("people have a rhythm:", () => {
  const times = logs.flatMap(({ items }) =>
    items
      .filter(({ type, person }) => type === "track" && person.kind === "person")
      .map(({ timeMs }) => new Date(timeMs + zone.offsetSecondsAt(timeMs) * 1_000)),
  );

  test("they work on working days, in the daytime of the organization's timezone", () => {
    const onWeekend = share(times, (time) => time.getUTCDay() % 6 === 0);
    expect(onWeekend).toBeWithin(0.02, 0.12);
    expect(share(times, (time) => time.getUTCHours() >= 6 && time.getUTCHours() < 20)).toBeGreaterThan(0.9);
  });

  test("on holidays they hardly work", () => {
    const on = (date: string) => times.filter((time) => time.toISOString().startsWith(date)).length;
    expect(on("2026-05-01") / on("2026-05-08")).toBeLessThan(0.25);
  });

  test("some come almost daily, some once a month", () => {
    const shares = logs.flatMap(({ truth, activeDays, firstDay, lastDay }) =>
      truth.users
        .filter(({ departedDay, history }) => departedDay === null && (history[0]?.fromDay ?? 0) < firstDay)
        .map(({ userId }) => (activeDays.get(userId)?.length ?? 0) / (lastDay - firstDay + 1)),
    );
    expect(share(shares, (each) => each > 0.5)).toBeGreaterThan(0.08);
    expect(share(shares, (each) => each < 0.07)).toBeGreaterThan(0.08);
  });
});

describe("they leave:", () => {
  test("of those who were active, 8 to 15 % are silent for the next 28 days", () => {
    for (const each of judged) expect(share(each, ({ isSilent }) => isSilent)).toBeWithin(0.08, 0.15);
  });

  test("silence foretells departures, and not for certain", () => {
    expect(areaUnderCurve(everybody)).toBeWithin(0.65, 0.92);
  });

  test("some who are silent have not left, and some who left have not been silent for long", () => {
    expect(
      share(
        everybody.filter(({ isSilent }) => isSilent),
        ({ hasLeft }) => !hasLeft,
      ),
    ).toBeGreaterThan(0.1);
    expect(
      share(
        everybody.filter(({ hasLeft }) => hasLeft),
        ({ idleDays }) => idleDays <= 3,
      ),
    ).toBeGreaterThan(0.15);
  });

  const lossBy = (trait: string) => {
    const known = logs.flatMap(({ items, truth }, log) => {
      const traits = new Map(
        items
          .filter(({ type, properties }) => type === "identify" && properties?.[trait] !== undefined)
          .map(({ person, properties }) => [`${log} ${person.userId}`, String(properties?.[trait])]),
      );
      return truth.users.map((user) => ({ user, value: traits.get(`${log} ${user.userId}`) }));
    });
    return (value: string) =>
      share(
        known.filter((each) => each.value === value),
        ({ user }) => user.departedDay !== null,
      );
  };

  test("more often from free plans, from advertisements and from small companies", () => {
    const [plan, channel, size] = ["plan", "acquisitionChannel", "companySize"].map(lossBy);
    expect(plan?.("free")).toBeGreaterThan(1.4 * (plan?.("enterprise") ?? 1));
    expect(channel?.("paid_ads")).toBeGreaterThan(1.3 * (channel?.("referral") ?? 1));
    expect(size?.("1-10")).toBeGreaterThan(1.3 * (size?.("1001+") ?? 1));
  });

  test("less often when they use what only some take up", () => {
    const advanced = new Set(eventKinds.filter(({ role }) => role === "advanced").map(({ name }) => name));
    const users = logs.flatMap(({ events, truth, firstDay }) =>
      truth.users
        .filter(({ history, departedDay }) => {
          const isThere = stateOn(history, firstDay + 60) !== undefined;
          return isThere && (departedDay ?? firstDay + 61) > firstDay + 60;
        })
        .map(({ userId, departedDay }) => ({
          isDeep: (events.get(userId) ?? []).some(
            ({ event, timeMs }) => advanced.has(event) && zone.dayOf(timeMs) < firstDay + 60,
          ),
          hasLeft: departedDay !== null,
        })),
    );
    const lossOf = (isDeep: boolean) =>
      share(
        users.filter((user) => user.isDeep === isDeep),
        ({ hasLeft }) => hasLeft,
      );
    expect(lossOf(false)).toBeGreaterThan(1.3 * lossOf(true));
  });

  test("many fade: in the last week they do far less than in the weeks before they began to", () => {
    let [before, after] = [0, 0];
    for (const { truth, activeDays, firstDay } of logs) {
      for (const { userId, history, departedDay, departure } of truth.users) {
        const fromDay = history.at(-2)?.fromDay ?? 0;
        if (departure !== "faded" || departedDay === null) continue;
        if (departedDay - fromDay < 14 || fromDay - 28 < Math.max(firstDay, history[0]?.fromDay ?? 0))
          continue;
        const days = activeDays.get(userId) ?? [];
        before += days.filter((day) => day >= fromDay - 28 && day < fromDay).length / 4;
        after += days.filter((day) => day >= departedDay - 7).length;
      }
    }
    expect(before).toBeGreaterThan(100);
    expect(after / before).toBeWithin(0.01, 0.4);
  });

  test("sleepers come back", () => {
    const woken = logs.flatMap(({ truth, activeDays, lastDay }) =>
      truth.users.flatMap(({ userId, history }) => {
        const asleep = history.findIndex(({ state }) => state === "asleep");
        const [from, to] = [history[asleep]?.fromDay ?? 0, history[asleep + 1]];
        if (asleep < 0 || to?.state !== "healthy" || to.fromDay > lastDay - 28) return [];
        const returned = (activeDays.get(userId) ?? []).some((day) => day >= to.fromDay);
        return [{ returned, days: to.fromDay - from }];
      }),
    );
    expect(woken.length).toBeGreaterThan(50);
    expect(share(woken, ({ returned }) => returned)).toBeGreaterThan(0.85);
    expect(share(woken, ({ days }) => days > 28)).toBeGreaterThan(0.5);
  });
});

/** The chance that a leaving user has been silent for longer than a staying one. Ties count half. */
function areaUnderCurve(people: readonly Judged[]): number {
  const leavers = people.filter(({ hasLeft }) => hasLeft);
  const stayers = people.filter(({ hasLeft }) => !hasLeft);
  let above = 0;
  for (let idleDays = 1; idleDays <= 28; idleDays += 1) {
    const equal = leavers.filter((each) => each.idleDays === idleDays).length;
    const below = stayers.filter((each) => each.idleDays < idleDays).length;
    above += equal * (below + stayers.filter((each) => each.idleDays === idleDays).length / 2);
  }
  return above / leavers.length / stayers.length;
}
