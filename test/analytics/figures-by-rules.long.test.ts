/** Figures of organizations without rules, with excluded users alone, and with passive events in another
 * zone. */
import { afterAll, beforeAll } from "bun:test";
import { zoneFarFromMidnight } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { checksFigures } from "./figure-checks.ts";
import { World } from "./world.ts";

let server: Server;
const worlds: World[] = [];

beforeAll(async () => {
  server = await Server.shared();
  const random = randomOfThisRun("figures by rules");
  // Clocks change within a year: at midnight, and around a month that moves.
  const atMidnight = zoneFarFromMidnight("America/Santiago", "Africa/Cairo");
  const aroundRamadan = zoneFarFromMidnight("Africa/Casablanca", "Asia/Gaza");
  const staff = new World(server, random, "Staff alone", atMidnight);
  const newsletters = new World(server, random, "Newsletters", aroundRamadan);
  worlds.push(new World(server, random, "Andes", atMidnight));
  worlds.push(new World(server, random, "Atlas", aroundRamadan));
  worlds.push(staff, newsletters);
  for (const world of worlds) await world.fill(40, 2_400);
  await staff.exclude("u0", "u1", "u7", "u30");
  await newsletters.setPassive("opened", "{limit:UInt32}", "never_sent");
  await newsletters.exclude("u2");
  await server.ready();
});
afterAll(() => server.stop());

checksFigures(["Andes", "Atlas", "Staff alone", "Newsletters"], () => worlds);
