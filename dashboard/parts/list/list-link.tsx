/** A figure as a link to the list of the users or accounts in it. */
import { useRouter } from "@tanstack/react-router";
import { createContext, type ReactElement, type ReactNode, use } from "react";
import { PageLink } from "../../app/page-link.ts";
import { useOrganization } from "../../app/session.ts";
import { numbers } from "../../text/format.ts";
import { listAddresses } from "./view-address.ts";

/** A list, and the parameters of its address: the figure has exactly as many rows there. */
export interface ListBehind {
  readonly page: "users" | "accounts";
  readonly query: Readonly<Record<string, string>>;
}

const Segment = createContext<number | undefined>(undefined);

/** Figures about one segment: the lists behind them have it as a filter. @param segment undefined for all */
export function ListsOfSegment({
  segment,
  children,
}: {
  segment?: number;
  children: ReactNode;
}): ReactElement {
  return <Segment value={segment}>{children}</Segment>;
}

/** The parameters of a list's address, with the segment of the figure. */
function useQueryOf(): (list: ListBehind) => ListBehind["query"] {
  const segment = use(Segment);
  return ({ query }) => (segment === undefined ? query : { ...query, segment: String(segment) });
}

interface ListLinkProps {
  readonly list: ListBehind;
  /** Without a line below it until it is pointed at: for tables, where every figure is one. */
  readonly isQuiet?: boolean;
  readonly children: ReactNode;
}

export function ListLink({ list, children, isQuiet = false }: ListLinkProps): ReactElement {
  const queryOf = useQueryOf();
  const line = isQuiet ? "hover:underline" : "underline decoration-edge decoration-1 underline-offset-3";
  return (
    <PageLink to={listAddresses[list.page]} search={queryOf(list)} className={line}>
      {children}
    </PageLink>
  );
}

/** A part of a bar of which the text beside it has the same link: for the pointer alone.
 * @param share of the bar's width, of 1 */
export function BarPart({
  list,
  share,
  className,
}: Pick<ListLinkProps, "list"> & { share: number; className: string }): ReactElement {
  const queryOf = useQueryOf();
  return (
    <PageLink
      to={listAddresses[list.page]}
      search={queryOf(list)}
      tabIndex={-1}
      className={className}
      style={{ width: `${share * 100}%` }}
    />
  );
}

/** A count that leads to its list. A count of 0 has no link. */
export function CountLink({
  count,
  list,
  isQuiet = false,
}: {
  count: number | null | undefined;
  list: ListBehind | undefined;
  isQuiet?: boolean;
}): ReactElement {
  if (list === undefined || !count) return <>{numbers.count(count)}</>;
  return (
    <ListLink list={list} isQuiet={isQuiet}>
      {numbers.count(count)}
    </ListLink>
  );
}

/** Addresses of lists for parts of a drawing, e.g. a bar of a chart. */
export function useListAddress(): (list: ListBehind) => string {
  const organization = String(useOrganization().id);
  const router = useRouter();
  const queryOf = useQueryOf();
  return (list) =>
    router.buildLocation({ to: listAddresses[list.page], params: { organization }, search: queryOf(list) })
      .publicHref;
}
