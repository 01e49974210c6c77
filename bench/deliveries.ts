/**
 * Seconds until a webhook has 1,000 waiting messages: alone, and beside a destination that hangs and one that
 * answers 500, with 1,000 messages each. And how late other work of the sending process is meanwhile.
 * Receivers are in a process of their own.
 *
 *   cli/with-bun bench/deliveries.ts [messages] [milliseconds of an answer] [postgres]
 */

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { readConfig } from "../server/config.ts";
import { features } from "../server/features/features.ts";
import { commandLine, settingUp } from "../server/ledger/audit.ts";
import type { Ledger } from "../server/ledger/ledger.ts";
import { openPostgresLedger } from "../server/ledger/postgres/ledger.ts";
import { openSqliteLedger } from "../server/ledger/sqlite/open.ts";
import { newOutbox } from "../server/sending/outbox.ts";
import { PostgresServer } from "../test/postgres.ts";

const [messages = "1000", answerMs = "1", engine = "sqlite"] = process.argv.slice(2);
if (messages === "receive") await receive(Number(answerMs));
else await measure();

/** A receiver that prints its port. `/hang` never answers, `/500` answers 500. */
async function receive(delayMs: number): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.url === "/hang") return;
      setTimeout(() => response.writeHead(request.url === "/500" ? 500 : 200).end(), delayMs);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  console.log((server.address() as AddressInfo).port);
}

async function measure(): Promise<void> {
  const receiver = Bun.spawn([process.execPath, import.meta.path, "receive", answerMs]);
  const { value } = await receiver.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const postgres = engine === "postgres" ? await PostgresServer.start() : undefined;
  const folder = await mkdtemp(join(tmpdir(), "rekindle-deliveries-"));
  try {
    for (const others of [[], ["hang", "500"]]) {
      const file = join(folder, `${others.length}.sqlite`);
      const ledger =
        postgres === undefined
          ? await openSqliteLedger({ features, file, clock: Date.now })
          : await openPostgresLedger({ features, url: await postgres.database() });
      await drain(ledger, port, others);
      await ledger.close();
    }
  } finally {
    receiver.kill();
    await postgres?.stop();
    await rm(folder, { recursive: true });
  }
}

async function drain(ledger: Ledger, port: number, others: readonly string[]): Promise<void> {
  const organization = { name: "Engines", timezone: "UTC", nowMs: Date.now() };
  const { id } = await ledger.organizations.create(organization, settingUp);
  const add = async (path: string) => {
    const wanted = { kind: "webhook", name: path, secrets: ["whsec_YQ=="], notices: [] } as const;
    const address = `http://hooks.internal:${port}/${path}`;
    const to = await ledger.destinations.add(id, { ...wanted, address }, commandLine, Date.now());
    const body = JSON.stringify({ type: "model.changed", data: { text: "x".repeat(1_000), link: "" } });
    for (let n = 0; n < Number(messages); n += 1) {
      await ledger.deliveries.add(id, to.id, { messageId: `${n}`, type: "model.changed", body }, Date.now());
    }
    return to.id;
  };
  for (const path of others) await add(path);
  const quick = await add("quick");
  const { privateDestinations: exceptions } = readConfig({
    ALLOW_PRIVATE_DESTINATIONS: `hooks.internal:${port}=127.0.0.1`,
  });
  const log = pino({ level: "silent" });
  const outbox = newOutbox(ledger, { exceptions, mail: null }, () => "", log, Date.now);
  const lateMs = watchLateness();
  const startedMs = performance.now();
  const timer = setInterval(() => void outbox.sendDue(), 1_000);
  while (((await ledger.destinations.find(id, quick))?.pending ?? 0) > 0) await Bun.sleep(100);
  const seconds = (performance.now() - startedMs) / 1_000;
  clearInterval(timer);
  const late = lateMs();
  await outbox.stop();
  const beside = others.length === 0 ? "alone" : `beside ${others.join(", ")}`;
  const at = (share: number) => late[Math.floor(late.length * share)]?.toFixed(1);
  console.log(
    `${beside}: ${messages} messages in ${seconds.toFixed(1)} s; other work late by ${at(0.99)} ms (p99), ${late.at(-1)?.toFixed(1)} ms (most)`,
  );
}

/** Begins to look how late a timer is. @returns ends it: milliseconds, the least first */
function watchLateness(): () => readonly number[] {
  const late: number[] = [];
  let dueMs = performance.now() + 5;
  const timer = setInterval(() => {
    late.push(Math.max(0, performance.now() - dueMs));
    dueMs = performance.now() + 5;
  }, 5);
  return () => {
    clearInterval(timer);
    return late.toSorted((one, other) => one - other);
  };
}
