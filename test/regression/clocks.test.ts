/** A wall clock that steps back loses no identify. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { send, user } from "../specification/support.ts";
import { inLedger } from "../stored.ts";

const hourMs = 3_600_000;
let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.start({ time: { aheadMs: 0 }, role: "intake" });
  token = await server.organization("Clocks");
});
afterAll(() => server.stop());

function setClock(skewMs: number): void {
  server.putClockAhead(skewMs);
}

/** The stored data of a user, and the id of the user's account. */
async function stored(userId: string): Promise<object> {
  const [row] = await inLedger(
    server.dataDir,
    (run) => run<{ email: string; traits: string; account: string | null }>`
      SELECT email, users.traits, account_id AS account FROM users
      LEFT JOIN accounts ON accounts.organization = users.organization AND accounts.number = users.account
      WHERE user_id = ${userId}`,
  );
  if (row === undefined) throw new Error(`no user ${userId}`);
  return { ...row, traits: JSON.parse(row.traits) };
}

async function sendBatch(item: object): Promise<void> {
  const response = await server.post("/batch", token, { batch: [{ type: "identify", ...item }] });
  expect(await response.json()).toMatchObject({ success: true, accepted: 1, rejected: [] });
}

const before = { email: "old@example.com", properties: { plan: "trial" }, account: { id: "a", name: "A" } };
const after = { email: "new@example.com", properties: { plan: "pro" }, account: { id: "b", name: "B" } };
const wanted = { email: "new@example.com", traits: { plan: "pro" }, account: "b" };

test("after the clock has stepped back an identify without a timestamp wins, and a late one does not", async () => {
  setClock(hourMs);
  await send(server, "/identify", token, user("u", before));
  setClock(0);
  await send(server, "/identify", token, user("u", after));
  expect(await stored("u")).toEqual(wanted);
  await sendBatch({ ...user("u", before), timestamp: new Date(Date.now() - 1_000).toISOString() });
  expect(await stored("u")).toEqual(wanted);
});

test("after the clock has stepped back an item of a batch without a timestamp wins, too", async () => {
  setClock(hourMs);
  await send(server, "/identify", token, user("batch", before));
  setClock(0);
  await sendBatch(user("batch", after));
  expect(await stored("batch")).toEqual(wanted);
});
