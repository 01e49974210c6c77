/** Mails to owners about disabled destinations, on a ledger in a file, with a mail server that fails. */

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import type { Mail } from "../../server/sending/mail.ts";
import { tellOwners } from "../../server/sending/owner-mails.ts";
import type { Sent } from "../../server/sending/post.ts";

const startMs = Date.UTC(2026, 0, 1);
const accepted: Sent = { status: 250, said: "ok", retryAfterMs: null };
const noServer: Sent = { status: null, said: "connection refused", retryAfterMs: null };
const greylisted: Sent = { status: 451, said: "try again later", retryAfterMs: null };
const noMailbox: Sent = { status: 550, said: "no such mailbox", retryAfterMs: null };

/** An organization whose destination was disabled, with owners who have these addresses. */
async function withOwners(emails: readonly string[], messages = 1) {
  const folder = await mkdtemp(join(tmpdir(), "rekindle-owner-mails-"));
  let nowMs = startMs;
  const ledger = await openSqliteLedger({
    features,
    file: join(folder, "ledger.sqlite"),
    clock: () => nowMs,
  });
  const { id } = await ledger.organizations.create(
    { name: "Engines & Co", timezone: "UTC", nowMs },
    settingUp,
  );
  const list = async () =>
    [...emails, "viewer@example.com"].map((email, at) => ({
      id: at,
      name: email,
      email,
      joinedAtMs: nowMs,
      lastSeenAtMs: null,
      role: email.startsWith("viewer") ? ("viewer" as const) : ("owner" as const),
    }));
  const wanted = {
    kind: "slack",
    name: "Team",
    address: "https://hooks.example/secret",
    secrets: [],
  } as const;
  const to = await ledger.destinations.add(id, { ...wanted, notices: [] }, commandLine, nowMs);
  for (let n = 0; n < messages; n += 1) {
    await ledger.deliveries.add(id, to.id, { messageId: `${n}`, type: "test", body: "{}" }, nowMs);
  }
  const [first] = (await ledger.deliveries.list(id, { limit: messages })).toReversed();
  const gone = { status: 410, said: "", verdict: { is: "failed", isGone: true } } as const;
  await ledger.deliveries.tried([{ id: first?.id ?? 0, ...gone }], nowMs);
  const sent: Mail[] = [];
  return {
    sent,
    /** Tells them so many minutes later. */
    tell: async (minutes: number, answer: (mail: Mail) => Sent) => {
      nowMs = startMs + minutes * 60_000;
      sent.length = 0;
      await tellOwners({
        ledger: { ...ledger, members: { ...ledger.members, list } },
        address: () => "https://rekindle.example",
        nowMs: () => nowMs,
        log: pino({ level: "silent" }),
        mail: async (mail) => {
          sent.push(mail);
          return answer(mail);
        },
      });
      return sent.map(({ to }) => to).sort();
    },
    end: async () => {
      await ledger.close();
      await rm(folder, { recursive: true });
    },
  };
}

test("each owner gets one mail, with the reason, what waits, and the page", async () => {
  const owners = ["ada@example.com", "bob@example.com"];
  const { tell, sent, end } = await withOwners(owners, 3);
  expect(await tell(0, () => accepted)).toEqual(owners);
  expect(sent[0]?.subject).toBe("Engines & Co: the destination Team is disabled");
  expect(sent[0]?.text).toBe(
    "Engines & Co sends no more messages to the destination Team. The receiver answered 410: the address does not exist any more." +
      " 2 messages wait for it. New messages are not kept. Repair the address, and resume the destination:\n\n" +
      "https://rekindle.example/o/1/settings/destinations\n",
  );
  expect(await tell(60, () => accepted)).toEqual([]);
  await end();
});

test.each([noServer, greylisted])("after $said they get it ten minutes later", async (failure) => {
  const { tell, end } = await withOwners(["ada@example.com"]);
  expect(await tell(0, () => failure)).toEqual(["ada@example.com"]);
  expect(await tell(9, () => accepted)).toEqual([]);
  expect(await tell(10, () => accepted)).toEqual(["ada@example.com"]);
  expect(await tell(60, () => accepted)).toEqual([]);
  await end();
});

test("an owner whose mailbox does not exist keeps no mail from the others, and is not tried again", async () => {
  const { tell, end } = await withOwners(["ada@example.com", "nobody@example.com"]);
  const answer = ({ to }: Mail) => (to.startsWith("nobody") ? noMailbox : accepted);
  expect(await tell(0, answer)).toEqual(["ada@example.com", "nobody@example.com"]);
  expect(await tell(60, answer)).toEqual([]);
  await end();
});
