/** The page's view of connected sources: each item with its outcome in the live view, and problems in the
 * warnings. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { Watching } from "../people/watching.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server?.stop());

const rudder = { library: { name: "RudderLabs JavaScript SDK" } };

test("each item is shown with its outcome, whose client sent it, and without the token", async () => {
  const token = await server.organization("Shown");
  const viewer = await joined(server, "Shown", "viewer", "Ada Lovelace");
  const watching = await Watching.open(server, viewer, `/api/live?organization=${viewer.organization}`);
  const send = (path: string, body: object) =>
    fetch(server.url + path, { method: "POST", body: JSON.stringify({ ...body, writeKey: token }) });
  const track = { type: "track", userId: "ada", event: "Order Completed", messageId: "m-1", writeKey: token };
  await send("/v1/identify", { userId: "ada", traits: { email: "nobody", plan: "pro" } });
  await send("/v1/batch", {
    batch: [
      track,
      track,
      { ...track, messageId: "m-2", userId: null, anonymousId: "v" },
      { ...track, messageId: "m-3", event: 7.5, timestamp: "soon" },
      { ...track, messageId: "m-4", integrations: { All: false } },
      { type: "alias", userId: "ada", previousId: "v" },
    ],
  });
  await send("/v1/p", { userId: "ada", context: rudder });
  await fetch(`${server.url}/v1/t?writeKey=${token}`, { method: "POST", body: `{"writeKey": "${token}",` });
  await until(
    "all nine are shown",
    () => watching.items,
    ({ length }) => length === 9,
  );
  watching.stop();
  const [identified, stored, again, held, refused, ignored, alias, page, unread] = watching.items;
  expect(identified).toMatchObject({
    endpoint: "segment",
    path: "/v1/identify",
    kind: "identify",
    userId: "ada",
    outcome: "accepted",
    status: 200,
    answer: '{"success":true}',
    batch: null,
    error: null,
    ignoredBecause: null,
    warnings: [{ kind: "email_left_out", detail: "nobody" }],
  });
  expect(stored).toMatchObject({
    path: "/v1/batch",
    kind: "track",
    event: "Order Completed",
    userId: "ada",
    outcome: "accepted",
    batch: { index: 0, items: 6 },
    payload: JSON.stringify({ ...track, writeKey: "rk-…" }),
  });
  expect(again).toMatchObject({ outcome: "duplicate", batch: { index: 1 } });
  expect(held).toMatchObject({ outcome: "held", userId: "v", error: null });
  expect(refused).toMatchObject({
    outcome: "rejected",
    kind: null,
    status: 200,
    event: "7.5",
    error: { name: "validation_error", message: expect.stringContaining("timestamp is not a time") },
  });
  expect(ignored).toMatchObject({
    outcome: "ignored",
    ignoredBecause: expect.stringContaining("integrations"),
  });
  expect(alias).toMatchObject({ outcome: "accepted", kind: "alias", userId: "ada", event: null });
  expect(page).toMatchObject({ endpoint: "rudderstack", event: "page_viewed", answer: "OK" });
  expect(unread).toMatchObject({
    outcome: "rejected",
    status: 400,
    payload: '{"writeKey": "rk-…",',
    path: "/v1/t",
  });
  expect(JSON.stringify(watching.items)).not.toContain(token);
});

test("refused and duplicate items are counted under the source's name", async () => {
  const token = await server.organization("Counted");
  const owner = await joined(server, "Counted", "owner", "Grace Hopper");
  const headers = { Authorization: `Basic ${token}` };
  const send = (path: string, body: unknown) =>
    fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const page = { userId: "ada", messageId: "m-1", context: rudder };
  await send("/v1/batch", {
    batch: [{ type: "identify", userId: "ada" }, { type: "walk" }, { type: "walk" }],
  });
  await send("/v1/page", page);
  await send("/v1/page", page);
  await send("/v1/page", [1]);
  type Warning = { endpoint: string; kind: string; count: number; message: string | null };
  const path = `/api/ingestion-warnings?organization=${owner.organization}`;
  let warnings: Warning[] = [];
  await until("three warnings are there", async () => {
    ({ warnings } = await owner.json<{ warnings: Warning[] }>("GET", path, undefined, 200));
    return warnings.length >= 3;
  });
  const said = warnings.map(({ endpoint, kind, count, message }) => [endpoint, kind, count, message]);
  expect(said).toEqual(
    expect.arrayContaining([
      [
        "segment",
        "refused_validation",
        2,
        "type is not known: send one of identify, track, page, screen, group, alias.",
      ],
      ["segment", "refused_validation", 1, "body is not a JSON object: send a JSON object."],
      ["rudderstack", "duplicate", 1, null],
    ]),
  );
});
