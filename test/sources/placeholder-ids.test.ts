/** Ids that programs send when they have none make no person and no account, on any path. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPlaceholderId } from "../../server/intake/admission/placeholder-ids.ts";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { answer, newKey } from "../specification/operation-support.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { identify, sent } from "./subscription-support.ts";

const server: Server = await ownServer(() => server, { time: quick });
const placeholders = ["undefined", "null", "None", "NaN", "[object Object]", " ", "\t null "];

test("the list is that of absent values, and no id that an application may have", () => {
  expect(placeholders.filter(isPlaceholderId)).toEqual(placeholders);
  const ids = [
    "",
    "0",
    "guest",
    "anonymous",
    "id",
    "nulls",
    "none",
    "NULL",
    "none-1",
    "undefined@example.com",
    `${" ".repeat(99)}a`,
  ];
  expect(ids.filter(isPlaceholderId)).toEqual([]);
});

const usersOf = async (name: string) =>
  (await server.exported("users", name)).map(({ userId }) => userId).sort();

describe.each(placeholders)("%j", (id) => {
  test("is refused natively and in a file, as a user's and as an account's", async () => {
    const name = `Natively ${JSON.stringify(id)}`;
    const token = await sent(server, name, identify("ada"));
    const email = "x@example.com";
    const account = { id, name: "Nobody" };
    await expectError(
      await server.post("/identify", token, { userId: id, email }),
      "validation_error",
      "userId",
    );
    await expectError(
      await server.post("/track", token, { userId: id, event: "done" }),
      "validation_error",
      "userId",
    );
    const joining = await server.post("/identify", token, { userId: "bob", email, account });
    await expectError(joining, "validation_error", "account.id");
    const batch = [{ type: "identify", userId: id, email }, identify("eve")];
    expect(await (await server.post("/batch", token, { batch })).json()).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, name: "validation_error" }],
    });
    const file = join(server.dataDir, "placeholders.jsonl");
    const rows = [
      { userId: id, email },
      { userId: "kim", email },
    ];
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await server.command("import", file, "--type", "users", "--organization", name);
    expect(await usersOf(name)).toEqual(["ada", "eve", "kim"]);
    expect(await server.exported("accounts", name)).toEqual([]);
  });

  test("is the visitor's item on connected paths, with a warning, and rejected without one", async () => {
    const name = `Connected ${JSON.stringify(id)}`;
    const token = await sent(server, name, identify("ada"));
    const post = async (path: string, body: object) =>
      expect((await server.post(path, "api_key" in body ? undefined : token, body)).status).toBe(200);
    for (const anonymousId of ["pa", "pb"]) {
      await post("/v1/track", { anonymousId, event: "signup_started" });
      await post("/v1/identify", {
        anonymousId,
        userId: id,
        traits: { email: `${anonymousId}@example.com` },
      });
      await post("/v1/track", { anonymousId, userId: id, event: "report_created" });
      await post("/v1/group", { anonymousId, userId: id, groupId: id, traits: { name: "Nobody" } });
    }
    await post("/v1/track", { userId: id, event: "report_created" });
    await post("/v1/alias", { userId: id, previousId: "pa" });
    const properties = { distinct_id: id, $anon_distinct_id: "pa" };
    await post("/e/", { api_key: token, event: "clicked", properties });
    await post("/e/", {
      api_key: token,
      event: "$identify",
      properties: { ...properties, $set: { plan: "pro" } },
    });
    expect(await usersOf(name)).toEqual(["ada"]);
    const key = await newKey(server, name);
    await until("the warnings are counted", async () => {
      const { warnings } = await answer<{ warnings: { kind: string }[] }>(
        server,
        key,
        "/api/ingestion-warnings?kind=placeholder_id",
      );
      return warnings.length > 0;
    });
    // Each visitor is a person of its own once the application knows the user.
    for (const [anonymousId, userId] of [
      ["pa", "anna"],
      ["pb", "bob"],
    ])
      await post("/v1/identify", { anonymousId, userId, traits: {} });
    const events = await server.exported("events", name);
    const of = (user: string) => events.filter(({ userId }) => userId === user).map(({ event }) => event);
    expect([of("anna"), of("bob")].map((own) => own.sort())).toEqual([
      ["clicked", "report_created", "signup_started"],
      ["report_created", "signup_started"],
    ]);
    const users = await server.exported("users", name);
    expect(users.map(({ userId, email }) => `${userId} ${email}`).sort()).toEqual([
      "ada ada@example.com",
      "anna pa@example.com",
      "bob pb@example.com",
    ]);
    expect(await server.exported("accounts", name)).toEqual([]);
  });
});

test("an archive of Segment keeps such rows as the visitor's", async () => {
  const name = "An archive with placeholders";
  await sent(server, name, identify("ada"));
  const row = { userId: "undefined", event: "done", type: "track", timestamp: "2026-03-01T12:00:00Z" };
  const file = join(server.dataDir, "placeholder-archive.jsonl");
  const rows = [
    { ...row, messageId: "a", anonymousId: "pa" },
    { ...row, messageId: "b" },
  ];
  writeFileSync(file, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const told = await server.command("import", file, "--from", "segment", "--organization", name);
  expect(told).toContain("rejected   1");
  expect(await usersOf(name)).toEqual(["ada"]);
});
