/** The server's answers as queries: fetched once, shared by components, typed by their path. */
import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useOrganization } from "../app/session.ts";
import { ApiFailure, addressOf, call, type QueryValues } from "./client.ts";
import { invalidate } from "./invalidation.ts";
import type { Changes, Freshness, PathParameters, PersonalChanges, Reads } from "./paths.ts";
import { read } from "./read.ts";

export type { Changes, PersonalChanges, Reads } from "./paths.ts";

const minRetryMs = 500;
const maxRetryMs = 5_000;
/** While earlier days are being scored, what is about scores is asked again so often. */
export const whileScoringMs = 15_000;
const aboutScores = /score|health-by-week|week-summary|accounts-at-risk|movers|^\/api\/(users|accounts)$/;
/** How long an answer is shown without asking again when a page comes back. */
const freshForMs = 15_000;

/** The parameters of a read. They may be left out when none is required. */
type Parameters<Query> =
  Record<never, never> extends Query ? { readonly query?: Query } : { readonly query: Query };

/** The inputs of a read: values for the names in its path, and its parameters. */
export type ReadOptions<Path extends keyof Reads> = Parameters<Reads[Path]["query"]> & {
  /** Not asked while false. */
  readonly enabled?: boolean;
  /** Asked again so often, which may depend on the last answer. */
  readonly everyMs?: number | ((answer: Reads[Path]["answer"] | undefined) => number);
  /** Shows the answer to the parameters before until the new one is there: for tables and charts. */
  readonly keepsPrevious?: boolean;
} & (unknown extends PathParameters<Path> ? unknown : { readonly path: PathParameters<Path> });

/** A query whose failures are the server's. */
export type Asked<Answer> = UseQueryResult<Answer, ApiFailure>;

/** Makes the cache of answers. @param onSignedOut called when an answer says that the session is over or has
 * another role */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshForMs,
        // Analysis restarts by itself, so its failures are retried. A refused request is not.
        retry: (failures, error) =>
          error instanceof ApiFailure &&
          (error.isStarting || (error.kind === "rate_limit_exceeded" && failures < 5)),
        retryDelay: (failures, error) => {
          const retryAfterMs = error instanceof ApiFailure ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
          return Math.min(maxRetryMs, Math.max(retryAfterMs, minRetryMs * 2 ** failures));
        },
      },
    },
  });
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || !(query.state.error instanceof ApiFailure)) return;
    const isRefused = [401, 403].includes(query.state.error.status);
    if (isRefused && query.queryKey[0] !== "session") onSignedOut();
  });
  return client;
}

/** Reads a path of the present organization. With `enabled: false` nothing is asked, and the query still
 * needs its required parameters: send empty texts. */
