/** Retention as a heat map that is a table: cohorts by rows, periods by columns, groups that open and close. */
import { memo, type ReactElement, useId, useMemo, useRef, useState } from "react";
import { heatClass } from "../../parts/heat.ts";
import { Icon } from "../../parts/icons.tsx";
import { Scrollable } from "../../parts/scrollable.tsx";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";
import { type Spot, spotOf, useGridKeys } from "./cell-keys.ts";
import { CellTip } from "./cell-tip.tsx";
import {
  type Cell,
  cohortText,
  type Group,
  type MeanCell,
  type Scale,
  scaleOf,
  smallCohortUsers,
} from "./cohorts.ts";
import { type Choices, periodsText } from "./question.ts";

interface HeatMapProps {
  readonly groups: readonly Group[];
  readonly period: Choices["period"];
  readonly isSplit: boolean;
  readonly openKeys: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
  /** Asks for the people behind a cell. */
  readonly onPick: (cell: Cell, group: Group) => void;
}

/** More rows than this scroll within the window, below a header that stays. */
const maxRowsOnPage = 32;

export function HeatMap({ groups, period, isSplit, openKeys, onToggle, onPick }: HeatMapProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const tipId = useId();
  // The cell that had the focus last: there the Tab key comes in again.
  const [last, setLast] = useState<Spot>();
  const [hasFocus, setFocus] = useState(false);
  const [hovered, setHovered] = useState<Spot>();
  const [isHidden, setHidden] = useState(false);
  const cells = useMemo(
    () => groups.flatMap(({ cohorts }) => cohorts.flatMap((cohort) => cohort.cells)),
    [groups],
  );
  const scale = useMemo(() => scaleOf(cells), [cells]);
  const columns = 1 + Math.max(0, ...cells.map((cell) => cell.period));
  const isOpen = ({ key }: Group) => !isSplit || openKeys.has(key);
  const rows = groups.reduce((sum, group) => sum + 1 + (isOpen(group) ? group.cohorts.length : 0), 0);
  const look = useMemo(() => ({ scale, isDense: columns > 16 }), [scale, columns]);
  const pick = ({ row, column }: Spot) => {
    const found = find(groups, row, column);
    if (found?.cohort !== undefined) onPick(found.cell, found.group);
  };
  const keys = useGridKeys({ onPick: pick, onEscape: () => setHidden(true) });
  const shown = isHidden ? undefined : (hovered ?? (hasFocus ? last : undefined));
  const entrance = entranceOf(groups, isOpen, last);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only shows what focus shows as well
    <div
      ref={place}
      onPointerOver={({ target, pointerType }) => {
        setHidden(false);
        setHovered(pointerType === "touch" ? undefined : spotOf(target));
      }}
      onPointerLeave={() => setHovered(undefined)}
      onFocus={({ target }) => {
        setHidden(false);
        setFocus(true);
        setLast(spotOf(target));
      }}
      onBlur={() => setFocus(false)}
    >
      <Scrollable
        label="Cohorts, which can be scrolled"
        className={classes(
          "relative overflow-auto px-4 pb-1 [scroll-padding:2.5rem_1rem_1rem_13rem]",
          rows > maxRowsOnPage && "max-h-[78dvh]",
        )}
      >
        <table
          {...keys}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its cells are reached by arrow keys
          role="grid"
          aria-label="Retention by cohort"
          className="border-separate border-spacing-px"
        >
          <Head columns={columns} period={period} isDense={look.isDense} />
          {groups.map((group) => (
            <GroupRows
              key={group.key}
              {...{ group, period, isSplit, look, entrance, onToggle }}
              tipId={hasFocus ? tipId : undefined}
              isOpen={isOpen(group)}
            />
          ))}
        </table>
      </Scrollable>
      <CellTip
        id={tipId}
        place={place}
        spot={shown}
        found={shown && find(groups, shown.row, shown.column)}
        period={period}
      />
    </div>
  );
}

