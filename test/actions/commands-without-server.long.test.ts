/** Commands of alerts, rules, destinations and work while no server runs: they change the ledger of the data
 * folder themselves. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printedBy } from "../printed-by.ts";
import { rekindle as run } from "../server.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-alone-"));
const of = ["--organization", "Alone"];
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const rekindle = (...words: string[]) => printedBy(words, () => run(dataDir, ...words, ...of));

test("rules, destinations, notes and contacts are saved, and refusals have their reasons", async () => {
  await printedBy([], () => run(dataDir, "organization", "create", "Alone"));
  const users = join(dataDir, "users.csv");
  writeFileSync(users, "userId,email\nada,ada@example.com\n");
  await rekindle("import", users);
  const events = join(dataDir, "events.jsonl");
  const properties = {
    subscriptionId: "s1",
    plan: "Team",
    amount: 7_000,
    currency: "USD",
    interval: "month",
  };
  const timestamp = new Date(Date.now() - 86_400_000).toISOString();
  writeFileSync(
    events,
    JSON.stringify({ userId: "ada", event: "subscription_started", timestamp, properties }),
  );
  await rekindle("import", events);
  const address = "https://hooks.example.com/rekindle";
  const add = ["destination", "create", "--name", "Hooks", "--kind", "webhook", "--address"];
  expect(await rekindle(...add, address)).toMatch(/^secret +whsec_/m);
  await rekindle("alert-rule", "create", "--template", "high-risk", "--destination", "Hooks");
  expect(await rekindle("alert-rule", "list")).toContain("Account enters high risk");
  // An export loads the imported rows. Then the command asks an engine of its own for the MRR of the top
  // payer.
  await rekindle("export", "subscriptions");
  const drawn = ["--template", "payment-failed", "--scope", "users", "--hold-out", "0.2", "--json"];
  expect(JSON.parse(await rekindle("alert-rule", "create", ...drawn))).toMatchObject({
    exemptions: { mrrAbove: 7_000 },
  });
  await rekindle("note", "add", "Wants SSO", "--user", "ada");
  await rekindle("contact", "add", "ada", "--kind", "call");
  await rekindle("churn-reason", "set", "Too expensive", "--user", "ada");
  await rekindle("segment", "create", "Everybody", "--filter", `{"riskBand": "high"}`);
  const changed = await rekindle("segment", "change", "Everybody", "--name", "All users");
  expect(changed).toMatch(/^name +All users$/m);
  expect(await rekindle("segment", "list")).toMatch(/\n\d+ +users +All users +\{"riskBand":"high"\}/);
  expect(await rekindle("digest", "--period", "daily")).toMatch(/^hasModel +false$/m);
  await rekindle("settings", "change", "--churn-horizon-days", "14");
  expect(await rekindle("settings", "history")).toContain("churnHorizonDays");
  const { id } = JSON.parse(
    await rekindle("exclusion", "create", "--kind", "user", "--value", "x", "--json"),
  );
  expect(JSON.parse(await rekindle("api", "GET", "/api/exclusions"))).toMatchObject({ rules: [{ id }] });
  await rekindle("exclusion", "delete", String(id));
  await rekindle("organization", "change", "--timezone", "Europe/Paris");
  expect(await rekindle("organization")).toMatch(/^timezone +Europe\/Paris$/m);
  expect(await rekindle("user", "list", "--csv", "userId,email")).toBe(
    "userId,email\r\nada,ada@example.com\r\n",
  );
  expect(await rekindle("alert", "list", "--json")).toBe('{"total":0,"alerts":[]}\n');
  expect(await rekindle("user", "contacts", "ada")).toMatch(/call +command line +ada/);
  expect(JSON.parse(await rekindle("export", "users"))).toMatchObject({
    properties: { churnReason: "Too expensive" },
  });
  const refused = await run(dataDir, ...add, "http://10.0.0.1/", ...of);
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("https")]);
  const test = await run(dataDir, "destination", "test", "Hooks", ...of);
  expect([test.exitCode, test.stderr]).toEqual([1, expect.stringContaining("the service does not run")]);
});

test("a segment that a rule uses is not deleted, and tasks are listed for its members", async () => {
  const silent = [
    "--template",
    "payment-failed",
    "--scope",
    "users",
    "--name",
    "Unpaid",
    "--segment",
    "All users",
  ];
  await rekindle("alert-rule", "create", ...silent);
  const used = await run(dataDir, "segment", "delete", "All users", ...of);
  expect([used.exitCode, used.stderr]).toEqual([
    1,
    "rekindle: This segment is used by the alert rule Unpaid: change or delete that rule first.\n",
  ]);
  await rekindle("segment", "create", "Ada", "--ids", join(dataDir, "users.csv"));
  await rekindle("task", "add", "Call back", "--user", "ada");
  expect(await rekindle("task", "list", "--segment", "Ada")).toContain("Call back");
  expect(await rekindle("task", "list", "--segment", "All users")).not.toContain("Call back");
});
