/** Controls of a hold-out over HTTP: to-call lists, the overview and the win-back list do not name them
 * before their horizon is over. */

import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";

const organization = "Holding";
const server: Server = await ownServer(() => server, { time: quick });
let olga: Awaited<ReturnType<typeof joined>>;
let ledger: SharedLedger;
let token = "";
const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const today = todayIn(quietZone);

beforeAll(async () => {
  token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  const absent = () => Promise.reject(new Error("is not asked for here"));
  ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  await sendAll(server, token, [
    ...["ada", "bob", "cal", "dee"].map((who) => identify(who)),
    ...["ada", "bob"].flatMap((who) =>
      Array.from({ length: 20 }, (_, week) => track(who, "opened", daysAgo(33 + week * 3))),
    ),
    // Their health falls sharply within the week.
    ...["cal", "dee"].flatMap((who) =>
      Array.from({ length: 60 }, (_, day) => track(who, "opened", daysAgo(10 + day))),
    ),
  ]);
  await server.exported("events", organization);
  for (const days of [9, 0]) {
    const day = formatDay(today - days);
    await server.command("score", "--organization", organization, "--as-of", day, "--even-if-stopped");
  }
  const rule = { name: "Held out", scope: { kind: "users" }, condition: { kind: "riskBand", band: "high" } };
  await olga.json("POST", at("/api/alert-rules"), { ...rule, holdOutShare: 0.9 }, 201);
});

/** Fires for a user until the draw makes it a control. Its account number is that of no account. */
async function drawControl(userId: string, day: number): Promise<void> {
  const number = (await ledger.findUser(olga.organization, userId))?.user.number ?? 0;
  const [toDecide] = await ledger.ruleDecisions.toDecide(olga.organization);
  if (toDecide === undefined) throw new Error("The rule is not decided.");
  const { version, watermark } = toDecide;
  const entity = { kind: "user", number } as const;
  const draw = { secret: "0", experiment: version.experiment };
  // Another process's ledger has no properties of its own that could be copied.
  const ruleDecisions = new Proxy(ledger.ruleDecisions, {
    get: (all, name) => (name === "holdOut" ? async () => draw : Reflect.get(all, name)),
  });
  const drawing = new Proxy(ledger, {
    get: (all, name) => (name === "ruleDecisions" ? ruleDecisions : Reflect.get(all, name)),
  });
  await commitChunk(
    drawing,
    { ...version, holdOutShare: 1 },
    {
      organization: olga.organization,
      rule: version.rule,
      version: version.version,
      after: watermark.sequence,
      horizonDays: 28,
      next: { decidedThrough: day, part: null, cursor: null },
      states: [],
      closed: [],
      insideBySettings: 0,
      fired: [
        {
          entity,
          day,
          eventId: null,
          before: null,
          after: null,
          reasons: [],
          risk: 0.9,
          expectedLoss: null,
          account: null,
          isExempt: false,
        },
      ],
    },
    {
      nowMs: Date.now(),
      todayMs: 0,
      nextMorningMs: Date.now(),
    },
  );
}

const untilOf = async () => {
  const { users } = await olga.json<{ users: { userId: string; controlUntil: string | null }[] }>(
    "GET",
    at("/api/users?sort=userId&order=ascending"),
  );
  return users.map(({ userId, controlUntil }) => [userId, controlUntil]);
};
const winBack = async () => {
  const { churned } = await olga.json<{ churned: { id: string }[] }>(
    "GET",
    at("/api/win-back?kind=user&days=30"),
  );
  return churned.map(({ id }) => id).toSorted();
};

test("a control is in no alert and no win-back list, and other lists say until when", async () => {
  expect(await winBack()).toEqual(["ada", "bob"]);
  await drawControl("ada", today);
  const until = formatDay(today + 27);
  expect(await winBack()).toEqual(["bob"]);
  expect(await untilOf()).toEqual([
    ["ada", until],
    ["bob", null],
    ["cal", null],
    ["dee", null],
  ]);
  expect(await olga.json("GET", at("/api/users/ada"))).toMatchObject({ controlUntil: until });
  expect(await olga.json("GET", at("/api/alerts?state=all"))).toMatchObject({ total: 0 });
});

test("a control is not to be called, neither in the list nor first", async () => {
  const called = async () => {
    const { users } = await olga.json<{ users: { userId: string }[] }>(
      "GET",
      at("/api/users?toCall=true&sort=userId&order=ascending"),
    );
    const { rows } = await olga.json<{ rows: { userId: string }[] }>("GET", at("/api/call-list"));
    return [users.map(({ userId }) => userId), rows.map(({ userId }) => userId).toSorted()];
  };
  expect(await called()).toEqual([
    ["cal", "dee"],
    ["cal", "dee"],
  ]);
  await drawControl("cal", today);
  expect(await called()).toEqual([["dee"], ["dee"]]);
  expect(await olga.json("GET", `${at("/api/call-list")}&list=set_aside`)).toMatchObject({
    rows: [{ userId: "cal", controlUntil: formatDay(today + 27) }],
  });
});

test("lists of scores, the biggest drops and members of an account say until when, also as CSV", async () => {
  const until = formatDay(today + 27);
  type Named = { id: string; controlUntil: string | null };
  const controlsIn = (rows: readonly Named[]) =>
    rows.flatMap((row) => (row.controlUntil === null ? [] : [[row.id, row.controlUntil]])).toSorted();
  const { scores } = await olga.json<{ scores: Named[] }>("GET", at("/api/scores/users"));
  const both = [
    ["ada", until],
    ["cal", until],
  ];
  expect(controlsIn(scores)).toEqual(both);
  const { movers } = await olga.json<{ movers: Named[] }>("GET", at("/api/movers?kind=user"));
  expect(movers.map(({ id }) => id)).toContain("dee");
  expect(controlsIn(movers)).toEqual(both);
  await sendAll(
    server,
    token,
    ["cal", "dee"].map((who) => identify(who, { account: { id: "acme", name: "Acme" } })),
  );
  await server.exported("events", organization);
  type Members = { userId: string; controlUntil: string | null }[];
  const { members } = await olga.json<{ members: Members }>("GET", at("/api/accounts/acme/members"));
  const { users } = await olga.json<{ users: Members }>("GET", at("/api/accounts/acme"));
  for (const listed of [members, users]) {
    const found = listed.map(({ userId, controlUntil }) => [userId, controlUntil]);
    expect(found.toSorted()).toEqual([
      ["cal", until],
      ["dee", null],
    ]);
  }
  for (const path of ["/api/scores/users", "/api/movers?kind=user", "/api/accounts/acme/members"]) {
    const response = await olga.ask("GET", at(`${path}${path.includes("?") ? "&" : "?"}format=csv`));
    const lines = (await response.text()).trim().split(/\r?\n/);
    const column = lines[0]?.split(",").indexOf("controlUntil") ?? -1;
    const ofCal = lines.find((line) => /(^|,)cal(,|$)/.test(line));
    expect([path, ofCal?.split(",")[column]]).toEqual([path, until]);
  }
});

test("after its horizon it is named again", async () => {
  await drawControl("bob", today - 28);
  expect(await winBack()).toEqual(["bob"]);
  expect(await olga.json("GET", at("/api/alerts?state=all"))).toMatchObject({ total: 1 });
});
