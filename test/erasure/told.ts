/** An alert rule that fired for users, and messages that name them all: for the copy of everything about one
 * of them. */
import { join } from "node:path";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { DecisionChunk } from "../../server/features/alerts/store/decisions.ts";
import type { DigestEntity } from "../../server/features/digest/digest.ts";
import { digestMessage } from "../../server/features/digest/digest-message.ts";
import { quiet } from "../actions/sample-digest.ts";
import type { joined } from "../people/support.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

/** The day of the alerts. */
export const firedDay = 20_700;

type Member = Awaited<ReturnType<typeof joined>>;

/** Fires a rule with a hold-out for these users, who are treated, and adds a digest that names them.
 * Destinations are paused when the messages are rendered, so they hold every message. */
export async function tellAbout(server: Server, owner: Member, users: readonly string[]): Promise<void> {
  const { organization } = owner;
  const absent = () => Promise.reject(new Error("is not asked for here"));
  const ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  const [hook, channel] = [
    await destinationOf(owner, "webhook", "hook"),
    await destinationOf(owner, "slack", "channel"),
  ];
  const at = (path: string) => `${path}?organization=${organization}`;
  const wanted = {
    name: "High risk",
    scope: { kind: "users" },
    condition: { kind: "riskBand", band: "high" },
    when: "at once",
    destinations: [hook, channel],
    holdOutShare: 0.5,
    exemptions: { mrrAbove: null },
  };
  const rule = await owner.json<{ id: number }>("POST", at("/api/alert-rules"), wanted, 201);
  const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
  if (toDecide === undefined) throw new Error("The rule is not decided.");
  const found = await Promise.all(users.map((userId) => ledger.findUser(organization, userId)));
  const entities = found.map((one) => ({ kind: "user", number: one?.user.number ?? 0 }) as const);
  const { version, watermark } = toDecide;
  const chunk: DecisionChunk = {
    organization,
    rule: rule.id,
    version: version.version,
    after: watermark.sequence,
    horizonDays: 28,
    next: { decidedThrough: firedDay, part: null, cursor: null },
    closed: [],
    insideBySettings: 0,
    states: entities.map((entity) => ({
      entity,
      hasLeft: false,
      daysOut: 0,
      restsUntil: firedDay + 7,
      firedOn: firedDay,
      value: 0.7,
    })),
    fired: entities.map((entity) => ({
      entity,
      day: firedDay,
      eventId: null,
      before: 0.2,
      after: 0.7,
      risk: 0.7,
      expectedLoss: 900,
      reasons: [{ text: "silent for 9 days" }],
      account: null,
      isExempt: false,
    })),
  };
  const nowMs = Date.now();
  const ground = {
    nowMs,
    todayMs: nowMs,
    nextMorningMs: nowMs,
  };
  // With the smallest share no user is a control, whatever the secret of the draw.
  await commitChunk(ledger, { ...version, holdOutShare: Number.MIN_VALUE }, chunk, ground);
  // Scores that are computed later close none of these alerts.
  await owner.json("POST", at(`/api/alert-rules/${rule.id}/pause`));
  const named = found.map((one, index): DigestEntity => {
    const { userId = "", number = 0 } = one?.user ?? {};
    const values = { risk: 0.7, riskBefore: 0.2, state: "active", expectedLoss: 900 - index };
    return { kind: "user", id: userId, label: `name of ${userId}`, number, ...values };
  });
  const digest = { ...quiet, kind: "user", entered: { total: named.length, named } } as const;
  const message = digestMessage(digest, {
    organization: { id: organization, name: "Access" },
    address: server.url,
    nowMs,
  });
  await ledger.deliveries.add(organization, channel, message, nowMs, entities);
  await until("all messages are rendered", async () => {
    const list = await ledger.deliveries.list(organization, { limit: 9 });
    return list.every(({ body }) => body !== "");
  });
  for (const id of [hook, channel]) {
    await owner.json("PATCH", at(`/api/destinations/${id}`), { state: "paused" });
  }
}

/** A destination that gets e-mail addresses, and is at no address. @returns its id */
async function destinationOf(owner: Member, kind: "webhook" | "slack", name: string): Promise<number> {
  const at = (path: string) => `${path}?organization=${owner.organization}`;
  const wanted = { kind, name, address: `https://${name}.invalid/`, sendsEmails: true };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    wanted,
    201,
  );
  return destination.id;
}
