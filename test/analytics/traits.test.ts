/** The traits of users, read through HTTP and compared with the sent ones. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { byBytes } from "./recount.ts";
import { type Person, patientGet, World } from "./world.ts";

let server: Server;
let world: World;
let neighbour: World;

beforeAll(async () => {
  server = await Server.shared();
  const random = randomOfThisRun("traits");
  world = new World(server, random, "People by trait", "America/Santiago");
  neighbour = new World(server, random, "Neighbours by trait", "Asia/Kathmandu");
  await world.fill(40, 100);
  await neighbour.fill(10, 50);
  await server.ready();
});
afterAll(() => server.stop());

describe("traits", () => {
  interface Trait {
    readonly trait: string;
    readonly users: number;
    readonly distinctValues: number | null;
    readonly values: readonly { readonly value: string; readonly users: number }[];
  }
  const textOf = (value: unknown) =>
    typeof value === "string" ? value : JSON.stringify(value).replace("e+", "e"); // 1e30
  const recounted = (people: readonly Person[]) => {
    const said = people.flatMap(({ traits }) =>
      Object.entries(traits).flatMap(([trait, value]) =>
        value === null ? [] : [{ trait, value: textOf(value) }],
      ),
    );
    return [...Map.groupBy(said, ({ trait }) => trait)].map(([trait, all]) => {
      const values = [...Map.groupBy(all, ({ value }) => value)]
        .map(([value, { length }]) => ({ value, users: length }))
        .sort((a, b) => b.users - a.users || byBytes(a.value, b.value));
      return { trait, users: all.length, distinctValues: values.length, values: values.slice(0, 20) };
    });
  };
  const byName = (traits: readonly Trait[]) => traits.toSorted((a, b) => byBytes(a.trait, b.trait));

  test("with their values equal a recount, without those who are excluded and without a neighbour's", async () => {
    const { traits } = await world.ask<{ traits: Trait[] }>("/api/traits");
    expect(byName(traits)).toEqual(byName(recounted([...world.people.values()])));
    expect(traits.map(({ users }) => users)).toEqual(traits.map(({ users }) => users).sort((a, b) => b - a));
    await neighbour.exclude("u0", "u3");
    const others = await neighbour.ask<{ traits: Trait[] }>("/api/traits");
    expect(byName(others.traits)).toEqual(byName(recounted([...neighbour.people.values()])));
  });

  test("of more than 100 values are listed without them, and no more traits than requested", async () => {
    const token = await server.organization("Many values");
    const key = (await server.command("key", "create", "--organization", "Many values")).trim();
    const batch = Array.from({ length: 101 }, (_, n) => ({
      type: "identify",
      userId: `u${n}`,
      email: `u${n}@example.com`,
      properties: {
        each: n,
        ...(n < 100 && { hundred: `value ${n}` }),
        ...(n < 99 && { plan: "pro" }),
      },
    }));
    await server.post("/batch", token, { batch });
    await server.exported("events", "Many values");
    const response = await patientGet(`${server.url}/api/traits?limit=2`, key);
    const { traits } = (await response.json()) as { traits: Trait[] };
    expect(traits.map(({ trait, distinctValues, values }) => [trait, distinctValues, values.length])).toEqual(
      [
        ["each", null, 0],
        ["hundred", 100, 20],
      ],
    );
  });
});
