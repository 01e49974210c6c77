/**
 * Three organizations with the same ids, e-mails and message ids, under a random mix of everything at once.
 * In the end each holds exactly its acknowledged data. No answer, export or figure of one contains data of
 * another.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { activeUsers } from "../../server/analytics/active-users.ts";
import { timeline } from "../../server/analytics/entities/timeline.ts";
import { Random } from "../../simulation/random.ts";
import { counts } from "../analytics/counts.ts";
import { parquetRows } from "../parquet.ts";
import { Server } from "../server.ts";
import { randomItem, Tenant } from "./tenant.ts";

export const runsOn = { nodes: 3 };

type Row = Readonly<Record<string, unknown>>;

const names = ["Alpha", "Beta", "Gamma"];
const lanes = 5;
const stepsOfLane = 60;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
let server: Server;
let tenants: readonly Tenant[];

beforeAll(async () => {
  console.log(`tenants.test.ts: SEED=${seed}`);
  server = await Server.shared();
  tenants = await Promise.all(
    names.map(async (name) => {
      const token = await server.organization(name);
      await server.command("organization", "set", name, "--rate-limit", "1000000");
      return new Tenant(server, name, token, names);
    }),
  );
});
afterAll(() => server.stop());

/** Requests one after another, from users of the lane's own. */
async function write(
  tenant: Tenant,
  lane: number,
  random: Random,
  steps: number,
  token?: string,
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const next = () => randomItem(random, tenant.mark, lane);
    if (random.chance(0.2)) {
      const batch = Array.from({ length: random.between(1, 12) }, next);
      await tenant.sendBatch(batch, token);
    } else await tenant.send(next(), token);
  }
}

/** The operator's work meanwhile: it creates tokens, uses and revokes them, and exports. */
async function operate(tenant: Tenant, random: Random): Promise<void> {
  for (let round = 1; round <= 2; round++) {
    const create = ["token", "create", "--organization", tenant.name, "--name", `${tenant.mark}${round}`];
    const token = (await server.command(...create)).trim();
    await write(tenant, 0, random, 10, token);
    const list = await server.command("token", "list", "--organization", tenant.name);
    tenant.expectOwn(list);
    const id = list
      .split("\n")
      .find((line) => line.includes(`${tenant.mark}${round}`))
      ?.split(" ")[0];
    await server.command("token", "revoke", `${id}`);
    await tenant.sendRevoked(randomItem(random, tenant.mark, 0), token);
    tenant.expectOwn(await exportText(tenant, random.pick(["events", "users", "accounts"])));
  }
}

function exportText(
  tenant: Tenant,
  table: "events" | "users" | "accounts",
  format = "jsonl",
): Promise<string> {
  return server.command("export", table, "--organization", tenant.name, "--format", format);
}

test("a random mix of writes, tokens and exports is taken as each organization's model says", async () => {
  const working = tenants.flatMap((tenant, index) => {
    const random = (lane: number) => new Random(seed + index * 100 + lane);
    const writing = Array.from({ length: lanes }, (_, lane) =>
      write(tenant, lane + 1, random(lane + 1), stepsOfLane),
    );
    return [...writing, operate(tenant, random(0))];
  });
  await Promise.all(working);
});

const inOrder = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row, sorted)).sort();

/** Objects with their keys in order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test.each(names)(
  "the exports of %s have what is its own, and nothing else, in every format",
  async (name) => {
    const tenant = tenantNamed(name);
    const events = await server.exported("events", name);
    expect(inOrder(events.map(({ receivedAt: _, isActivity: _isActivity, ...event }) => event))).toEqual(
      inOrder(tenant.model.events()),
    );
    expect(inOrder(await server.exported("users", name))).toEqual(inOrder(tenant.model.users()));
    expect(inOrder(await server.exported("accounts", name))).toEqual(inOrder(tenant.model.accounts()));
    for (const table of ["events", "users", "accounts"] as const) {
      const csv = await exportText(tenant, table, "csv");
      const parquet = await parquetRows(server, table, name);
      for (const text of [csv, JSON.stringify(parquet)]) {
        expect(text).toContain(tenant.mark);
        tenant.expectOwn(text);
      }
    }
  },
);

test.each(names)("the figures of %s are made of what is its own", async (name) => {
  const tenant = tenantNamed(name);
  const organization = Number(await organizationId(name));
  const warehouse = server.warehouse();
  const own = <Found>(found: Found) => {
    tenant.expectOwn(JSON.stringify(found));
    return found;
  };
  const events = tenant.model.events();
  const users = tenant.model.users();
  expect(await counts(warehouse, organization)).toEqual({ events: events.length, users: users.length });

  const toDay = Date.UTC(2025, 3, 5) / 86_400_000;
  const days = own(await activeUsers(warehouse, { organization, passiveEvents: [], toDay, days: 60 }));
  const daily = days
    .filter((day) => day.daily > 0)
    .map((day) => [new Date(day.day * 86_400_000).toISOString().slice(0, 10), day.daily] as const);
  expect(new Map(daily)).toEqual(tenant.model.activeUsers());

  const seen = await Promise.all(
    users.map(async (_, index) =>
      own(await timeline(warehouse, { organization, user: index + 1, limit: 1_000 })),
    ),
  );
  const texts = seen.flat().map(({ event, properties }) => ({ event, properties: JSON.parse(properties) }));
  expect(inOrder(texts)).toEqual(inOrder(events.map(({ event, properties }) => ({ event, properties }))));
});

test("ledger, events and rollups agree in each organization, and no log has anything of their data", async () => {
  const report = await server.command("doctor");
  for (const { name, mark } of tenants) {
    expect(report).toContain(`${name}: ledger, events and rollups agree`);
    expect(server.output()).not.toContain(mark);
  }
});

function tenantNamed(name: string): Tenant {
  const tenant = tenants.find((each) => each.name === name);
  if (tenant === undefined) throw new Error(`no tenant ${name}`);
  return tenant;
}

async function organizationId(name: string): Promise<string> {
  const list = await server.command("organization", "list");
  const id = list
    .split("\n")
    .find((row) => row.includes(` ${name} `))
    ?.split(" ")[0];
  return `${id}`;
}