export function useRead<Path extends keyof Reads>(
  path: Path,
  ...[options]: Record<never, never> extends ReadOptions<Path> ? [ReadOptions<Path>?] : [ReadOptions<Path>]
): Asked<Reads[Path]["answer"]> {
  const { id } = useOrganization();
  const {
    query = {},
    enabled = true,
    everyMs,
    keepsPrevious,
    ...rest
  } = (options ?? {}) as ReadOptions<Path> & {
    readonly path?: QueryValues;
  };
  const address = addressOf(path, rest.path ?? {}, query, id);
  return useQuery<Reads[Path]["answer"], ApiFailure>({
    queryKey: [id, path, address],
    queryFn: async ({ signal }) => (await read(address, signal)) as Reads[Path]["answer"],
    enabled,
    refetchInterval:
      typeof everyMs === "function"
        ? ({ state }) => everyMs(state.data)
        : (everyMs ?? (({ state }) => isBeingScored(path, state.data) && whileScoringMs)),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}

/** Whether an answer is about scores of which some are still being worked out: then it is asked again by
 * itself. */
export function isBeingScored(path: string, answer: unknown): boolean {
  if (!aboutScores.test(path) || typeof answer !== "object" || answer === null) return false;
  const { freshness } = answer as { readonly freshness?: Partial<Freshness> };
  return freshness?.earlierScores != null;
}

/** For answers that are read on: all pages would be asked again, one after another, so none is while there
 * are several. */
export const readOnOnly = {
  refetchOnWindowFocus: false,
  refetchOnMount: ({
    state,
  }: {
    readonly state: { readonly data: { readonly pages: readonly unknown[] } | undefined };
  }) => (state.data?.pages.length ?? 0) <= 1,
} as const;

/** Paths whose answers are pages, of which each begins before a place of the page before. */
type PagedPath = {
  [Path in keyof Reads]: "before" extends keyof Reads[Path]["query"] ? Path : never;
}[keyof Reads];

/** Reads a path page by page, as the reader goes on.
 * @param placeAfter the place before which the next page begins, sent as `before`. None after the last
 * page */
export function usePages<Path extends PagedPath>(
  path: Path,
  {
    path: parts,
    query,
    everyMs,
  }: {
    readonly path: PathParameters<Path>;
    readonly query: Reads[Path]["query"];
    /** Asked again so often, until the reader goes on. */
    readonly everyMs?: number;
  },
  placeAfter: (answer: Reads[Path]["answer"]) => string | number | null | undefined,
) {
  const { id } = useOrganization();
  const address = addressOf(path, parts as QueryValues, query, id);
  return useInfiniteQuery({
    queryKey: [id, path, "pages", address],
    queryFn: async ({ signal, pageParam }) =>
      (await read(
        addressOf(path, parts as QueryValues, { ...query, before: pageParam }, id),
        signal,
      )) as Reads[Path]["answer"],
    initialPageParam: undefined as string | number | undefined,
    getNextPageParam: (last) => placeAfter(last) ?? undefined,
    refetchInterval: ({ state }) =>
      everyMs !== undefined && state.data?.pages.length === 1 ? everyMs : false,
    ...readOnOnly,
  });
}

/** The address of a table as CSV, once the organization is given. */
export type CsvAddress = (organization: number) => string;

/** A table as CSV, for a link that downloads it. */
export function csvAddress<Path extends keyof Reads>(
  path: Path,
  query: Reads[Path]["query"],
  parts: QueryValues = {},
): CsvAddress {
  return (organization) => addressOf(path, parts, { ...query, format: "csv" }, organization);
}

/** The inputs of a change: values for the names in its path, its parameters and its body. */
export type ChangeInput<Route extends keyof Changes> = Parameters<Changes[Route]["query"]> &
  (Changes[Route]["body"] extends undefined ? unknown : { readonly body: Changes[Route]["body"] }) &
  (unknown extends PathParameters<Route> ? unknown : { readonly path: PathParameters<Route> });

/** Changes something in the present organization, then refetches the reads that it may have changed. The
 * answer to a PATCH or PUT has the form of a GET of its path. It is shown at once, even if the refetch fails.
 * @param onDone called with the answer before the refetch, which may no longer find the changed thing */
export function useChange<Route extends keyof Changes>(
  route: Route,
  onDone?: (answer: Changes[Route]["answer"]) => void,
) {
  const { id } = useOrganization();
  const client = useQueryClient();
  return useMutation<Changes[Route]["answer"], ApiFailure, ChangeInput<Route>>({
    mutationFn: async (input) => {
      const {
        path = {},
        query = {},
        body,
      } = input as {
        readonly path?: QueryValues;
        readonly query?: QueryValues;
        readonly body?: unknown;
      };
      const [method = "", pattern = ""] = route.split(" ");
      return (await call(method, addressOf(pattern, path, query, id), { body })) as Changes[Route]["answer"];
    },
    onSuccess: (answer) => {
      onDone?.(answer);
      const [method, path = ""] = route.split(" ");
      const known = [id, path, addressOf(path, {}, {}, id)];
      if ((method === "PATCH" || method === "PUT") && client.getQueryData(known) !== undefined)
        client.setQueryData(known, answer);
      void invalidate(client, id, route);
    },
  });
}

/** Changes the own account, or signs in. */
export function usePersonalChange<Route extends keyof PersonalChanges>(route: Route) {
  return useMutation<PersonalChanges[Route]["answer"], ApiFailure, PersonalChanges[Route]["body"]>({
    mutationFn: async (body) => {
      const [method = "", path = ""] = route.split(" ");
      return (await call(method, path, { body })) as PersonalChanges[Route]["answer"];
    },
  });
}
