/** How long raw events are kept: they go, and no figure changes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rekindleHere, Server } from "../server.ts";
import { becomes } from "../until.ts";
import { api, daysAgo, erasingKey, figures, identify, sendAll, track } from "./support.ts";

let server: Server;

beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server.stop());

const agreement = (organization: string) => `${organization}: ledger, events and rollups agree`;

/** Waits until so many raw events are left. */
async function untilLeft(organization: string, events: number): Promise<void> {
  await becomes(async () => (await server.exported("events", organization)).length, events);
}

test("events past their days go by themselves, figures stay, and doctor, rebuild and erasure know", async () => {
  const name = "Keeping";
  const [token, key] = [
    await server.organization(name, "--timezone", "Europe/Paris"),
    await erasingKey(server, name),
  ];
  const ages = [300, 200, 100, 40, 20, 10, 1];
  const items = ["ada", "bob"].flatMap((userId) => [
    identify(userId),
    ...ages.map((days) => track(userId, "opened", daysAgo(days))),
  ]);
  await sendAll(server, token, items);
  await server.exported("events", name);
  const before = await figures(server, key);

  await server.command("organization", "set", name, "--keep-events", "30");
  await untilLeft(name, 6);
  expect(await figures(server, key)).toEqual(before);
  expect(await server.command("organization", "list")).toContain("30 days");
  expect(await server.command("doctor")).toContain(agreement(name));
  await server.command("rebuild", "--organization", name);
  expect(await figures(server, key)).toEqual(before);

  await sendAll(server, token, [track("bob", "came_late", daysAgo(150))]);
  await server.exported("events", name);
  expect(await server.command("doctor")).toContain(agreement(name));

  await server.command("organization", "set", name, "--keep-events", "forever");
  await server.command("organization", "set", name, "--timezone", "America/New_York");
  await server.command("rebuild", "--organization", name);
  expect(await server.command("doctor")).toContain(agreement(name));

  const receipt = JSON.parse(await server.command("erase", "user", "ada", "--organization", name));
  expect(receipt).toMatchObject({ events: 3, days: ages.length });
  const { days } = (await (await api(server, key, "/api/active-users?days=400")).json()) as {
    days: { daily: number }[];
  };
  // Bob's days, and the one of the event that came late.
  expect(days.filter(({ daily }) => daily === 1)).toHaveLength(ages.length + 1);
  expect(days.filter(({ daily }) => daily > 1)).toEqual([]);
  expect(await server.command("doctor")).toContain(agreement(name));
});

test.each(["0", "-1", "1.5", "36501", "always"])(
  "--keep-events %s is refused, and nothing changes",
  async (days) => {
    const name = `Keeping ${days}`;
    await server.organization(name);
    const refused = await rekindleHere(server.dataDir, "organization", "set", name, "--keep-events", days);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("keepEventsDays is not valid: send");
  },
);
