/** Every figure of an organization stays as it is when another one has the same ids and events. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Random } from "../../simulation/random.ts";
import { quietZone } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { readRoutes, withSegment } from "../specification/read-routes.ts";
import { until } from "../until.ts";
import { msPerDay, patientGet } from "./world.ts";

const [own, other] = ["Isolated", "Isolated from"];
const routes = readRoutes({ userId: "u0", accountId: "a0" });
let server: Server;
let key: string;
let addressOf: (address: string) => string;

beforeAll(async () => {
  server = await Server.startShared();
  key = await fill(own, 1, 40);
  await server.command("score", "--organization", own);
  addressOf = await withSegment(server, own);
  // Otherwise it would be evaluated between the answers that are compared.
  await evaluated();
});
afterAll(() => server.stop());

/** Sends users, accounts, and a hundred days of events. @returns a read key */
async function fill(organization: string, seed: number, users: number): Promise<string> {
  const random = new Random(seed);
  const token = await server.organization(organization, "--timezone", quietZone);
  const identify = (n: number) => ({
    type: "identify",
    userId: `u${n}`,
    email: `u${n}@example.com`,
    properties: { plan: random.pick(["free", "pro"]), seats: n },
    account: { id: `a${n % 5}`, name: `${organization} ${n % 5}` },
  });
  const track = () => ({
    type: "track",
    userId: `u${random.between(0, users - 1)}`,
    event: random.pick(["opened", "saved", "subscription_canceled"]),
    properties: { page: random.pick(["/home", "/team"]) },
    timestamp: new Date(Date.now() - random.between(0, 100 * msPerDay)).toISOString(),
  });
  const batch = [
    ...Array.from({ length: users }, (_, n) => identify(n)),
    ...Array.from({ length: 600 }, track),
  ];
  expect(await (await server.post("/batch", token, { batch })).json()).toMatchObject({ rejected: [] });
  await server.exported("events", organization);
  return (await server.command("key", "create", "--organization", organization)).trim();
}

/** Waits for the first evaluation of the segment after today's scores. */
async function evaluated(): Promise<void> {
  const address = server.url + addressOf("/api/segments/id-of-a-segment/history");
  await until("the segment is evaluated", async () => {
    const answer = (await (await patientGet(address, key)).json()) as { firstEvaluatedAt: string | null };
    return answer.firstEvaluatedAt !== null;
  });
}

/**
 * The answers to all routes without how fresh they are, by address. Numbers have 12 digits: the last ones of
 * a sum depend on the order in which the engine's threads end.
 */
async function answers(): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const { address } of routes) {
    const response = await patientGet(server.url + addressOf(address), key);
    const { freshness: _, ...answer } = JSON.parse(await response.text(), (_, value) =>
      typeof value === "number" ? Number(value.toPrecision(12)) : value,
    ) as Record<string, unknown>;
    expect([address, response.status]).toEqual([address, 200]);
    all[address] = answer;
  }
  return all;
}

test("another organization changes no answer", async () => {
  const before = await answers();
  await fill(other, 2, 60);
  await server.command("score", "--organization", other);
  expect(await answers()).toEqual(before);
});
