/** The live view keeps nothing of an erased user or account. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { Watching } from "../people/watching.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";

let server: Server;

beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server?.stop());

const ada = { userId: "ada", email: "ada@example.com" };

/** An organization of its own with an owner. */
async function place(name: string) {
  const token = await server.organization(name);
  const owner = await joined(server, name, "owner", `${name} owner`);
  return { token, owner, at: (path: string) => `${path}?organization=${owner.organization}` };
}

test("an erased user is forgotten", async () => {
  const { token, owner, at } = await place("Erased");
  const watching = await Watching.open(server, owner, at("/api/live"));
  await server.post("/identify", token, ada);
  await server.post("/identify", token, { ...ada, userId: "grace" });
  await until(
    "both are shown",
    () => watching.items,
    ({ length }) => length === 2,
  );
  await owner.json("DELETE", at("/api/users/ada"));
  const later = await Watching.open(server, owner, at("/api/live"));
  await until(
    "grace is shown",
    () => later.items,
    ({ length }) => length > 0,
  );
  expect(later.items.map(({ userId }) => userId)).toEqual(["grace"]);
  watching.stop();
  later.stop();
});

test("an erased user's items that were held under a visitor's id are forgotten", async () => {
  const { token, owner, at } = await place("Erased visitor");
  const watching = await Watching.open(server, owner, at("/api/live"));
  await server.post("/v1/track", token, { anonymousId: "device", event: "opened" });
  await server.post("/v1/identify", token, {
    userId: "ada",
    anonymousId: "device",
    traits: { email: ada.email },
  });
  await server.post("/identify", token, { ...ada, userId: "grace" });
  await until(
    "all three are shown",
    () => watching.items,
    ({ length }) => length === 3,
  );
  await owner.json("DELETE", at("/api/users/ada"));
  const later = await Watching.open(server, owner, at("/api/live"));
  await until(
    "grace is shown",
    () => later.items,
    ({ length }) => length > 0,
  );
  expect(later.items.map(({ userId }) => userId)).toEqual(["grace"]);
  watching.stop();
  later.stop();
});

test("an erased account is forgotten", async () => {
  const { token, owner, at } = await place("Erased account");
  const watching = await Watching.open(server, owner, at("/api/live"));
  await server.post("/identify", token, { ...ada, account: { id: "engines", name: "Engines" } });
  await server.post("/identify", token, { ...ada, userId: "grace" });
  await until(
    "both are shown",
    () => watching.items,
    ({ length }) => length === 2,
  );
  await owner.json("DELETE", at("/api/accounts/engines"));
  const later = await Watching.open(server, owner, at("/api/live"));
  await until(
    "grace is shown",
    () => later.items,
    ({ length }) => length > 0,
  );
  expect(later.items.map(({ userId }) => userId)).toEqual(["grace"]);
  watching.stop();
  later.stop();
});

test("the stream of a deleted organization ends", async () => {
  const { token, owner, at } = await place("Deleted");
  const watching = await Watching.open(server, owner, at("/api/live"));
  await server.post("/identify", token, ada);
  await until(
    "it is shown",
    () => watching.items,
    ({ length }) => length === 1,
  );
  await server.command("organization", "delete", "Deleted", "--confirm", "Deleted");
  await until("the stream has ended", () => watching.isOver);
  expect(watching.end?.message).toBe("This organization was deleted.");
});
