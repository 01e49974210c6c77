/** The server's answers as queries: asked once, shared by whoever shows them, typed by their path. */
import {
  keepPreviousData,
  QueryClient,
  queryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useOrganization } from "../app/session.ts";
import { ApiFailure, addressOf, call, type QueryValues } from "./client.ts";
import type { Changes, Freshness, PathParameters, PersonalChanges, Reads } from "./paths.ts";

const minRetryMs = 500;
const maxRetryMs = 5_000;
/** While earlier days are being scored, what is about scores is asked again so often. */
const whileScoringMs = 15_000;
const aboutScores = /score|health-by-week|week-summary|accounts-at-risk|movers|^\/api\/(users|accounts)$/;
/** How long an answer is shown without asking again when a page comes back. */
const freshForMs = 15_000;

/** What a read needs to know: names in its path and its parameters. */
export type ReadOptions<Path extends keyof Reads> = {
  readonly query?: Reads[Path]["query"];
  /** Not asked while false. */
  readonly enabled?: boolean;
  /** Asked again so often. */
  readonly everyMs?: number;
  /** Shows the answer to the parameters before until the new one is there: for tables and charts. */
  readonly keepsPrevious?: boolean;
} & (unknown extends PathParameters<Path> ? unknown : { readonly path: PathParameters<Path> });

/** A query whose failures are the server's. */
export type Asked<Answer> = UseQueryResult<Answer, ApiFailure>;

/** Makes the cache of answers. @param onSignedOut called when an answer says that the session is over */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshForMs,
        // Analysis comes back by itself, so asking goes on; what is refused stays refused.
        retry: (failures, error) =>
          error instanceof ApiFailure &&
          (error.isStarting || (error.kind === "rate_limit_exceeded" && failures < 5)),
        retryDelay: (failures, error) => {
          const said = error instanceof ApiFailure ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
          return Math.min(maxRetryMs, Math.max(said, minRetryMs * 2 ** failures));
        },
      },
    },
  });
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || !(query.state.error instanceof ApiFailure)) return;
    if (query.state.error.status === 401 && query.queryKey[0] !== "session") onSignedOut();
  });
  return client;
}

/** Reads a path of the present organization. */
export function useRead<Path extends keyof Reads>(
  path: Path,
  ...[options]: unknown extends PathParameters<Path> ? [ReadOptions<Path>?] : [ReadOptions<Path>]
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
  const asked = readOptions(id, path, rest.path ?? {}, query);
  return useQuery<Reads[Path]["answer"], ApiFailure>({
    ...asked,
    enabled,
    refetchInterval: everyMs ?? (({ state }) => isBeingScored(path, state.data) && whileScoringMs),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}

/** Whether an answer is about scores of which some are still being worked out: then it is asked again by itself. */
function isBeingScored(path: string, answer: unknown): boolean {
  if (!aboutScores.test(path) || typeof answer !== "object" || answer === null) return false;
  const { freshness } = answer as { readonly freshness?: Partial<Freshness> };
  return freshness?.earlierScores != null;
}

/** Paths whose answers are pages of a list. */
type ListPath = {
  [Path in keyof Reads]: Reads[Path]["answer"] extends { readonly total: number }
    ? "offset" extends keyof Reads[Path]["query"]
      ? Path
      : never
    : never;
}[keyof Reads];

/**
 * Reads a list of the present organization page after page: `data` has the answers to the pages that were asked for so
 * far. The rows before are shown until those of new parameters are there.
 * @param query without limit and offset
 * @param rowsIn how many rows an answer has
 */
export function useReadPages<Path extends ListPath>(
  path: Path,
  query: Reads[Path]["query"],
  pageSize: number,
  rowsIn: (answer: Reads[Path]["answer"]) => number,
) {
  const { id } = useOrganization();
  const address = (offset: number) => addressOf(path, {}, { ...query, limit: pageSize, offset }, id);
  return useInfiniteQuery({
    queryKey: [id, path, address(0), "pages"],
    queryFn: async ({ pageParam, signal }) =>
      (await call("GET", address(pageParam), { signal })) as Reads[Path]["answer"],
    initialPageParam: 0,
    getNextPageParam: (last, _pages, offset) => {
      const next = offset + rowsIn(last);
      return rowsIn(last) === pageSize && next < last.total ? next : undefined;
    },
    placeholderData: keepPreviousData,
    // All pages would be asked again, one after another.
    refetchOnWindowFocus: false,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && isBeingScored(path, data.pages[0]) && whileScoringMs,
  });
}

function readOptions<Path extends keyof Reads>(
  organization: number,
  path: Path,
  parts: QueryValues,
  query: QueryValues,
) {
  const address = addressOf(path, parts, query, organization);
  return queryOptions<Reads[Path]["answer"], ApiFailure, Reads[Path]["answer"], readonly unknown[]>({
    queryKey: [organization, path, address],
    queryFn: async ({ signal }) => (await call("GET", address, { signal })) as Reads[Path]["answer"],
  });
}

/** Paths whose answers are read on by `next`, sent as `before`. */
type PagedPath = {
  [Path in keyof Reads]: Reads[Path]["answer"] extends { readonly next: string | null } ? Path : never;
}[keyof Reads];

/** Reads a path page by page, as the reader goes on. */
export function usePages<Path extends PagedPath>(
  path: Path,
  { path: parts, query }: { readonly path: PathParameters<Path>; readonly query: Reads[Path]["query"] },
) {
  const { id } = useOrganization();
  const address = addressOf(path, parts as QueryValues, query, id);
  return useInfiniteQuery({
    queryKey: [id, path, "pages", address],
    queryFn: async ({ signal, pageParam }) =>
      (await call("GET", addressOf(path, parts as QueryValues, { ...query, before: pageParam }, id), {
        signal,
      })) as Reads[Path]["answer"],
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    // Asked again as one page and not as all that were read: the rest is older, and stays as it was.
    refetchOnWindowFocus: false,
  });
}

/** The address of a table as CSV, for a link that downloads it. */
export function csvAddress<Path extends keyof Reads>(
  organization: number,
  path: Path,
  query: Reads[Path]["query"],
  parts: QueryValues = {},
): string {
  return addressOf(path, parts, { ...query, format: "csv" }, organization);
}

type ChangeInput<Route extends keyof Changes> = {
  readonly query?: Changes[Route]["query"];
} & (Changes[Route]["body"] extends undefined ? unknown : { readonly body: Changes[Route]["body"] }) &
  (unknown extends PathParameters<Route> ? unknown : { readonly path: PathParameters<Route> });

/** Changes something in the present organization. Everything that is shown of it is then asked again; what a PATCH
 * answers is what a GET of its path would, and is shown at once, whether or not the figures can be asked for.
 * @param onDone called before that, with the answer: what was changed may be there no longer when it is asked for */
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
      if (method === "PATCH" && client.getQueryData(known) !== undefined) client.setQueryData(known, answer);
      void client.invalidateQueries({ queryKey: [id] });
    },
  });
}

/** Changes something of the person who is here, or signs in. */
export function usePersonalChange<Route extends keyof PersonalChanges>(route: Route) {
  return useMutation<PersonalChanges[Route]["answer"], ApiFailure, PersonalChanges[Route]["body"]>({
    mutationFn: async (body) => {
      const [method = "", path = ""] = route.split(" ");
      return (await call(method, path, { body })) as PersonalChanges[Route]["answer"];
    },
  });
}