/** The one cell that the Tab key reaches: the last one that had the focus while it is there, else the first. */
function entranceOf(
  groups: readonly Group[],
  isOpen: (group: Group) => boolean,
  last: Spot | undefined,
): Spot | undefined {
  const found = last && find(groups, last.row, last.column);
  if (found !== undefined && (found.cohort === undefined || isOpen(found.group))) return last;
  for (const group of groups) {
    const { key, mean, cohorts } = group;
    if (mean[0] !== undefined) return { row: `${key}\n`, column: mean[0].period };
    if (isOpen(group) && cohorts[0] !== undefined) return { row: `${key}\n${cohorts[0].day}`, column: 0 };
  }
  return undefined;
}

/** What stands at a place of the table: of a cohort, or the weighted mean of its group. */
export type Found =
  | { readonly group: Group; readonly cohort: string; readonly cell: Cell }
  | { readonly group: Group; readonly cohort?: undefined; readonly cell: MeanCell };

function find(groups: readonly Group[], row: string, column: number): Found | undefined {
  const [day = "", ...rest] = row.split("\n").reverse();
  const group = groups.find(({ key }) => key === rest.reverse().join("\n"));
  if (group === undefined) return undefined;
  if (day === "") {
    const cell = group.mean.find(({ period }) => period === column);
    return cell && { group, cell };
  }
  const cell = group.cohorts.find((cohort) => cohort.day === day)?.cells[column];
  return cell && { group, cohort: day, cell };
}

const sticky = "sticky z-[2] bg-surface";
const firstColumn = "left-0 w-24 min-w-24 max-w-24 text-sm sm:w-36 sm:min-w-36 sm:max-w-36";
const secondColumn = "left-24 sm:left-36 px-2 text-right text-sm";

