/** Two nodes whose clocks differ by 300 ms: the identify that is answered later wins. */
import { afterAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectSuccess } from "../specification/support.ts";
import { TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const [ahead, exact] = await Promise.all([node(300), node(0)]);
afterAll(() => Promise.all([ahead.stop(), exact.stop()]));

function node(aheadMs: number): Promise<Server> {
  return Server.start({ dataDir: cluster.folder(), role: "intake", env: cluster.env, time: { aheadMs } });
}

test("an identify wins over one that another node took before, whichever clock is ahead", async () => {
  const { id, token } = await cluster.organization("skewed");
  const plans = ["trial", "pro", "trial", "pro", "enterprise"];
  for (const [index, plan] of plans.entries()) {
    const body = { userId: "u", email: `${index}@example.com`, properties: { plan } };
    await expectSuccess(await (index % 2 === 0 ? ahead : exact).post("/identify", token, body));
    const found = await cluster.ledger.findUser(id, "u");
    expect(found?.user).toMatchObject({ email: body.email, traits: { plan } });
  }
});
