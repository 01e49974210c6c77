/** Segments of retention cells over HTTP: they have the users whom the cell shows, and keep them. */

import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { segmentLimits } from "../../contract/segments/segments.ts";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { auditLog, company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";

const server: Server = await ownServer(() => server, { time: quick });
let people: Awaited<ReturnType<typeof company>>;
const excluded = "user 3";
/** All of them came 10 days ago. Every third user was active 3 days later. */
const users = Array.from({ length: 12 }, (_, n) => ({
  id: `user ${n}`,
  plan: n % 2 === 0 ? "pro" : "free",
  isBack: n % 3 === 0,
}));
const counted = users.filter(({ id }) => id !== excluded);
const cohort = formatDay(todayIn(quietZone) - 10);
const cellAt = (at: number) => `period=day&cohort=${cohort}&at=${at}`;
const cell = cellAt(3);

beforeAll(async () => {
  people = await company(server, "Cells", "--timezone", quietZone);
  await sendAll(server, people.token, [
    ...users.flatMap(({ id, plan, isBack }) => [
      identify(id, { email: `${id.replace(" ", ".")}@example.com`, properties: { plan } }),
      track(id, "opened", daysAgo(10)),
      ...(isBack ? [track(id, "opened", daysAgo(7))] : []),
    ]),
    identify("other"),
    ...[9, 7].map((days) => track("other", "opened", daysAgo(days))),
  ]);
  await server.command("exclude", "add", "--organization", people.name, "--user", excluded);
  await server.exported("events", people.name);
});

function ledgerOf({ dataDir }: Server) {
  const absent = () => Promise.reject(new Error("is not asked for here"));
  return remoteLedger(join(dataDir, "control.sock"), { read: absent, snapshot: absent });
}

type Saved = RouteAnswer<"POST /api/retention/segment">;
const at = (query: string) => `${people.at("/api/retention/segment")}&${query}`;
const save = (name: string, query: string) => people.member.json<Saved>("POST", at(query), { name }, 201);

async function membersOf(segment: number): Promise<string[]> {
  const path = `${people.at("/api/users")}&segment=${segment}`;
  const answer = await people.viewer.json<RouteAnswer<"GET /api/users">>("GET", path);
  return answer.users.map(({ userId }) => userId).sort();
}

const idsOf = (some: readonly { readonly id: string }[]) => some.map(({ id }) => id).sort();

test("a segment of a cell has those who were active then, or those who were not", async () => {
  const back = counted.filter(({ isBack }) => isBack);
  const saved = await save(" Back on day 3 ", `${cell}&retained=true`);
  expect(saved).toMatchObject({ name: "Back on day 3", kind: "users", filter: null, fixed: back.length });
  expect(saved.createdBy).toBe("Cells member");
  expect(await membersOf(saved.id)).toEqual(idsOf(back));
  const lost = await save("Not back", `${cell}&retained=false`);
  expect(await membersOf(lost.id)).toEqual(idsOf(counted.filter(({ isBack }) => !isBack)));
  const { segments } = await people.viewer.json<RouteAnswer<"GET /api/segments">>(
    "GET",
    people.at("/api/segments"),
  );
  expect(segments.find(({ id }) => id === saved.id)).toEqual(saved);
  const summaries = (await auditLog(people.owner)).map(({ summary }) => summary);
  expect(summaries).toContain("Saved the segment Back on day 3 of users");
});

test("of a split it has the users of the group, and within a segment only members of it", async () => {
  const pro = counted.filter(({ plan }) => plan === "pro");
  const split = await save("Pro", `${cell}&retained=false&trait=plan&kind=value&value=pro`);
  expect(await membersOf(split.id)).toEqual(idsOf(pro.filter(({ isBack }) => !isBack)));
  const inside = await save("Pro within", `${cellAt(0)}&segment=${split.id}`);
  expect(await membersOf(inside.id)).toEqual(await membersOf(split.id));
});

test("its members stay when the cell has others", async () => {
  const { id } = await save("As it was", `${cell}&retained=true`);
  const before = await membersOf(id);
  await sendAll(server, people.token, [track("user 1", "opened", daysAgo(7))]);
  await server.exported("events", people.name);
  const now = await save("As it is", `${cell}&retained=true`);
  expect(await membersOf(now.id)).toEqual([...before, "user 1"].sort());
  expect(await membersOf(id)).toEqual(before);
});

test("is refused for a cell without users, a taken name, and a group that the split does not have", async () => {
  await save("Taken", `${cell}&retained=false`);
  const refusal = async (name: string, query: string) => {
    const response = await people.member.ask("POST", at(query), { name });
    return [response.status, ((await response.json()) as { message: string }).message];
  };
  expect(await refusal("Empty", "cohort=1990-01-01&at=3")).toEqual([
    400,
    "This cell has no users, so there is nothing to save.",
  ]);
  expect(await refusal("Taken", cell)).toEqual([
    400,
    "name is taken: there is a segment called Taken already.",
  ]);
  expect(await refusal("Group", `${cell}&kind=none`)).toEqual([
    400,
    "kind is not valid: send all, or a trait.",
  ]);
  const long = "x".repeat(segmentLimits.nameCharacters + 1);
  expect((await refusal(long, cell))[0]).toBe(400);
});

test("is saved by members and by keys that may manage, and by no viewer and no key that reads", async () => {
  expect((await people.viewer.ask("POST", at(cell), { name: "Mine" })).status).toBe(403);
  const withKey = async (...rights: string[]) => {
    const key = await server.command("key", "create", "--organization", people.name, ...rights);
    const headers = { Authorization: `Bearer ${key.trim()}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ name: `By a key ${rights.length}` });
    const response = await fetch(`${server.url}/api/retention/segment?${cell}`, {
      method: "POST",
      headers,
      body,
    });
    return response.status;
  };
  expect([await withKey(), await withKey("--right", "manage")]).toEqual([403, 201]);
});

test("is refused when the organization has as many segments as it may have", async () => {
  const { segments } = await people.member.json<RouteAnswer<"GET /api/segments">>(
    "GET",
    people.at("/api/segments"),
  );
  const ledger = ledgerOf(server);
  const content = { filter: { state: "active" } } as const;
  for (let n = segments.length; n < segmentLimits.perOrganization; n += 1) {
    const wanted = { kind: "users", name: `Segment ${n}`, content } as const;
    await ledger.segments.add(people.organization, wanted, commandLine, Date.now());
  }
  const response = await people.member.ask("POST", at(cell), { name: "One more" });
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining("There are 200 segments already"),
  ]);
});
