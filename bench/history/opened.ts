/** Ledger, loader and upkeep of a data folder in this process, as the service has them. */

import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { ledgerFile } from "../../server/ledger/sqlite/ledger-file.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { createProjectToken } from "../../server/ledger/stores/credentials.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { createLogger, type Logger } from "../../server/process/log.ts";
import { systemTime } from "../../server/process/time.ts";
import { Scoring } from "../../server/scoring/run/scoring.ts";
import { SourceWatch } from "../../server/scoring/run/source-watch.ts";
import { type Analysis, openAnalysis } from "../../server/warehouse/analysis.ts";
import { needs, user, writes } from "../../test/ledger/writes.ts";

export interface Opened {
  readonly ledger: Awaited<ReturnType<typeof openSqliteLedger>>;
  readonly analysis: Analysis;
  readonly log: Logger;
}

/** Opens a data folder for the time of `work`. */
export async function withOpened<Result>(
  dataDir: string,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const log = createLogger("bench", "warn");
  const ledger = await openSqliteLedger({ features, file: ledgerFile(dataDir) });
  try {
    const analysis = await openAnalysis(dataDir, ledger, log, systemTime);
    try {
      return await work({ ledger, analysis, log });
    } finally {
      await analysis.close();
    }
  } finally {
    await ledger.close();
  }
}

/** Scoring by a clock, without the schedule. */
export function scoringOf({ ledger, analysis, log }: Opened, nowMs: () => number): Scoring {
  return new Scoring({ host: analysis, ledger, sources: new SourceWatch(ledger, nowMs), log, nowMs });
}

/** Creates an organization. @returns it, and a token that writes to it */
export async function createOrganization(
  { ledger }: Opened,
  name: string,
  timezone = "UTC",
): Promise<{ readonly organization: Organization; readonly token: string }> {
  const nowMs = Date.now();
  const organization = await ledger.organizations.create({ name, timezone, nowMs }, settingUp);
  const wanted = { organization: organization.id, name: "bench", nowMs };
  const { secret } = await createProjectToken(ledger.tokens, wanted, settingUp);
  return { organization, token: secret };
}

/** Writes users `user-N` with these numbers to the ledger, as if they had been identified. */
export function writeUsers(
  { ledger }: Opened,
  organization: number,
  numbers: readonly number[],
): Promise<void> {
  const users = numbers.map((number) => {
    const userId = `user-${number}`;
    return user(organization, userId, { number, email: `${userId}@example.com` });
  });
  return ledger.transact(needs({ users }), () => writes(Date.now(), { users }));
}
