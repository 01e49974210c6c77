/** The routes of the analysis process on its Unix socket, for intake and the command line. */
import type { Registry } from "prom-client";
import { analysisRoutes } from "../../contract/api/analysis-routes.ts";
import { Refusal } from "../../contract/refusal.ts";
import { activeUsers } from "../analytics/activity/active-users.ts";
import { timeline } from "../analytics/entities/timeline.ts";
import { counts } from "../analytics/events/counts.ts";
import { analysisHandlers } from "../features/analysis-handlers.ts";
import { features } from "../features/features.ts";
import {
  taskEntitiesPath,
  taskEntityHandlers,
  taskEntityRoutes,
} from "../features/notes-and-tasks/task-entities.ts";
import { wholeLists } from "../figures/lists.ts";
import { documents } from "../figures/person.ts";
import { AnalysisApi } from "../http/api/analysis-api.ts";
import type { ApiParts } from "../http/api/context.ts";
import { begun } from "../http/api/csv.ts";
import { startingHeader } from "../http/port/answers.ts";
import { commandLine } from "../ledger/audit.ts";
import type { AskedErasure } from "../ledger/erasures.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import type { SourceWatch } from "../scoring/data-quality/source-watch.ts";
import type { Scheduler } from "../scoring/run/scheduler.ts";
import type { PreviewRequest, ScoreProgress, ScoreSummary, ScoringService } from "../scoring/run/scoring.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Failure, ServedAnalysis } from "../warehouse/analysis.ts";
import type { BackupSummary } from "../warehouse/copies/backup.ts";
import type { BackupProgress } from "../warehouse/copies/backup-files.ts";
import { exportFormats } from "../warehouse/copies/export.ts";
import { exportNames } from "../warehouse/copies/work-export.ts";
import type { UnavailableReason } from "../warehouse/engine/unavailable.ts";
import { warehouseSize } from "../warehouse/schema/size.ts";
import { answerLines } from "./remote/progress-lines.ts";
import type { PreviewOutcome } from "./remote/remote-analysis.ts";

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
  const { pathname, searchParams } = new URL(request.url);
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
  const organization = Number(searchParams.get("organization"));
  switch (`${request.method} ${pathname}`) {
    case "GET /export":
    case "GET /person":
      return exported(analysis, organization, pathname, searchParams);
    case "POST /backup":
      return answerLines<BackupProgress, BackupSummary>(
        (progress, signal) => analysis.backUp({ folder: searchParams.get("folder") ?? "", progress, signal }),
        request.signal,
      );
    case "POST /score": {
      const day = searchParams.get("day");
      const what = { organization, evenIfStopped: searchParams.has("evenIfStopped") };
      return answerLines<ScoreProgress, ScoreSummary>(
        (report) => scoring.score({ ...what, ...(day !== null && { day: Number(day) }) }, report),
        request.signal,
      );
    }
    case "POST /preview":
      return answerLines(() => previewed(scoring, request), request.signal);
    case "POST /rebuild":
      return analysis.rebuild(organization).then(() => new Response("done"));
    case "POST /erase":
      return analysis
        .erase(organization, searchParams.get("userId") ?? "", askedErasure(searchParams))
        .then((receipt) => Response.json(receipt ?? null));
    case "POST /erase-account":
      return analysis
        .eraseAccount(organization, searchParams.get("accountId") ?? "", askedErasure(searchParams))
        .then((receipt) => Response.json(receipt ?? null));
    case "POST /delete-organization":
      return analysis.deleteOrganization(organization).then((is) => Response.json(is));
    case "GET /check":
      return analysis.check(organization).then((differences) => Response.json(differences));
    case "GET /counts":
      return counts(analysis.warehouse, organization).then((found) => Response.json(found));
    case "GET /size":
      return warehouseSize(analysis.warehouse).then((size) => Response.json(size));
    case "GET /active-users":
      return activeUsers(analysis.warehouse, {
        organization,
        passiveEvents: [],
        toDay: Number(searchParams.get("toDay")),
        days: Number(searchParams.get("days")),
      }).then((days) => Response.json(days));
    case "GET /timeline":
      return timeline(analysis.warehouse, {
        organization,
        user: Number(searchParams.get("user")),
        limit: Number(searchParams.get("limit")),
      }).then((events) => Response.json(events));
    default:
      return new Response("there is nothing at this path", { status: 404 });
  }
}

/** A refusal is a part of the answer, so that the other node refuses, too. */
async function previewed(scoring: ScoringService, request: Request): Promise<PreviewOutcome> {
  const asked = (await request.json()) as PreviewRequest;
  try {
    return { kinds: await scoring.preview(asked) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}

/** Only the command line comes by this way: requests of people and keys are answered by the table of
 * routes. */
function askedErasure(parameters: URLSearchParams): AskedErasure {
  return { by: commandLine, withAccount: parameters.has("withAccount") };
}

/** An export of an organization, or of a person. */
function exported(
  analysis: ServedAnalysis,
  organization: number,
  pathname: string,
  parameters: URLSearchParams,
): Response | Promise<Response> {
  if (pathname === "/person") {
    const userId = parameters.get("userId") ?? "";
    return streamed(analysis.person({ organization, userId, by: commandLine }));
  }
  const name = exportNames(features).find((known) => known === parameters.get("table"));
  const format = exportFormats.find((known) => known === parameters.get("format"));
  if (name === undefined || format === undefined) return new Response("unknown export", { status: 400 });
  return streamed(analysis.export(organization, name, format));
}

/** A stream as an answer. Its first bytes are waited for, so that a failure before them is an error and not
 * an empty success; a failure after them breaks the connection, which the caller notices. */
async function streamed(chunks: AsyncIterable<Uint8Array>): Promise<Response> {
  return new Response(await begun(chunks));
}
