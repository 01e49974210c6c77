/** The page of a list: saved views, filters, and a table that goes on while the reader scrolls. For users and
 * accounts. */
import { type ReactElement, type ReactNode, useMemo } from "react";
import { useReadPages } from "../../api/list-pages.ts";
import { csvAddress, type Reads } from "../../api/query.ts";
import { ConditionFilters } from "../../pages/segments/condition-filters.tsx";
import { SaveSegment, SegmentBar } from "../../pages/segments/save-segment.tsx";
import { OwnerPick } from "../../pages/tasks/owner-pick.tsx";
import { type Billing, billingColumns } from "../billing/columns.tsx";
import { BillingFilters } from "../billing/list-filters.tsx";
import type { Payer } from "../billing/words.tsx";
import { Freshness } from "../figure/freshness.tsx";
import { Button } from "../form/button.tsx";
import { PageHeader, Panel } from "../panel.tsx";
import { Empty, Figures, Loading } from "../states.tsx";
import { DataTable, type Sort } from "./data-table.tsx";
import { FallFilter } from "./fall-filter.tsx";
import { columnsText, firstSort, type ListValues, useColumnChoice } from "./list-address.ts";
import { ListFilters } from "./list-filters.tsx";
import { riskColumn, type ScoredRow, ScoresOf, UsualChange } from "./score-columns.tsx";
import type { Column } from "./table-model.ts";
import { ViewStrip } from "./view-strip.tsx";

const pageSize = 200;

/** A row of either list. */
type ListedRow = Payer & Pick<ScoredRow, "activityPosition">;

interface ListPageProps<Kind extends "users" | "accounts", Row extends ListedRow> {
  readonly kind: Kind;
  /** The name of the page: Users. */
  readonly title: string;
  /** The word for one row: user. */
  readonly one: string;
  /** The fields that the search covers. */
  readonly searchIn: string;
  readonly values: ListValues & { readonly sort: string };
  readonly onChange: (changed: Partial<ListValues>, isTyping?: boolean) => void;
  readonly onSort: (sort: Sort) => void;
  /** The parameters of the API. */
  readonly query: Reads[`/api/${Kind}`]["query"];
  readonly rowsOf: (answer: Reads[`/api/${Kind}`]["answer"]) => readonly Row[];
  /** At module scope or remembered, as are the columns. */
  readonly rowId: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** Whether any filter is set, those of this list alone included. */
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** Whether the list contains users who are excluded from figures. */
  readonly hasExcluded?: boolean;
  /** Filters that only this list has. */
  readonly children?: ReactNode;
  /** The text of an empty list. */
  readonly none: ReactNode;
}

export function ListPage<Kind extends "users" | "accounts", Row extends ListedRow>(
  props: ListPageProps<Kind, Row>,
): ReactElement {
  const { kind, title, one, values, onChange, query, rowsOf, rowId, isFiltered, onClear } = props;
  const path = `/api/${kind}` as const;
  const pages = useReadPages(path, query, pageSize, (answer) => rowsOf(answer).map(rowId));
  const first = pages.data?.pages[0]?.answer;
  const columns = useLeading(useWithBilling(props.columns, first?.billing), first?.leadsWithRisk ?? false);
  const choice = useColumnChoice(kind, columns, values.columns, (shown) => onChange({ columns: shown }));
  const rows = useMemo(() => {
    const all = (pages.data?.pages ?? []).flatMap(({ answer }) => rowsOf(answer));
    // Pages overlap, and a row that moves between two readings comes twice.
    return [...new Map(all.map((row) => [rowId(row), row])).values()];
  }, [pages.data, rowsOf, rowId]);
  return (
    <>
      <PageHeader
        title={title}
        actions={<SaveSegment kind={kind} query={query} saves={values.saves} scored={first?.day} />}
      >
        <Freshness freshness={first?.freshness} hasExcluded={props.hasExcluded ?? false} />
      </PageHeader>
      <SegmentBar kind={kind} query={query} saves={values.saves} scored={first?.day}>
        <ViewStrip page={kind} everything={`All ${kind}`} columns={columnsText(choice.shown)} />
      </SegmentBar>
      <Panel isFlush className="pt-2">
        <ListFilters
          what={kind}
          searchIn={props.searchIn}
          values={values}
          onChange={onChange}
          isFiltered={isFiltered}
          onClear={onClear}
        >
          <BillingFilters kind={kind} billing={first?.billing} values={values} onChange={onChange} />
          <OwnerPick value={values.owner} onChoose={(owner) => onChange({ owner })} />
          {props.children}
          <FallFilter kind={kind} values={values} onChange={onChange} />
          <ConditionFilters kind={kind} values={values} onChange={onChange} />
        </ListFilters>
        <Figures
          asked={{ ...pages, data: first }}
          loading={<Loading rows={14} />}
          empty={({ total }) =>
            total === 0 && (isFiltered ? <NothingFound what={one} onClear={onClear} /> : props.none)
          }
        >
          {(answer) => (
            <UsualChange value={answer.usualChange}>
              <DataTable
                label={title}
                name={kind}
                words={[one, kind]}
                rows={rows}
                columns={columns}
                choice={choice}
                rowId={rowId}
                sort={{ by: sortedBy(values.sort, answer.day), order: values.order }}
                onSort={props.onSort}
                more={{
                  total: answer.total,
                  isComing: pages.isFetchingNextPage,
                  hasMore: pages.hasNextPage,
                  onMore: () => void pages.fetchNextPage({ cancelRefetch: false }),
                }}
                csv={csvAddress(path, query)}
                tools={
                  <ScoresOf
                    answer={answer}
                    isByActivity={
                      values.sort === firstSort &&
                      rows.some(({ activityPosition }) => activityPosition !== null)
                    }
                  />
                }
              />
            </UsualChange>
          )}
        </Figures>
      </Panel>
    </>
  );
}

/** The columns with those of subscriptions after the churn risk. */
function useWithBilling<Row extends Payer>(
  columns: readonly Column<Row>[],
  billing: Billing | undefined,
): readonly Column<Row>[] {
  const { reportingCurrency, hasExpectedLoss = false } = billing ?? {};
  return useMemo(
    () =>
      columns.flatMap((column) =>
        column.id === riskColumn ? [column, ...billingColumns(reportingCurrency, hasExpectedLoss)] : [column],
      ),
    [columns, reportingCurrency, hasExpectedLoss],
  );
}

/** The columns with churn risk before health, where health bands do not separate those who leave. */
function useLeading<Row>(columns: readonly Column<Row>[], leadsWithRisk: boolean): readonly Column<Row>[] {
  return useMemo(() => {
    if (!leadsWithRisk) return columns;
    const isOfHealth = ({ id }: Column<Row>) => id === "health" || id === "change";
    const health = columns.filter(isOfHealth);
    return columns
      .filter((column) => !isOfHealth(column))
      .flatMap((column) => (column.id === riskColumn ? [column, ...health] : [column]));
  }, [columns, leadsWithRisk]);
}

/** A list of which nothing matches the filters. @param what one row is called: user */
function NothingFound({ what, onClear }: { what: string; onClear: () => void }): ReactElement {
  return (
    <Empty title={`No ${what} matches`}>
      <p className="mb-3">Take away a filter, or look for another text.</p>
      <Button isSmall onClick={onClear}>
        Clear filters
      </Button>
    </Empty>
  );
}

/** The column by which rows are sorted. Rows without a risk are sorted by their last visit, and before the
 * first scores all rows are such. */
function sortedBy(sort: string, scoredDay: string | null): string {
  return sort === firstSort && scoredDay === null ? "lastSeen" : sort;
}
