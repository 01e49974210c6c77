/** The routes of the analysis process on its Unix socket, for intake and the command line. */
import type { Registry } from "prom-client";
import { analysisRoutes } from "../../contract/api/analysis-routes.ts";
import { enteredReader } from "../features/alerts/control-groups/entered.ts";
import { analysisHandlers } from "../features/analysis-handlers.ts";
import {
  taskEntitiesPath,
  taskEntityHandlers,
  taskEntityRoutes,
} from "../features/notes-and-tasks/task-entities.ts";
import { wholeLists } from "../figures/lists.ts";
import { documents } from "../figures/person.ts";
import { AnalysisApi } from "../http/api/analysis-api.ts";
import type { ApiParts } from "../http/api/context.ts";
import { startingHeader } from "../http/port/answers.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import { answerCall, type Operations, operationsOf } from "../process/call.ts";
import type { Logger } from "../process/log.ts";
import type { Scheduler } from "../scoring/run/scheduler.ts";
import type { ScoringService } from "../scoring/run/scoring.ts";
import type { SourceWatch } from "../scoring/run/source-watch.ts";
import type { Failure, ServedAnalysis } from "../warehouse/analysis.ts";
import type { UnavailableReason } from "../warehouse/engine/unavailable.ts";

const api = new AnalysisApi(analysisRoutes, analysisHandlers, { wholeLists, documents });
const ofTasks = new AnalysisApi(taskEntityRoutes, taskEntityHandlers, { wholeLists: {}, documents: {} });

/** The parts that exist before analysis has started. */
interface AnalysisParts {
  readonly ledger: SharedLedger;
  readonly registry: Registry;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** The reason of a slow start, in words for people; undefined without one. */
  readonly waitsFor?: string | undefined;
  /** The reason of a slow start as a code, without details. */
  readonly why?: UnavailableReason | undefined;
}

/** The process's work, once it has started. */
export interface StartedAnalysis {
  readonly analysis: ServedAnalysis;
  readonly scoring: ScoringService;
  readonly sources: SourceWatch;
  readonly scheduler: Pick<Scheduler, "isOn" | "earlierScores">;
  readonly failures: (organization: number) => readonly Failure[];
}

/** Services for handlers of the JSON API; undefined until analysis has started. */
function apiParts(
  { ledger, log, nowMs }: Pick<AnalysisParts, "ledger" | "log" | "nowMs">,
  { analysis, scoring, sources, scheduler, failures }: Partial<StartedAnalysis>,
): ApiParts | undefined {
  if (analysis === undefined || scoring === undefined || sources === undefined) return undefined;
  if (scheduler === undefined || failures === undefined) return undefined;
  return {
    analysis,
    scoring,
    sources,
    scheduler,
    failures,
    ledger,
    log,
    nowMs,
    warehouse: analysis.warehouse,
    readEntered: enteredReader(analysis.warehouse, ledger),
    freshness: (organization) => analysis.freshness(organization),
  };
}

/** Serves the socket. Until analysis has started every question is answered 503, "starting". */
export function answerAnalysis(
  { ledger, registry, log, nowMs, waitsFor, why }: AnalysisParts,
  started: Partial<StartedAnalysis>,
  request: Request,
): Response | Promise<Response> {
  const { analysis, scoring } = started;
  const { pathname } = new URL(request.url);
  if (pathname === "/metrics") return registry.metrics().then((text) => new Response(text));
  if (pathname.startsWith("/api/")) {
    return api.answer(apiParts({ ledger, log, nowMs }, started), request);
  }
  if (pathname === taskEntitiesPath)
    return ofTasks.answer(apiParts({ ledger, log, nowMs }, started), request);
  if (pathname === "/status")
    return Response.json(analysis?.status() ?? { state: "starting", waitsFor, why });
  if (analysis === undefined || scoring === undefined) {
    return new Response("starting", { status: 503, headers: { [startingHeader]: "yes" } });
  }
  return answerCall(operationsOfAnalysis(analysis, scoring), request);
}

/** What only this process does with its engine. Questions of tests and benches to its tables may be
 * called. */
const ownCalls: ReadonlySet<string> = new Set(["analysis.close", "analysis.warehouse.close"]);

/** The operations that analysis answers. */
function operationsOfAnalysis(analysis: ServedAnalysis, scoring: ScoringService): Operations {
  const operations = operationsOf({ analysis, scoring });
  return (path) => (ownCalls.has(path) ? undefined : operations(path));
}
