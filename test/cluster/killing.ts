/** Random requests to random nodes, while nodes are killed and PostgreSQL is restarted: what was acknowledged
 * is stored once, in the ledger's counts and in the warehouse. */
import { differences, Workload } from "../durability/workload.ts";
import type { Server } from "../server.ts";
import { TestCluster } from "./support.ts";

/** A failure that the test causes in the cluster, one after another, while senders send. */
export type Blow = "kill a node" | "restart PostgreSQL";

/** Deals the blows, each after so many more events were acknowledged, and returns what is wrong in the
 * end. */
export async function survive(blows: readonly Blow[], eventsBetween: number): Promise<readonly string[]> {
  const cluster = await TestCluster.start();
  const nodes: Server[] = [await cluster.node("all"), await cluster.node("all"), await cluster.node("all")];
  const any = (): Server => {
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    if (node === undefined) throw new Error("there is no node");
    return node;
  };
  const { id, token } = await cluster.organization("survivor");
  const workload = new Workload(any, token, 20);
  await workload.start();
  for (const [n, blow] of blows.entries()) {
    await workload.untilAcknowledged(workload.acknowledged + eventsBetween);
    if (blow === "restart PostgreSQL") {
      await cluster.postgres.kill();
      await cluster.postgres.restart();
    } else {
      await nodes[n % nodes.length]?.crash();
      nodes[n % nodes.length] = await cluster.node("all");
    }
  }
  await workload.untilAcknowledged(workload.acknowledged + eventsBetween);
  const expected = await workload.stop();
  const [first] = nodes;
  if (first === undefined) throw new Error("there is no node");
  await first.ready();
  // The lease of a leader that was killed.
  const problems = await differences(first, "survivor", expected);
  const counted = (await cluster.ledger.dayCounts(id)).reduce((sum, { events }) => sum + events, 0);
  if (counted !== expected.messageIds.size) {
    problems.push(`${expected.messageIds.size} events were acknowledged, and the ledger counts ${counted}`);
  }
  return [...problems, ...workload.unexpected];
}
