/** Simulated logs, and what tests look up in them. */
import { Zone } from "../../server/calendar/zone.ts";
import { eventKinds } from "../../simulation/catalogue.ts";
import type { Item, Tracked } from "../../simulation/items.ts";
import { Simulation, type SimulationOptions } from "../../simulation/simulation.ts";
import type { Truth, UserTruth } from "../../simulation/truth.ts";

/** A Wednesday morning, so that the last day is cut off. */
const endMs = Date.UTC(2026, 5, 17, 9, 30);

const passive = new Set(eventKinds.filter(({ role }) => role === "passive").map(({ name }) => name));

/** A whole simulation, kept in memory. */
export interface Log {
  readonly options: SimulationOptions;
  readonly firstDay: number;
  readonly lastDay: number;
  readonly items: readonly Item[];
  readonly truth: Truth;
  /** Events by user id, in time order. */
  readonly events: ReadonlyMap<string, readonly Tracked[]>;
  /** Days with engagement events by user id, in order. */
  readonly activeDays: ReadonlyMap<string, readonly number[]>;
}

/** Simulates. Default: 300 users and 26 weeks in UTC. */
export function simulate(options: Partial<SimulationOptions> = {}): Log {
  const all = { seed: 1, users: 300, weeks: 26, endMs, zone: new Zone("UTC"), ...options };
  const simulation = new Simulation(all);
  const items = [...simulation.days()].flatMap((day) => day.items);
  const tracked = items.filter((item) => item.type === "track");
  const events = Map.groupBy(tracked, ({ person }) => person.userId);
  const engagement = tracked.filter(({ event }) => !passive.has(event));
  const activeDays = new Map(
    [...Map.groupBy(engagement, ({ person }) => person.userId)].map(([userId, list]) => [
      userId,
      [...new Set(list.map(({ timeMs }) => all.zone.dayOf(timeMs)))],
    ]),
  );
  const { firstDay, lastDay, truth } = simulation;
  return { options: all, firstDay, lastDay, items, truth, events, activeDays };
}

/** A user who was active in the 28 days before a day, with the known data and the actual outcome. */
export interface Judged {
  readonly user: UserTruth;
  readonly idleDays: number;
  /** No engagement event in the 28 days from that day on. */
  readonly isSilent: boolean;
  /** They left for good before these 28 days were over. */
  readonly hasLeft: boolean;
}

/** The users who were active in the 28 days before each cut-off. Cut-offs are 28 days apart, from 8 weeks
 * on. */
export function judge({ firstDay, lastDay, truth, activeDays }: Log): Judged[] {
  const judged: Judged[] = [];
  for (let cutOff = firstDay + 56; cutOff + 28 <= lastDay; cutOff += 28) {
    for (const user of truth.users.filter(({ kind }) => kind === "person")) {
      const days = activeDays.get(user.userId) ?? [];
      const last = days.findLast((day) => day < cutOff);
      if (last === undefined || cutOff - last > 28) continue;
      const isSilent = !days.some((day) => day >= cutOff && day < cutOff + 28);
      const hasLeft = user.departedDay !== null && user.departedDay < cutOff + 28;
      judged.push({ user, idleDays: cutOff - last, isSilent, hasLeft });
    }
  }
  return judged;
}

/** The share of those for which a condition holds. */
export function share<Value>(values: readonly Value[], holds: (value: Value) => boolean): number {
  return values.filter(holds).length / values.length;
}
