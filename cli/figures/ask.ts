/** Asks analysis for a figure of the JSON API: the running server's, or one of the command's own when no
 * server runs. */

import { Refusal } from "../../contract/refusal.ts";
import type { ApiErrorAnswer } from "../../contract/write-api.ts";
import { answerAnalysis } from "../../server/between/analysis-routes.ts";
import { headersOfCaller } from "../../server/http/api/analysis-api.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { CallFailed } from "../../server/process/control.ts";
import { systemTime } from "../../server/process/time.ts";
import { type Installation, organizationNamed, withInstallation } from "../installation.ts";

/** A request's method and its body as JSON. Without one: GET. */
export interface AskInit {
  readonly method?: string;
  readonly body?: string;
}

/** @param path of the figure, with its parameters @throws CallFailed with the API's message */
export type AskFigure = (path: string, init?: AskInit) => Promise<Response>;

/** Opens the installation for the time of `work`, which may ask for figures of this organization. */
export function withFigures(name: string, work: (ask: AskFigure) => Promise<void>): Promise<void> {
  return withInstallation(async (installation) =>
    figuresOf(installation, await organizationNamed(installation.ledger, name), work),
  );
}

/** Asks for figures of an organization of an open installation, for the time of `work`. */
export async function figuresOf<Result>(
  installation: Installation,
  organization: Organization,
  work: (ask: AskFigure) => Promise<Result>,
): Promise<Result> {
  const { analysis: running, config } = installation;
  if (running !== undefined) {
    const headers = headersFor(organization);
    return work((path, init) => answered(running.fetch(path, { ...init, headers, timeout: false })));
  }
  if (config.cluster !== null) throw new Refusal("no analysis node can be reached: start one.");
  return withOwn(installation, organization, work);
}

/** The headers that name the caller of a process of the service: the command line. */
export function headersFor({ id }: Organization): Record<string, string> {
  return {
    ...headersOfCaller({ organization: id, actor: commandLine, rights: ["read", "manage"] }),
    "Content-Type": "application/json",
  };
}

/** The answer, if it is a success. @throws CallFailed with the API's message */
export async function answered(asked: Response | Promise<Response>): Promise<Response> {
  const response = await asked;
  if (response.ok) return response;
  const { message } = (await response.json()) as ApiErrorAnswer;
  throw new CallFailed(message);
}

async function withOwn<Result>(
  { config, ledger }: Installation,
  organization: Organization,
  work: (ask: AskFigure) => Promise<Result>,
): Promise<Result> {
  // Loaded here only: a command that a server answers starts without the engine.
  const { openAnalysis, takeAnalysisLock } = await import("../../server/warehouse/analysis.ts");
  const { Scoring } = await import("../../server/scoring/run/scoring.ts");
  const { SourceWatch } = await import("../../server/scoring/data-quality/source-watch.ts");
  const { createLogger } = await import("../../server/telemetry/log.ts");
  const { Registry } = await import("prom-client");
  const lock = await takeAnalysisLock(config.dataDir);
  const log = createLogger("analysis", "warn");
  const analysis = await openAnalysis(config.dataDir, ledger, log, systemTime);
  const { nowMs } = systemTime;
  const sources = new SourceWatch(ledger, nowMs);
  const scoring = new Scoring({ host: analysis, ledger, sources, log, nowMs });
  const parts = { ledger, registry: new Registry(), log, nowMs };
  const scheduler = { isOn: false, earlierScores: () => null };
  const started = { analysis, scoring, sources, scheduler, failures: () => [] };
  const headers = headersFor(organization);
  try {
    return await work((path, init) =>
      answered(answerAnalysis(parts, started, new Request(`http://analysis${path}`, { ...init, headers }))),
    );
  } finally {
    await analysis.close();
    lock.release();
  }
}