function Head({
  columns,
  period,
  isDense,
}: {
  columns: number;
  period: Choices["period"];
  isDense: boolean;
}): ReactElement {
  const header = "sticky top-0 h-7 bg-surface text-xs font-medium text-soft";
  return (
    <thead>
      <tr>
        <th scope="col" className={classes(header, firstColumn, "z-[3] text-left")}>
          {{ day: "Day", week: "Week of", month: "Month" }[period]}
        </th>
        <th scope="col" className={classes(header, secondColumn, "z-[3]")}>
          Users
        </th>
        {Array.from({ length: columns }, (_, column) => column).map((column) => (
          <th
            key={column}
            scope="col"
            title={column === 0 ? `The cohort’s own ${period}` : `${periodsText(column, period)} after`}
            className={classes(
              header,
              "z-[1] text-right",
              isDense ? "min-w-[2.1rem] px-1" : "min-w-12 px-1.5",
            )}
          >
            <span className="sr-only">{period} </span>
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface Look {
  readonly scale: Scale;
  /** Many columns, each as narrow as its figures. */
  readonly isDense: boolean;
}

interface GroupRowsProps {
  readonly group: Group;
  readonly period: Choices["period"];
  readonly isSplit: boolean;
  readonly isOpen: boolean;
  readonly look: Look;
  /** What describes the cell that has the focus. */
  readonly tipId: string | undefined;
  readonly entrance: Spot | undefined;
  readonly onToggle: (key: string) => void;
}

function GroupRows({ group, period, isSplit, isOpen, look, tipId, entrance, onToggle }: GroupRowsProps) {
  const { key, label, users, cohorts, mean } = group;
  const columnOf = (row: string) => (entrance?.row === row ? entrance.column : undefined);
  const meanRow = `${key}\n`;
  return (
    <tbody className="group/rows">
      <tr data-row={meanRow} className="font-medium">
        <th
          scope={isSplit ? "rowgroup" : "row"}
          className={classes(sticky, firstColumn, "h-8 truncate text-left font-medium")}
        >
          {isSplit ? (
            <button
              type="button"
              data-column={-1}
              aria-expanded={isOpen}
              title={label}
              onClick={() => onToggle(key)}
              className="flex h-8 w-full items-center gap-1 rounded text-left hover:text-ember focus-visible:-outline-offset-2"
            >
              <Icon name={isOpen ? "down" : "right"} size={13} />
              <span className="truncate">{label}</span>
            </button>
          ) : (
            "Weighted mean"
          )}
        </th>
        <td className={classes(sticky, secondColumn)}>{numbers.count(users)}</td>
        <Cells
          row={meanRow}
          cells={mean}
          {...look}
          tipId={tipId}
          isSmall={users < smallCohortUsers}
          entrance={columnOf(meanRow)}
        />
      </tr>
      {isOpen &&
        cohorts.map(({ day, users: members, cells }) => (
          <tr key={day} data-row={`${key}\n${day}`}>
            <th
              scope="row"
              className={classes(
                sticky,
                firstColumn,
                "h-8 truncate text-left text-sm font-normal",
                isSplit && "pl-4",
              )}
            >
              {cohortText(day, period)}
            </th>
            <td className={classes(sticky, secondColumn, members < smallCohortUsers && "text-soft")}>
              {numbers.count(members)}
            </td>
            <Cells
              row={`${key}\n${day}`}
              cells={cells}
              {...look}
              tipId={tipId}
              isSmall={members < smallCohortUsers}
              entrance={columnOf(`${key}\n${day}`)}
            />
          </tr>
        ))}
    </tbody>
  );
}

interface CellsProps extends Look {
  readonly row: string;
  readonly cells: readonly (Cell | MeanCell)[];
  readonly isSmall: boolean;
  readonly tipId: string | undefined;
  /** At which of them the Tab key comes in. */
  readonly entrance: number | undefined;
}

/** The cells of a row. Drawn again only when one of them gets or loses the focus: a table may have thousands. */
const Cells = memo(function Cells({ cells, scale, isDense, isSmall, tipId, entrance }: CellsProps) {
  return cells.map((cell) => {
    const { period, share } = cell;
    const isUnfinished = "isComplete" in cell && !cell.isComplete;
    const isFew = period > 0 && (isSmall || cell.cohortUsers < smallCohortUsers);
    return (
      <td
        key={period}
        data-column={period}
        tabIndex={entrance === period ? 0 : -1}
        aria-describedby={entrance === period ? tipId : undefined}
        className={classes(
          "h-8 text-right text-sm focus-visible:outline-offset-1",
          isDense ? "px-1" : "px-1.5",
          "isComplete" in cell ? "cursor-pointer hover:outline hover:outline-ink" : "cursor-default",
          period === 0 ? "bg-sunk" : heatClass(share - scale.low, scale.high - scale.low),
          isUnfinished && "hatched",
        )}
      >
        {isFew && <span aria-hidden="true">~</span>}
        {numbers.count(share * 100)}
        <span className="sr-only">
          {" "}
          %{isFew && ", small cohort"}
          {isUnfinished && ", not over"}
        </span>
      </td>
    );
  });
});

/** What the colours and marks of the table mean. */
export function HeatLegend({ groups, period }: Pick<HeatMapProps, "groups" | "period">): ReactElement {
  const cells = groups.flatMap(({ cohorts }) => cohorts.flatMap((cohort) => cohort.cells));
  const { low, high } = scaleOf(cells);
  return (
    <ul className="flex flex-wrap items-center gap-x-5 gap-y-1 px-4 pt-2 pb-3 text-sm text-soft">
      <li>Figures in %</li>
      <li className="flex items-center gap-1.5">
        {numbers.wholeShare(low)}
        {low > 0 && " or less"}
        <span aria-hidden="true" className="flex gap-px">
          {[0, 1, 2, 3, 4, 5, 6].map((step) => (
            <span key={step} className={`heat-${step} h-3 w-4`} />
          ))}
        </span>
        {numbers.wholeShare(high)}
        {high < 1 && " or more"}
      </li>
      <li className="flex items-center gap-1.5">
        <span aria-hidden="true" className="heat-2 hatched inline-block h-3 w-6" />
        the {period} is not over
      </li>
      <li>~ fewer than {smallCohortUsers} users, which may be far off</li>
    </ul>
  );
}
