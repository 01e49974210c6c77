/** Figures of organizations that exclude no user and have no passive event. */
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
  const random = randomOfThisRun("figures");
  worlds.push(new World(server, random, "Andes", zoneFarFromMidnight("America/Santiago", "Africa/Cairo")));
  worlds.push(new World(server, random, "Atlas", zoneFarFromMidnight("Africa/Casablanca", "Asia/Gaza")));
  for (const world of worlds) await world.fill(40, 2_400);
  await server.ready();
}, 180_000);
afterAll(() => server.stop());

checksFigures(["Andes", "Atlas"], () => worlds);
