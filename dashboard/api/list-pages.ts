/** Lists that are read on while the reader scrolls. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useOrganization } from "../app/session.ts";
import { addressOf } from "./client.ts";
import type { Reads } from "./paths.ts";
import { isBeingScored, readOnOnly, whileScoringMs } from "./query.ts";
import { read } from "./read.ts";

/** Paths whose answers are pages of a list. */
type ListPath = {
  [Path in keyof Reads]: Reads[Path]["answer"] extends { readonly total: number }
    ? "offset" extends keyof Reads[Path]["query"]
      ? Path
      : never
    : never;
}[keyof Reads];

/** So many rows of a page are rows of the page before. Between two readings rows move: while some of these
 * come again, no row between the two pages was missed. */
const overlapRows = 20;

interface PageOfList<Answer> {
  readonly answer: Answer;
  /** The place of its first row in the list. */
  readonly offset: number;
}

interface Place {
  readonly offset: number;
  /** The last rows that were read before. */
  readonly known: readonly string[];
}

/**
 * Reads a list of the present organization page after page. `data` has the answers to the pages that were
 * asked for so far, which overlap. The rows before are shown until those of new parameters are there.
 * @param query without limit and offset
 * @param idsIn the ids of an answer's rows
 */
export function useReadPages<Path extends ListPath>(
  path: Path,
  query: Reads[Path]["query"],
  pageSize: number,
  idsIn: (answer: Reads[Path]["answer"]) => readonly string[],
) {
  type Answer = Reads[Path]["answer"];
  const { id } = useOrganization();
  const address = (offset: number) => addressOf(path, {}, { ...query, limit: pageSize, offset }, id);
  return useInfiniteQuery({
    queryKey: [id, path, address(0), "pages"],
    queryFn: async ({ pageParam, signal }): Promise<PageOfList<Answer>> => {
      let { offset } = pageParam;
      for (;;) {
        const answer = (await read(address(offset), signal)) as Answer;
        const isJoined = idsIn(answer).some((one) => pageParam.known.includes(one));
        if (isJoined || offset === 0) return { answer, offset };
        // Many rows have left the list before this place.
        offset = Math.max(0, offset - pageSize + overlapRows);
      }
    },
    initialPageParam: { offset: 0, known: [] } as Place,
    getNextPageParam: ({ answer, offset }): Place | undefined => {
      const ids = idsIn(answer);
      const end = offset + ids.length;
      if (ids.length < pageSize || end >= answer.total) return undefined;
      return { offset: end - overlapRows, known: ids.slice(-overlapRows) };
    },
    placeholderData: keepPreviousData,
    ...readOnOnly,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && isBeingScored(path, data.pages[0]?.answer) && whileScoringMs,
  });
}
