/** The limits of an installation: rates that owners may set, and the number of members. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { Browser, codeIn, joined, password, type SessionBody } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake", env: { MAX_REQUESTS_PER_SECOND: "500" } });
});
afterAll(() => server.stop());

interface Fields {
  readonly requestsPerSecond: number;
  readonly itemsPerSecond: number;
  readonly maxRequestsPerSecond: number;
  readonly maxItemsPerSecond: number;
}

test("owners set rates up to the installation's maximum, which the answer contains", async () => {
  const first = await joined(server, "default", "owner", "Rated");
  const founded = { name: "Founded", timezone: "UTC" };
  const { id } = await first.json<{ id: number }>("POST", "/api/organizations", founded, 201);
  const at = `/api/organization?organization=${id}`;
  expect(await first.json<Fields>("GET", at)).toMatchObject({
    requestsPerSecond: 500,
    maxRequestsPerSecond: 500,
    itemsPerSecond: 10_000,
    maxItemsPerSecond: 10_000,
  });
  for (const beyond of [{ requestsPerSecond: 501 }, { itemsPerSecond: 10_001 }]) {
    const [field = "", rate = 0] = Object.entries(beyond)[0] ?? [];
    await expectError(
      await first.ask("PATCH", at, beyond),
      "validation_error",
      `${field} may be ${rate - 1}`,
    );
  }
  await first.json("PATCH", at, { requestsPerSecond: 400, itemsPerSecond: 10_000 });
  await first.json("PATCH", at, { requestsPerSecond: 500, itemsPerSecond: null });
});

test("the command line may give more, which the owner may keep or lower, and not raise", async () => {
  await server.organization("Given");
  await server.command("organization", "set", "Given", "--rate-limit", "3000");
  const owner = await joined(server, "Given", "owner", "Given owner");
  const at = `/api/organization?organization=${owner.organization}`;
  expect(await owner.json<Fields>("GET", at)).toMatchObject({
    requestsPerSecond: 3_000,
    maxRequestsPerSecond: 3_000,
    maxItemsPerSecond: 30_000,
  });
  await expectError(await owner.ask("PATCH", at, { requestsPerSecond: 3_001 }), "validation_error");
  await owner.json("PATCH", at, { requestsPerSecond: 3_000, name: "Given more" });
  expect(await owner.json<Fields>("PATCH", at, { requestsPerSecond: 2_000 })).toMatchObject({
    maxRequestsPerSecond: 2_000,
  });
  await expectError(await owner.ask("PATCH", at, { requestsPerSecond: 3_000 }), "validation_error", "2000");
});

test("a wrong MAX_REQUESTS_PER_SECOND stops the start, and says what to set", async () => {
  const env = { MAX_REQUESTS_PER_SECOND: "many" };
  await expect(Server.start({ role: "intake", env })).rejects.toThrow("MAX_REQUESTS_PER_SECOND");
});

test("an invitation to an organization that is full by now is refused, and its link works when there is room", async () => {
  await server.organization("Full");
  const owner = await joined(server, "Full", "owner", "Full owner");
  const invited = ["member", "invite", "late@example.com", "--organization", "Full"] as const;
  const code = codeIn(await server.command(...invited), "invitation");
  const ledger = new Database(join(server.dataDir, "ledger.sqlite"));
  ledger.run("PRAGMA busy_timeout = 180000");
  ledger.run(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
     INSERT INTO people (email, name, password_hash, created_at_ms)
     SELECT 'full' || n || '@example.com', 'Full ' || n, '-', 0 FROM numbers`,
  );
  ledger.run(
    `INSERT INTO memberships (organization, person, role, joined_at_ms)
     SELECT ?, id, 'viewer', 0 FROM people WHERE email LIKE 'full%@example.com' AND password_hash = '-'`,
    [owner.organization],
  );
  ledger.close();
  const late = new Browser(server);
  const accept = { code, name: "Late", password };
  await expectError(
    await late.ask("POST", "/api/invitations/accept", accept),
    "validation_error",
    "1000 members",
  );
  await server.command("member", "remove", "full1@example.com", "--organization", "Full");
  const session = await late.json<SessionBody>("POST", "/api/invitations/accept", accept, 201);
  expect(session.organizations.map(({ name }) => name)).toEqual(["Full"]);
});
