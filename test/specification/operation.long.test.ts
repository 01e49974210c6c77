/** Operation of the service: health pages, the rebuild after a change of timezone, and clear refusals. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { activeUsers } from "../../server/analytics/active-users.ts";
import { rekindle, Server } from "../server.ts";
import { becomes, until } from "../until.ts";
import { head, RawConnection } from "./raw.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server.stop());

/** The days with any activity, as figures show them, of 2026-05-10 to 2026-05-20. */
async function activeDays(organization: string): Promise<string[]> {
  const list = await server.command("organization", "list");
  const id = list
    .split("\n")
    .find((row) => row.includes(` ${organization} `))
    ?.split(" ")[0];
  const toDay = Date.UTC(2026, 4, 20) / 86_400_000;
  const asked = { organization: Number(id), passiveEvents: [], toDay, days: 11 };
  const days = await activeUsers(server.warehouse(), asked);
  return days
    .filter(({ daily }) => daily > 0)
    .map(({ day }) => new Date(day * 86_400_000).toISOString().slice(0, 10));
}

async function organizationWithAnEvent(name: string): Promise<string> {
  const token = await server.organization(name);
  await server.post("/identify", token, { userId: "u1", email: "ada@example.com" });
  await server.post("/track", token, { userId: "u1", event: "opened", timestamp: "2026-05-14T23:30:00Z" });
  await server.exported("events", name);
  return token;
}

test("a change of timezone moves earlier events to their new days, by itself", async () => {
  const token = await organizationWithAnEvent("moving");
  expect(await activeDays("moving")).toEqual(["2026-05-14"]);
  await server.command("organization", "set", "moving", "--timezone", "Asia/Tokyo");
  await server.post("/track", token, { userId: "u1", event: "opened", timestamp: "2026-05-18T23:30:00Z" });
  await becomes(() => activeDays("moving"), ["2026-05-15", "2026-05-19"]);
  expect(await server.command("doctor")).toContain("moving: ledger, events and rollups agree");
});

test("rekindle rebuild computes everything again, with the server running, and nothing changes", async () => {
  await organizationWithAnEvent("rebuilt");
  await server.command("rebuild", "--organization", "rebuilt");
  expect(await activeDays("rebuilt")).toEqual(["2026-05-14"]);
  expect(await server.command("doctor")).toContain("rebuilt: ledger, events and rollups agree");
});

test("the health pages answer, and say nothing about the inside", async () => {
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const readiness = async () => {
    const answer = await fetch(`${server.url}/readyz`);
    return [answer.status, await answer.json()];
  };
  // Analysis is reported as starting when it takes more than two seconds to answer.
  await becomes(readiness, [200, { writes: "open", analysis: { state: "ready", loading: "ok" } }]);
});

test("the metrics explain every name once, and count answers by route and status", async () => {
  const token = await server.organization("measured");
  await server.post("/track", token, { userId: "nobody", event: "opened" });
  // Without those of analysis where it takes more than two seconds to answer.
  const text = await until(
    "the metrics have those of analysis",
    async () => (await fetch(`${server.url}/metrics`)).text(),
    (metrics) => /^rekindle_rows_loaded \d/m.test(metrics),
  );
  const explained = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
  expect(new Set(explained).size).toBe(explained.length);
  expect(text).toMatch(/^rekindle_write_answers_total\{route="track",status="404"\} [1-9]/m);
});

test("a second analysis process beside a running one is refused, and the first goes on", async () => {
  const first = server.analysisPid();
  const second = await rekindle(server.dataDir, "serve", "--role", "analysis");
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain("is in use by another analysis process: stop that one.");
  await server.ready();
  expect(server.analysisPid()).toBe(first);
});

test("a port that is taken is refused in words", async () => {
  const port = new URL(server.url).port;
  const second = Server.start({ env: { PORT: port } });
  await expect(second).rejects.toThrow(/the port cannot be opened \(EADDRINUSE\): set PORT or HOST/);
});

test("SIGTERM waits neither for an idle connection nor for the rest of a half-sent request", async () => {
  const own = await Server.start({ http: { idleTimeoutSeconds: 255 } });
  const idle = await RawConnection.open(own);
  const half = await RawConnection.open(own);
  const lines = ["Host: x", `Authorization: Basic ${own.firstToken}`, "Content-Length: 100"];
  half.write(head("POST /track HTTP/1.1", ...lines, "Expect: 100-continue"));
  await half.answered(1);
  half.write("{");
  expect(await own.stop()).toBe(0);
  expect([idle.statuses, half.statuses]).toEqual([[], [100]]);
  idle.leave();
  half.leave();
});

test("an export that breaks off is an error of the command, not a shorter export", async () => {
  const own = await Server.start();
  await own.ready();
  await organizationOf(own);
  const exporting = rekindle(own.dataDir, "export", "events", "--organization", "default");
  const pid = own.analysisPid();
  if (pid === undefined) throw new Error("there is no analysis process");
  process.kill(pid, "SIGSTOP");
  // Time in which the command may ask. Whether it did is seen below.
  await Bun.sleep(1_000);
  process.kill(pid, "SIGKILL");
  const { exitCode, stdout, stderr } = await exporting;
  // Either it was asked before the kill and failed, or it waited for the next process and is whole.
  if (exitCode === 0) expect(stdout.trim().split("\n")).toHaveLength(1);
  else expect(stderr).toContain("the export is incomplete");
  await own.stop();
});

async function organizationOf(own: Server): Promise<void> {
  const token = own.firstToken;
  await own.post("/identify", token, { userId: "u1", email: "ada@example.com" });
  await own.post("/track", token, { userId: "u1", event: "opened" });
}
