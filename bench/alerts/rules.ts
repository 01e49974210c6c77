/** Alert rules of a data folder that are decided through yesterday, and how far they are decided while a
 * service runs on it. */

import { Database } from "bun:sqlite";
import { type AlertRuleSettings, ruleLimits } from "../../contract/alerts/rules.ts";
import { msPerDay } from "../../server/calendar/zone.ts";
import { renderMessages } from "../../server/features/alerts/message-renderer.ts";
import { RuleDecider } from "../../server/features/alerts/rule-decider.ts";
import { features } from "../../server/features/features.ts";
import { segmentsForRules } from "../../server/features/segments/for-alerts.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { ledgerFile } from "../../server/ledger/sqlite/ledger-file.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { SourceWatch } from "../../server/scoring/run/source-watch.ts";
import { type Opened, withOpened } from "../history/opened.ts";
import type { Entered } from "./conditions.ts";
import { morningOf } from "./scored-days.ts";

/** Adds a rule for each condition to each organization, whose alerts go to a webhook, and decides them
 * through yesterday.
 * @param address of the webhook. @returns the number of rules */
export async function addRules(
  dataDir: string,
  conditions: readonly Entered[],
  { address, today }: { readonly address: string; readonly today: number },
): Promise<number> {
  return withOpened(dataDir, async (opened) => {
    const { ledger } = opened;
    const organizations = await ledger.organizations.list();
    const nowMs = morningOf(today - 1);
    for (const { id } of organizations) {
      const webhook = { kind: "webhook", name: "bench", secrets: ["whsec_YQ=="], notices: [] } as const;
      const destination = await ledger.destinations.add(id, { ...webhook, address }, commandLine, nowMs);
      for (const [n, { condition }] of conditions.entries()) {
        const settings: AlertRuleSettings = {
          name: `Rule ${n + 1}`,
          condition,
          cooldownDays: null,
          cap: ruleLimits.defaultCap,
          scope: { kind: "users" },
          when: "at once",
          destinations: [destination.id],
          holdOutShare: 0,
          exemptions: {},
          steps: [],
          isPaused: false,
          includeCurrent: false,
        };
        await ledger.alertRules.add(id, settings, commandLine, nowMs);
      }
    }
    await decide(opened, nowMs);
    return organizations.length * conditions.length;
  });
}

async function decide({ analysis, ledger, log }: Opened, atMs: number): Promise<void> {
  const nowMs = () => atMs;
  const sources = new SourceWatch(ledger, nowMs);
  const parts = { ledger, warehouse: analysis.warehouse, sources, address: "", nowMs, log };
  const ruleParts = {
    ...parts,
    host: analysis,
    segmentOf: segmentsForRules(parts),
    render: () => renderMessages(parts),
  };
  await new RuleDecider(ruleParts).decideDays();
}

/** Makes a copy of a data folder the installation itself. Otherwise its first start would pause all
 * destinations and take all rules over, as it does with every copy. */
export async function settleCopy(dataDir: string): Promise<void> {
  const file = ledgerFile(dataDir);
  const ledger = await openSqliteLedger({ features, file });
  const place = await ledger.place();
  await ledger.close();
  const database = new Database(file);
  try {
    database.run("INSERT OR REPLACE INTO ledger_place (only_row, place) VALUES (1, ?)", [place]);
  } finally {
    database.close();
  }
}

/** The decisions of a day. */
export interface Decided {
  /** Rules that are decided through the day. */
  readonly rules: number;
  readonly alerts: number;
  /** Deliveries to webhooks. */
  readonly messages: number;
}

/** Reads a ledger beside the service that has it open. */
export class DecidedWatch {
  readonly #database: Database;
  readonly #day: number;

  constructor(dataDir: string, day: number) {
    this.#database = new Database(ledgerFile(dataDir), { readonly: true });
    this.#day = day;
  }

  decided(): Decided {
    return {
      rules: this.#count("alert_rules WHERE decided_through = ?"),
      alerts: this.#count("alerts WHERE fired_day = ?"),
      messages: this.#count(`deliveries WHERE type LIKE 'alert.%' AND created_at_ms >= ? * ${msPerDay}`),
    };
  }

  #count(from: string): number {
    const counted = this.#database.query<{ count: number }, [number]>(
      `SELECT count(*) AS count FROM ${from}`,
    );
    return counted.get(this.#day)?.count ?? 0;
  }

  close(): void {
    this.#database.close();
  }
}
