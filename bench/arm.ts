/**
 * The time of `POST /arm`, for users who are asked for the first time and for known ones, and what `/track`
 * takes beside it, alone, and beside as many requests that are refused: these cost what any other request
 * would. Requests are due at fixed times, as many a second to each of both. Rounds have all of them.
 *
 *   cli/with-bun bench/arm.ts [rounds] [requests a second] [seconds of each]
 */
import type { ArmAnswer } from "../contract/arm.ts";
import { until } from "../test/until.ts";
import { median } from "./load/alternate.ts";
import { eventWithoutId as event, users } from "./load/events.ts";
import { Installation } from "./load/installation.ts";
import { type LoadResult, runLoad } from "./load/load.ts";

const rounds = Number(process.argv[2] ?? 7);
const requestsPerSecond = Number(process.argv[3] ?? 500);
const seconds = Number(process.argv[4] ?? 6);
const [aimMs, aimRatio] = [5, 1.1];

const installation = await Installation.start({ time: { scheduleMs: null } });
const { server, port } = installation;
await server.ready();
await installation.identify(users);
await installation.drained();
const created = await server.command(
  ...[
    "alert-rule",
    "create",
    "--organization",
    "bench",
    "--template",
    "cancel-flow",
    "--scope-kind",
    "users",
  ],
  ...["--hold-out-share", "0.5", "--json"],
);
const { id: rule } = JSON.parse(created) as { readonly id: number };
const token = await server.command("token", "create", "--organization", "bench", "--scope", "arm");
const headers = { Authorization: `Bearer ${token.trim()}` };
const question = (n: number) => JSON.stringify({ rule, userId: `user-${n % users}` });
await until("who may enter is listed", async () => {
  const response = await fetch(`${server.url}/arm`, { method: "POST", headers, body: question(0) });
  return ((await response.json()) as ArmAnswer).counted;
});

let asked = 1;
const load = { port, requestsPerSecond, warmUpSeconds: 0.5, seconds };
const track = () => runLoad({ ...load, path: "/track", headers: installation.headers, request: event });
const arms = (request: (n: number) => string) => runLoad({ ...load, path: "/arm", headers, request });
const ofNew = () => arms(() => question(asked++));
const ofKnown = () => arms((n) => question((n * 7) % asked));
const ofNobody = () => arms(() => "{}");

/** The results of all rounds, by what was measured. */
const results = new Map<string, LoadResult[]>();
const keep = (name: string, result: LoadResult) => results.set(name, [...(results.get(name) ?? []), result]);
await Promise.all([track(), ofNew()]);
for (let round = 0; round < rounds; round += 1) {
  keep("/track alone", await track());
  for (const [kind, ask] of [
    ["no", ofNobody],
    ["known", ofKnown],
    ["new", ofNew],
  ] as const) {
    const [beside, arm] = await Promise.all([track(), ask()]);
    keep(`/track beside /arm of ${kind} users`, beside);
    keep(`/arm of ${kind} users`, arm);
  }
}
const alone = results.get("/track alone") ?? [];
for (const [name, of] of results) {
  const figure = (key: "p50Ms" | "p99Ms" | "maxMs" | "requestsPerSecond") =>
    median(of.map((one) => one[key]));
  const ratio = (key: "p50Ms" | "p99Ms" | "requestsPerSecond") =>
    median(of.map((one, round) => one[key] / (alone[round]?.[key] ?? Number.NaN)));
  const [p50, p99, longest] = (["p50Ms", "p99Ms", "maxMs"] as const).map((key) => figure(key).toFixed(2));
  const answers = of.map(({ statuses }) => JSON.stringify(statuses)).at(-1);
  const isArm = name.startsWith("/arm");
  const isMet = isArm ? figure("p99Ms") <= aimMs : ratio("p99Ms") <= aimRatio;
  const besides = isArm
    ? `aim ${aimMs} ms`
    : `of alone: ${ratio("requestsPerSecond").toFixed(2)} of its rate, ${ratio("p50Ms").toFixed(2)} of its p50, ${ratio("p99Ms").toFixed(2)} of its p99, aim ${aimRatio}`;
  console.log(
    `${name}: ${figure("requestsPerSecond").toFixed(0)} a second, p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms; ${besides}: ${isMet ? "met" : "MISSED"}; answers ${answers}`,
  );
}
await server.stop();
process.exit(0);
