/** Figures of organizations with excluded users and passive events; figures-without-rules.test.ts has organizations without. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { zoneFarFromMidnight } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { checksFigures } from "./figure-checks.ts";
import { World } from "./world.ts";

let server: Server;
let staff: World;
let newsletters: World;

beforeAll(async () => {
  server = await Server.shared();
  const random = randomOfThisRun("figures");
  // Clocks change within a year: at midnight, and around a month that moves.
  staff = new World(
    server,
    random,
    "Staff and customers",
    zoneFarFromMidnight("America/Santiago", "Africa/Cairo"),
  );
  newsletters = new World(
    server,
    random,
    "Newsletters",
    zoneFarFromMidnight("Africa/Casablanca", "Asia/Gaza"),
  );
  for (const world of [staff, newsletters]) await world.fill(40, 2_400);
  // Those who do most, and some who do little.
  await staff.exclude("u0", "u1", "u7", "u30");
  // The first of all events by name, the last, and one that nobody ever sent.
  await newsletters.setPassive("opened", "{limit:UInt32}", "never_sent");
  await newsletters.exclude("u2");
  await server.ready();
}, 180_000);
afterAll(() => server.stop());

checksFigures(["Staff and customers", "Newsletters"], () => [staff, newsletters]);

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
