/** The context of analysis' handlers, and their types. */
import type { PathNames } from "../../../contract/api/route.ts";
import type {
  AnalysisRouteName,
  RouteAnswer,
  RouteBody,
  RouteQuery,
  Routes,
} from "../../../contract/api/routes.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { Actor } from "../../ledger/audit.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import type { ReadEntered } from "../../scoring/churn/entered.ts";
import type { Scheduler } from "../../scoring/run/scheduler.ts";
import type { ScoringService } from "../../scoring/run/scoring.ts";
import type { SourceWatch } from "../../scoring/run/source-watch.ts";
import type { AnalysisService, Failure, Freshness } from "../../warehouse/analysis.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

/** The services that handlers use: the two stores, the long work, and the clock. */
export interface ApiParts {
  readonly warehouse: Warehouse;
  readonly ledger: SharedLedger;
  readonly analysis: Pick<AnalysisService, "erase" | "eraseAccount" | "person">;
  readonly scoring: ScoringService;
  readonly sources: Pick<SourceWatch, "statuses" | "silent" | "stoppedFor">;
  readonly nowMs: () => number;
  readonly freshness: (organization: number) => Promise<Freshness>;
  readonly scheduler: Pick<Scheduler, "isOn" | "earlierScores">;
  /** Work that fails for an organization at this moment. */
  readonly failures: (organization: number) => readonly Failure[];
  /** Who was in experiments with a control group. */
  readonly readEntered: ReadEntered;
  readonly log: Logger;
}

/** The services, and the organization of the request. */
export interface OrganizationContext extends ApiParts {
  readonly organization: Organization;
  /** The read key or the person of the request. */
  readonly actor: Actor;
  /** Of the role or of the read key. */
  readonly rights: readonly string[];
  readonly zone: Zone;
  readonly passiveEvents: () => Promise<readonly string[]>;
}

export interface ApiContext<Name extends AnalysisRouteName> extends OrganizationContext {
  readonly path: Readonly<Record<PathNames<Name>, string>>;
  readonly query: RouteQuery<Name>;
  /** Undefined for a route that takes no body. */
  readonly body: RouteBody<Name>;
}

/** Routes whose answers are files that are sent while they are read. */
type DocumentRouteName = {
  [Name in AnalysisRouteName]: Routes[Name] extends { readonly isDocument: true } ? Name : never;
}[AnalysisRouteName];

/** A file as an answer. */
export interface DocumentAnswer {
  readonly fileName: string;
  readonly contentType: string;
  /** @throws ApiError before the first byte */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A handler for each route that answers a file. */
export type DocumentHandlers = {
  readonly [Name in DocumentRouteName]: (context: ApiContext<Name>) => Promise<DocumentAnswer>;
};

/** A handler for each route. @throws ApiError, Refusal */
export type AnalysisHandlers = {
  readonly [Name in Exclude<AnalysisRouteName, DocumentRouteName>]: (
    context: ApiContext<Name>,
  ) => Promise<RouteAnswer<Name>>;
};

/** The context of any route. */
export interface AnyContext extends OrganizationContext {
  readonly path: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
}

/** Handlers by the names of their routes. Methods, so that each may take the context of its own route. */
export interface Handlers<Answer> {
  readonly [name: string]: { handle(context: AnyContext): Promise<Answer> }["handle"];
}

/** Rows of a table, in chunks. */
export type Chunks = AsyncIterable<readonly JsonObject[]>;

/** Reads all rows of a table, where its handler reads one page. @throws ApiError before the first row */
export type WholeTables = {
  readonly [Name in AnalysisRouteName]?: (context: ApiContext<Name>) => Promise<Chunks>;
};
