/** Every message that a webhook gets is described in OpenAPI: a receiver's own copies are compared with the
 * document. */

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { messageTypes, noticeTypes } from "../../contract/destinations/destinations.ts";
import { readConfig } from "../../server/config.ts";
import { noticesFor, type OrganizationNow } from "../../server/features/destinations/notices.ts";
import { digestMessage } from "../../server/features/digest/digest-message.ts";
import { features } from "../../server/features/features.ts";
import { openApiDocument } from "../../server/http/api/openapi.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { newOutbox } from "../../server/sending/outbox.ts";
import { testMessage } from "../../server/sending/test-message.ts";
import { until } from "../until.ts";
import { headersOf, type MessagesDocument, notDescribed } from "./described.ts";
import { startReceiver } from "./receiver.ts";
import { ada, adaToCall, quiet } from "./sample-digest.ts";

const document = openApiDocument("https://rekindle.example") as MessagesDocument;
const [madeAtMs, nowMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)];
const hour = 3_600_000;

/** Every message about an organization, with and without models. */
function notices() {
  const [silent, resumed] = [nowMs - 3 * hour, nowMs - 6 * hour];
  const now: OrganizationNow = {
    id: 7,
    name: "Engines",
    scores: {
      day: madeAtMs / (24 * hour) + 1,
      finishedAtMs: nowMs - hour,
      kinds: [
        { kind: "user", scored: 400, highRisk: 38, newModel: { from: null, to: "logistic" } },
        { kind: "account", scored: 60, highRisk: null, newModel: { from: "bgbb", to: null } },
      ],
    },
    sources: [
      { source: "segment", state: "silent", lastHeardMs: silent, silentFromMs: silent + hour },
      { source: "api", state: "sending", lastHeardMs: nowMs, silentFromMs: null },
    ],
  };
  const since = new Date(resumed).toISOString();
  const told = { type: "source.silent", body: JSON.stringify({ data: { source: "api", since } }) } as const;
  const asking = { createdAtMs: madeAtMs, notices: [...noticeTypes] };
  return noticesFor(asking, now, [told], "https://rekindle.example", nowMs);
}

/** A digest with lines, and one before the first scores. */
function digests() {
  const about = { organization: { id: 7, name: "Engines" }, address: "https://rekindle.example", nowMs };
  const moved = { total: 2, named: [ada] };
  return [
    digestMessage({ ...quiet, entered: moved, top: [adaToCall], changes: ["Settings changed."] }, about),
    digestMessage({ ...quiet, period: "weekly", scoredDay: null, sinceDay: null }, about),
  ];
}

test("a receiver gets every type of message as the document describes it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rekindle-described-"));
  const ledger = await openSqliteLedger({
    features,
    file: join(folder, "ledger.sqlite"),
    clock: () => nowMs,
  });
  const receiver = await startReceiver();
  const { privateDestinations: exceptions } = readConfig({ ALLOW_PRIVATE_DESTINATIONS: receiver.allowed });
  const settings = { exceptions, mail: null };
  const log = pino({ level: "silent" });
  const outbox = newOutbox(
    ledger,
    settings,
    () => "https://rekindle.example",
    log,
    () => nowMs,
  );
  const { id } = await ledger.organizations.create({ name: "Engines", timezone: "UTC", nowMs }, settingUp);
  const wanted = {
    kind: "webhook" as const,
    name: "Hooks",
    notices: [],
    address: receiver.address("/200"),
    secrets: ["whsec_YQ=="],
  };
  const to = await ledger.destinations.add(id, wanted, commandLine, nowMs);
  const byHand = testMessage("Engines", "Ada", "https://rekindle.example", nowMs);
  const messages = [...notices(), ...digests(), byHand];
  for (const message of messages) await ledger.deliveries.add(id, to.id, message, nowMs);
  await outbox.sendDue();
  await until(
    "all messages have arrived",
    () => receiver.got,
    ({ length }) => length === messages.length,
  );
  for (const { body, headers } of receiver.got) {
    expect([body, notDescribed(document, body)]).toEqual([body, []]);
    for (const name of headersOf(document, body)) expect(headers[name]).toBeString();
  }
  const types = receiver.got.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  // Messages about alerts are compared where rules fire, in alerts-over-http.
  expect([...new Set(types)].sort()).toEqual(
    messageTypes.filter((type) => !type.startsWith("alert.")).sort(),
  );
  expect(Object.keys(document.webhooks).sort()).toEqual([...messageTypes].sort());
  await outbox.stop();
  receiver.stop();
  await ledger.close();
  await rm(folder, { recursive: true });
});

test("a field that is missing, has another form or is not described is a difference", () => {
  const sent = (data: object) => JSON.stringify({ type: "test", timestamp: new Date(0).toISOString(), data });
  const text = { text: "a", link: "b" };
  expect(notDescribed(document, sent(text))).toEqual([]);
  expect(notDescribed(document, sent({ text: "a" })).length).toBeGreaterThan(0);
  expect(notDescribed(document, sent({ ...text, link: 1 })).length).toBeGreaterThan(0);
  expect(notDescribed(document, sent({ ...text, more: 1 }))).toEqual(["/data/more is not described"]);
  expect(notDescribed(document, '{"type":"other"}')).toEqual(["There is no webhook other."]);
});
