/** Figures of an organization with excluded users and passive events. figures-by-rules.test.ts has other
 * organizations. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { zoneFarFromMidnight } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { checksFigures } from "./figure-checks.ts";
import { World } from "./world.ts";

let server: Server;
let staff: World;

beforeAll(async () => {
  server = await Server.shared();
  // Clocks change within a year, at midnight.
  const zone = zoneFarFromMidnight("America/Santiago", "Africa/Cairo");
  staff = new World(server, randomOfThisRun("figures"), "Staff and customers", zone);
  await staff.fill(40, 2_400);
  // The most active users, and some with few events.
  await staff.exclude("u0", "u1", "u7", "u30");
  // The first of all events by name, the last, and one that was never sent.
  await staff.setPassive("opened", "{limit:UInt32}", "never_sent");
  await server.ready();
});
afterAll(() => server.stop());

checksFigures(["Staff and customers"], () => [staff]);

test("excluded users are listed when they are asked for, and no account counts them as members", async () => {
  const world = staff;
  type Listed = { total: number; users: { userId: string; isExcluded: boolean }[] };
  const { users } = await world.ask<Listed>("/api/users", { excluded: "included" });
  const excluded = users.filter(({ isExcluded }) => isExcluded).map(({ userId }) => userId);
  expect(excluded.sort()).toEqual(["u0", "u1", "u30", "u7"]);
  expect([users.length, (await world.ask<Listed>("/api/users")).total]).toEqual([40, 36]);
  type Counted = { accounts: { accountId: string; members: number }[] };
  const { accounts } = await world.ask<Counted>("/api/accounts");
  for (const { accountId, members } of accounts) {
    const left = [...world.people.values()].filter(({ account }) => account === accountId);
    expect([accountId, members]).toEqual([accountId, left.length]);
  }
});
