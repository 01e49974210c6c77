/** Kills the service at twenty moments under load, most of them random. In the end every acknowledged event is stored once. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { Holds, heldServer } from "../durability/holds.ts";
import { frozen, killAt, ownPort, remains, restart } from "../durability/killing.ts";
import { differences, Workload } from "../durability/workload.ts";
import { Server } from "../server.ts";

export const runsOn = { disk: true };

const kills = 20;
/** Keeps nothing once it is loaded, so that a kill can hit a deletion. */
const as = { entry: heldServer, ledger: { inboxMaxRetainedBytes: 0 } };
const organization = "killed";

test("after twenty kills at random moments every acknowledged request is stored once", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  console.log(`seed ${seed}`);
  const random = randomNumbers(seed);
  let server = await Server.start({ ...as, env: await ownPort() });
  const holds = new Holds(server.dataDir);
  const token = await server.organization(organization);
  await server.command("organization", "set", organization, "--rate-limit", "1000000");
  const workload = new Workload(() => server, token);
  await workload.start();
  let halfWritten = 0;
  let unfinished = 0;
  for (let kill = 0; kill < kills; kill++) {
    // Half of the kills come at a random time. The others hit the insert of a batch, where most can go wrong, and its end, when rows
    // are in the warehouse that the ledger knows nothing of.
    if (kill % 2 === 0) await killLater(server, random() * 1_500);
    else if (kill % 4 === 1) await killAt(server, frozen, random() * 120);
    else {
      const hold = holds.next({ step: "after", of: "INSERT INTO events" });
      await hold.reached();
      await server.crash();
      hold.release();
    }
    const left = await remains(server.dataDir);
    if (left.halfWritten) halfWritten += 1;
    unfinished += left.unfinishedBatches;
    server = await restart(server, as);
    await server.ready();
  }
  const expected = await workload.stop();
  console.log(
    `${kills} kills; ${unfinished} batches were left unfinished, ${halfWritten} states half-written; ${expected.messageIds.size} events`,
  );
  expect(halfWritten).toBeGreaterThan(0);
  expect(workload.unexpected).toEqual([]);
  expect(await differences(server, organization, expected)).toEqual([]);
  expect(await server.command("doctor")).toContain(`${organization}: ledger, events and rollups agree`);
  await server.stop();
  rmSync(server.dataDir, { recursive: true, force: true });
});

async function killLater(server: Server, ms: number): Promise<void> {
  await Bun.sleep(ms);
  await server.crash();
}

/** Hold and Miller's minimal standard generator: numbers in [0, 1). */
function randomNumbers(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}
