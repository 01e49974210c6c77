/** Work with customers by a read key: what it may do, who stands in the audit log, and what stays with team
 * members who are signed in. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditLog, company } from "../people/support.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

let server: Server;
let ours: Awaited<ReturnType<typeof company>>;
/** Read keys: with the right to manage, and with that to read alone. */
let [managing, reading] = ["", ""];

beforeAll(async () => {
  server = await Server.shared();
  ours = await company(server, "By key");
  managing = await newKey("--right", "manage");
  reading = await newKey();
  for (const userId of ["ada", "bob"]) {
    const identify = { userId, email: `${userId}@example.com`, properties: {} };
    expect((await server.post("/identify", ours.token, identify)).status).toBe(201);
  }
  await server.ready();
});
afterAll(() => server.stop());

async function newKey(...options: string[]): Promise<string> {
  return (await server.command("key", "create", "--organization", ours.name, ...options)).trim();
}

function ask(
  method: string,
  path: string,
  body?: object,
  { key = managing, headers = {} }: { readonly key?: string; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function json<Answer>(method: string, path: string, body?: object, status = 200): Promise<Answer> {
  const response = await ask(method, path, body);
  const text = await response.text();
  expect([method, path, response.status, text]).toEqual([method, path, status, text]);
  return (status === 204 ? undefined : JSON.parse(text)) as Answer;
}

interface Made {
  readonly id: number;
}
const rule = { name: "Low", scope: { kind: "users" }, condition: { kind: "healthBelow", below: 40 } };

describe("a read key that may manage", () => {
  test("writes notes, tasks and contacts, and sets owners and reasons", async () => {
    const { id: note, ...written } = await json<Made>(
      "POST",
      "/api/users/ada/notes",
      { text: "said no" },
      201,
    );
    expect(written).toMatchObject({ createdBy: null });
    await json("PATCH", `/api/notes/${note}`, { text: "said yes" });
    expect(await json("GET", "/api/users/ada/notes")).toMatchObject({ notes: [{ text: "said yes" }] });
    const member = ours.viewer.id;
    const task = { title: "Call", assignee: member, due: "2027-03-31" };
    const { id } = await json<Made>("POST", "/api/users/ada/tasks", task, 201);
    expect(await json("GET", `/api/tasks?assignee=${member}`)).toMatchObject({ total: 1, tasks: [{ id }] });
    await json("PATCH", `/api/tasks/${id}`, { isDone: true });
    await json("POST", "/api/users/ada/contacts", { kind: "call" }, 204);
    await json("PATCH", "/api/users/ada/owner", { owner: member }, 204);
    await json("PATCH", "/api/users/ada/churn-reason", { reason: "price" }, 204);
    await json("DELETE", `/api/tasks/${id}`, undefined, 204);
    await server.exported("events", ours.name);
    const { contacts } = await json<{ contacts: { by: string }[] }>("GET", "/api/users/ada/contacts");
    expect(contacts.map(({ by }) => by)).toEqual([expect.stringMatching(/^read key \d+$/)]);
  });

  test("saves segments, alert rules and views, and the audit log names the key", async () => {
    const segment = { kind: "users", name: "Pilots", ids: ["ada"] };
    const { id } = await json<Made>("POST", "/api/segments", segment, 201);
    await json("PATCH", `/api/segments/${id}`, { name: "All pilots" });
    const { id: saved } = await json<Made>("POST", "/api/alert-rules", rule, 201);
    await json("PUT", `/api/alert-rules/${saved}`, { ...rule, cap: 3 });
    await json("POST", `/api/alert-rules/${saved}/pause`);
    await json("POST", "/api/views", { page: "users", name: "Active", query: "state=active" }, 201);
    expect((await ask("PATCH", "/api/alerts/999", { verdict: "handled" })).status).toBe(404);
    const log = await auditLog(ours.owner);
    const byKey = log.filter(({ detail }) => /^read key \d+$/.test(String(detail.by)));
    expect(byKey.map(({ action }) => action).toSorted()).toEqual([
      "alert_rule.changed",
      "alert_rule.changed",
      "alert_rule.created",
      "churn_reason.changed",
      "contact.created",
      "note.changed",
      "note.created",
      "owner.changed",
      "segment.changed",
      "segment.created",
      "task.changed",
      "task.created",
      "task.deleted",
      "view.created",
    ]);
    expect(byKey.map(({ person }) => person)).toEqual(byKey.map(() => null));
  });

  test("has no `me`", async () => {
    for (const path of ["/api/tasks?assignee=me", "/api/alerts?assignee=me", "/api/users?owner=me"]) {
      await expectError(await ask("GET", path), "validation_error", "read key");
    }
    const mine = { kind: "users", name: "Mine", filter: { owner: "me" } };
    await expectError(await ask("POST", "/api/segments", mine), "validation_error", "owner");
  });

  test("names no organization, and has the limits of bodies and formats", async () => {
    const elsewhere = `/api/tasks?organization=${ours.owner.organization}`;
    await expectError(await ask("GET", elsewhere), "validation_error", "organization is no parameter");
    await expectError(await ask("GET", "/api/tasks?format=csv"), "validation_error", "format is not valid");
    const long = { text: "x".repeat(100_000) };
    await expectError(await ask("POST", "/api/users/ada/notes", long), "validation_error");
  });
});

describe("what a read key may not do", () => {
  test("a key that reads changes nothing, and sees what a viewer sees", async () => {
    const { owner, viewer, at } = ours;
    const hook = { kind: "webhook", name: "hook", address: "https://hook.invalid/secret-path" };
    await owner.json("POST", at("/api/destinations"), hook, 201);
    for (const path of [
      "destinations",
      "deliveries",
      "alert-rules",
      "segments",
      "tasks",
      "views",
      "webhooks",
    ]) {
      const seen = await (await ask("GET", `/api/${path}`, undefined, { key: reading })).json();
      expect([path, seen]).toEqual([path, await viewer.json("GET", at(`/api/${path}`))]);
    }
    expect(await (await ask("GET", "/api/destinations")).text()).not.toContain("secret-path");
    const note = { text: "by a reader" };
    const refused = await ask("POST", "/api/users/ada/notes", note, { key: reading });
    await expectError(refused, "forbidden", "This read key has no right to manage.");
  });

  test("destinations, members, keys and an own digest need a session, and the answer says so", async () => {
    for (const [method, path, body] of [
      ["POST", "/api/destinations", { kind: "webhook", name: "n", address: "https://n.invalid/" }],
      ["GET", "/api/members", undefined],
      ["POST", "/api/read-keys", { name: "more", rights: ["manage"] }],
      ["PUT", "/api/own-digest", { period: "daily" }],
    ] as const) {
      await expectError(await ask(method, path, body), "invalid_write_key", "This path takes no read key.");
    }
    const without = await fetch(`${server.url}/api/tasks`);
    await expectError(without, "invalid_write_key", "sign in, or send a read key");
  });

  test("a cookie gives nothing to a request with a key, and a change by cookie comes from a page", async () => {
    const { owner, at } = ours;
    const path = "/api/users/bob/notes";
    const note = { text: "forged" };
    const unmarked = { "X-Rekindle": "" };
    await expectError(await owner.ask("POST", at(path), note, unmarked), "forbidden", "page of this service");
    const wrong = { Authorization: "Bearer rr-00000000000000000000000000000000" };
    await expectError(await owner.ask("POST", path, note, { ...wrong, ...unmarked }), "invalid_write_key");
    await expectError(await owner.ask("POST", at(path), note, wrong), "invalid_write_key", "read key");
    const read = { Authorization: `Bearer ${reading}` };
    await expectError(await owner.ask("POST", path, note, read), "forbidden", "This read key");
    const Origin = "https://evil.example";
    await expectError(await ask("POST", path, note, { headers: { Origin } }), "forbidden", "page of this");
    const { notes } = await owner.json<{ notes: object[] }>("GET", at(path));
    expect(notes).toEqual([]);
  });

  test("a revoked key is refused at once, and a key has 100 requests a second", async () => {
    const busy = await newKey("--name", "busy");
    const statuses: number[] = [];
    while (!statuses.includes(429)) {
      const asked = Array.from({ length: 130 }, () => ask("GET", "/api/tasks", undefined, { key: busy }));
      statuses.push(...(await Promise.all(asked)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(100);
    expect((await ask("GET", "/api/tasks")).status).toBe(200);
    const list = await server.command("key", "list", "--organization", ours.name);
    const id =
      list
        .split("\n")
        .find((line) => line.includes("busy"))
        ?.split(" ")[0] ?? "";
    await server.command("key", "revoke", id);
    await expectError(
      await ask("GET", "/api/tasks", undefined, { key: busy }),
      "invalid_write_key",
      "read key",
    );
  });
});
