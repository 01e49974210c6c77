/** Saved views: shared by an organization's members, changed by managers, and invisible to others. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { viewLimits } from "../../contract/api/saved-views.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { inLedger } from "../stored.ts";
import { auditLog, company } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
});
afterAll(() => server.stop());

interface View {
  readonly id: number;
  readonly page: string;
  readonly name: string;
  readonly query: string;
  readonly createdBy: string | null;
}

const atRisk = { page: "users", name: "At risk", query: "healthBand=at_risk&sort=risk" };

test("a view is saved, seen by viewers, renamed, changed and deleted, and each is in the audit log", async () => {
  const { owner, viewer, at } = await company(server, "Views");
  const saved = await owner.json<View>("POST", at("/api/views"), { ...atRisk, name: " At risk " }, 201);
  expect(saved).toMatchObject({ ...atRisk, createdBy: "Views owner" });
  await owner.json("POST", at("/api/views"), { ...atRisk, page: "accounts" }, 201);
  const { views } = await viewer.json<{ views: View[] }>("GET", at("/api/views"));
  expect(views.map(({ page, name, query }) => ({ page, name, query }))).toEqual([
    { ...atRisk, page: "accounts" },
    atRisk,
  ]);
  const one = at(`/api/views/${saved.id}`);
  expect(await owner.json<View>("PATCH", one, { name: "Leaving" })).toMatchObject({ name: "Leaving" });
  expect(await owner.json<View>("PATCH", one, { query: "riskBand=high" })).toMatchObject({
    name: "Leaving",
    query: "riskBand=high",
  });
  await owner.json("PATCH", one, { name: "Leaving" });
  await owner.done("DELETE", one);
  await expectError(await owner.ask("DELETE", one), "not_found", "There is no such view.");
  const log = await auditLog(owner);
  expect(log.slice(0, 5).map(({ action, summary }) => [action, summary])).toEqual([
    ["view.deleted", "Deleted the view Leaving of users"],
    ["view.changed", "Changed the view Leaving of users"],
    ["view.changed", "The view At risk of users is called Leaving now"],
    ["view.created", "Saved the view At risk of accounts"],
    ["view.created", "Saved the view At risk of users"],
  ]);
});

test("a view from before a filter was renamed has the filter's name of today", async () => {
  const { owner, viewer, at } = await company(server, "Older views");
  const { id } = await owner.json<View>("POST", at("/api/views"), atRisk, 201);
  await inLedger(
    server.dataDir,
    (run) => run`UPDATE views SET query = 'colour=at_risk&band=high&sort=risk' WHERE id = ${id}`,
  );
  const { views } = await viewer.json<{ views: View[] }>("GET", at("/api/views"));
  expect(views.map(({ query }) => query)).toEqual(["healthBand=at_risk&riskBand=high&sort=risk"]);
  const sent = { page: "users", name: "Sent by an older client", query: "colour=watch" };
  expect((await owner.json<View>("POST", at("/api/views"), sent, 201)).query).toBe("healthBand=watch");
});

test("viewers change nothing", async () => {
  const { owner, viewer, at } = await company(server, "Looking");
  const { id } = await owner.json<View>("POST", at("/api/views"), atRisk, 201);
  for (const [method, path, body] of [
    ["POST", "/api/views", atRisk],
    ["PATCH", `/api/views/${id}`, { name: "mine" }],
    ["DELETE", `/api/views/${id}`, undefined],
  ] as const) {
    const response = await viewer.ask(method, at(path), body);
    await expectError(response, "forbidden", "viewer, has no right");
  }
});

test("a view of another organization is answered as one that does not exist", async () => {
  const ours = await company(server, "Our views");
  const theirs = await company(server, "Their views");
  const { id } = await theirs.owner.json<View>("POST", theirs.at("/api/views"), atRisk, 201);
  for (const [method, body] of [["PATCH", { name: "ours" }], ["DELETE"]] as const) {
    const answers = [];
    for (const wanted of [String(id), "987654321", "0", "x", "-1"]) {
      const response = await ours.owner.ask(method, ours.at(`/api/views/${wanted}`), body);
      answers.push(`${response.status} ${await response.text()}`);
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toStartWith("404");
  }
  expect(await ours.owner.json("GET", ours.at("/api/views"))).toEqual({ views: [] });
  expect((await ours.owner.ask("GET", theirs.at("/api/views"))).status).toBe(404);
  const { views } = await theirs.owner.json<{ views: View[] }>("GET", theirs.at("/api/views"));
  expect(views).toEqual([expect.objectContaining({ ...atRisk, id })]);
});

test("a name is had once on a page, and what may name a user is not kept", async () => {
  const { owner, at } = await company(server, "Names of views");
  await owner.json("POST", at("/api/views"), atRisk, 201);
  const other = await owner.json<View>("POST", at("/api/views"), { ...atRisk, name: "Other" }, 201);
  await expectError(await owner.ask("POST", at("/api/views"), atRisk), "validation_error", "name is taken");
  const renamed = await owner.ask("PATCH", at(`/api/views/${other.id}`), { name: "At risk" });
  await expectError(renamed, "validation_error", "name is taken");
  const search = { ...atRisk, name: "Ada", query: "search=ada%40example.com" };
  await expectError(
    await owner.ask("POST", at("/api/views"), search),
    "validation_error",
    "leave out search",
  );
  const traits = (said: unknown) => `traits=${encodeURIComponent(JSON.stringify(said))}`;
  const byPlan = { trait: "plan", match: "is", value: "pro" };
  for (const query of [
    "trait=Email&match=is&value=ada%40example.com",
    traits([byPlan, { trait: "Name", match: "contains", value: "Ada" }]),
    traits({ trait: "name" }),
    "traits=plan",
  ]) {
    const naming = { ...atRisk, name: "Ada", query };
    await expectError(await owner.ask("POST", at("/api/views"), naming), "validation_error", "query is not");
  }
  const kept = { ...atRisk, name: "Pro", query: traits([byPlan, { trait: "name", match: "isEmpty" }]) };
  await owner.json("POST", at("/api/views"), kept, 201);
  for (const wrong of [
    { ...atRisk, name: " " },
    { ...atRisk, page: "retention" },
    { ...atRisk, query: "a#b" },
    { ...atRisk, query: "x".repeat(viewLimits.queryCharacters + 1) },
  ]) {
    await expectError(await owner.ask("POST", at("/api/views"), wrong), "validation_error");
  }
});
