/** The parts that kills of score rules share: a service with rules, its ledger as it is seen from outside,
 * and the messages that arrived. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import type { Receiver } from "../actions/receiver.ts";
import { heldServer } from "../durability/holds.ts";
import { ownPort } from "../durability/killing.ts";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { newKey } from "../specification/operation-support.ts";

export const msPerDay = 86_400_000;

interface AlertRow {
  readonly rule: number;
  readonly user: number;
  readonly account: number;
  readonly firedDay: number;
  readonly risk: number | null;
  readonly isClosed: number;
  readonly isSent: number;
}

/** Reads the ledger beside the service. */
export class RuleLedger {
  readonly #database: Database;

  constructor(dataDir: string) {
    this.#database = new Database(join(dataDir, "ledger.sqlite"), { readonly: true });
    this.#database.run("PRAGMA busy_timeout = 1000");
  }

  #count(from: string, ...values: readonly number[]): number {
    const query = this.#database.query<{ count: number }, number[]>(`SELECT count(*) AS count FROM ${from}`);
    return query.get(...values)?.count ?? 0;
  }

  decided(day: number): number {
    return this.#count("alert_rules WHERE decided_through >= ?", day);
  }

  /** Rules that have begun. */
  takenOver(): number {
    return this.#count("alert_rules WHERE decided_through IS NOT NULL");
  }

  /** Rules of which a chunk of a day is committed, and another one is to follow. */
  betweenChunks(): number {
    return this.#count("alert_rules WHERE part_day IS NOT NULL");
  }

  /** The chunks that all rules have committed, and their changes. */
  sequences(): number {
    const query = this.#database.query<{ sum: number }, []>("SELECT sum(sequence) AS sum FROM alert_rules");
    return query.get()?.sum ?? 0;
  }

  pending(): number {
    return this.#count("deliveries WHERE state = 'pending'");
  }

  alerts(): AlertRow[] {
    return this.#database
      .query<AlertRow, []>(
        `SELECT rule, user_number AS user, account_number AS account, fired_day AS firedDay, risk,
           closed_day IS NOT NULL AS isClosed, is_sent AS isSent
         FROM alerts`,
      )
      .all();
  }

  close(): void {
    this.#database.close();
  }
}

/** The ids of the messages that arrived, by type, rule, entity and the day on which the alert fired. */
export function idsOf({ got }: Receiver): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { body, headers } of got) {
    const { type, data } = JSON.parse(body) as {
      readonly type: string;
      readonly data: Record<"day" | "firedDay", string> & {
        readonly rule: { id: number };
        readonly entity: { id: string };
      };
    };
    const key = [type, data.rule.id, data.entity.id, data.firedDay ?? data.day].join(" ");
    ids.set(key, (ids.get(key) ?? new Set()).add(headers["webhook-id"] ?? ""));
  }
  return ids;
}

interface WantedRule {
  readonly name: string;
  readonly scope: object;
  readonly condition: object;
  /** A rule about moments has none. */
  readonly cooldownDays?: number;
}

interface Wanted<Rule> {
  readonly name: string;
  readonly dataDir: string;
  readonly rules: readonly Rule[];
}

/** A held service whose organization has these rules, and their ids. Its looks are quick. */
export async function serviceWithRules<Rule extends WantedRule>(
  receiver: Receiver,
  { name, dataDir, rules }: Wanted<Rule>,
) {
  const env = { ...(await ownPort()), ALLOW_PRIVATE_DESTINATIONS: receiver.allowed };
  const time = { actionsMs: 250, choresMs: 250, scheduleMs: null };
  const start = () => Server.start({ dataDir, env, time, entry: heldServer });
  const server = await start();
  await server.ready();
  const { owner, at, token } = await company(server, name, "--timezone", quietZone);
  await server.command("organization", "set", name, "--item-rate-limit", "1000000");
  // A session would end before the last day.
  const key = await newKey(server, name, "manage");
  const hook = { kind: "webhook", name: "hook", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    hook,
    201,
  );
  const ids: number[] = [];
  for (const rule of rules) {
    const body = { ...rule, destinations: [destination.id] };
    ids.push((await owner.json<{ id: number }>("POST", at("/api/alert-rules"), body, 201)).id);
  }
  const preview = async (after: Server, { scope, condition, cooldownDays }: Rule): Promise<unknown> => {
    const answer = await after.post("/api/alert-rules/preview", key, { scope, condition, cooldownDays });
    return answer.json();
  };
  const send = async (to: Server, items: readonly object[]) => {
    for (let first = 0; first < items.length; first += 500) {
      const response = await to.post("/batch", token, { batch: items.slice(first, first + 500) });
      expect(response.status).toBe(201);
    }
  };
  return { server, start, send, preview, ids };
}
