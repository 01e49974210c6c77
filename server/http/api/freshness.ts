/** Figures say how fresh they are: the wrapper that every route of a figure goes through. */
import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";
import { FreshnessAnswer } from "../../../contract/api/api.ts";
import type { Silence } from "../../scoring/scoring.ts";
import type { Freshness } from "../../warehouse/warehouse.ts";
import type { ApiContext, ApiRoute } from "./route.ts";

/** Makes an entry of the table of routes for a figure: its answer carries `freshness` beside what it says. */
export function figure<Query extends TSchema, Properties extends TProperties, Path extends string>({
  answer,
  handler,
  ...entry
}: ApiRoute<Query, TObject<Properties>, Path, keyof Static<TObject<Properties>> & string>): ApiRoute {
  return {
    ...entry,
    answer: Type.Object({ ...answer.properties, freshness: FreshnessAnswer }),
    handler: async (context: ApiContext<Query, Path>) => {
      // Asked first: what is loaded meanwhile may be in the figure, and what is said of it stays true.
      const [freshness, silent] = await Promise.all([
        context.freshness(context.organization.id),
        context.sources.silent({ id: context.organization.id, zone: context.zone }),
      ]);
      return {
        ...(await handler(context)),
        freshness: {
          ...freshnessAnswer(freshness, silent),
          earlierScores: context.scheduler.earlierScores(context.organization.id),
          failures: context
            .failures(context.organization.id)
            .map(({ of, sinceMs }) => ({ of, since: instant(sinceMs) })),
        },
      };
    },
  };
}

function freshnessAnswer(
  { loadedUptoMs, rebuilding, ...rest }: Freshness,
  silent: readonly Silence[],
): Omit<Static<typeof FreshnessAnswer>, "earlierScores" | "failures"> {
  return {
    loadedUpto: loadedUptoMs === null ? null : instant(loadedUptoMs),
    rebuilding:
      rebuilding === null ? null : { since: instant(rebuilding.sinceMs), progress: rebuilding.progress },
    ...rest,
    silentSources: silent.map(({ sinceMs, ...each }) => ({ ...each, since: instant(sinceMs) })),
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
