/** The rows of a cohort grid: a group with its weighted mean, and its cohorts below. */
import { memo, type ReactElement } from "react";
import { heatClass } from "../parts/figure/heat.ts";
import { Icon } from "../parts/icons.tsx";
import { classes } from "../text/classes.ts";
import { numbers } from "../text/format.ts";
import type { Spot } from "./cohort-cell-keys.ts";
import {
  type GridCell,
  type GridCohort,
  type GridGroup,
  type GridWords,
  periodsText,
  type Scale,
} from "./cohort-model.ts";
import { rowName } from "./cohort-places.ts";

const sticky = "sticky z-[2] bg-surface";
const firstColumn = "left-0 w-24 min-w-24 max-w-24 text-sm sm:w-36 sm:min-w-36 sm:max-w-36";
const secondColumn = "left-24 sm:left-36 px-2 text-right text-sm";

/** The names of the columns. */
export function Head({
  columns,
  words: { cohort, size, period },
  isDense,
}: {
  columns: number;
  words: GridWords;
  isDense: boolean;
}): ReactElement {
  const header = "sticky top-0 h-7 bg-surface text-xs font-medium text-soft";
  return (
    <thead>
      <tr>
        <th scope="col" className={classes(header, firstColumn, "z-[3] text-left")}>
          {cohort}
        </th>
        <th scope="col" className={classes(header, secondColumn, "z-[3]")}>
          {size}
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
  readonly group: GridGroup;
  readonly words: GridWords;
  readonly isSplit: boolean;
  readonly isOpen: boolean;
  /** Whether the cells of cohorts can be clicked. */
  readonly canPick: boolean;
  readonly look: Look;
  /** The id of the element that describes the cell with the focus. */
  readonly tipId: string | undefined;
  readonly entrance: Spot | undefined;
  readonly onToggle: (key: string) => void;
}

/** A group: its mean in a row that opens it, and the cohorts while it is open. */
export const GroupRows = memo(function GroupRows(props: GroupRowsProps) {
  const { group, isSplit, isOpen, onToggle } = props;
  const { key, label, size, cohorts, mean } = group;
  const row = rowName(key);
  return (
    <tbody>
      <tr data-row={row} className="font-medium">
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
        <td className={classes(sticky, secondColumn)}>{numbers.count(size)}</td>
        <Cells cells={mean} {...placeIn(row, props)} />
      </tr>
      {isOpen && cohorts.map((cohort) => <CohortRow key={cohort.day} {...props} cohort={cohort} />)}
    </tbody>
  );
});

function CohortRow({ cohort, ...props }: GroupRowsProps & { cohort: GridCohort }): ReactElement {
  const { group, words, isSplit } = props;
  const { day, size, isSmall, cells, mark } = cohort;
  const row = rowName(group.key, day);
  return (
    <tr data-row={row}>
      <th
        scope="row"
        className={classes(
          sticky,
          firstColumn,
          "h-8 text-left font-normal whitespace-nowrap",
          isSplit && "pl-3 sm:pl-4",
        )}
      >
        {words.cohortText(day)}
        {mark !== undefined && (
          <>
            {" "}
            {/* On a phone it stands below the day: the column is as narrow as that. */}
            <span className="block text-xs/3 text-soft sm:inline" title={mark.hint}>
              {mark.text}
            </span>
          </>
        )}
      </th>
      <td className={classes(sticky, secondColumn, isSmall && "text-soft")}>{numbers.count(size)}</td>
      <Cells cells={cells} {...placeIn(row, props)} />
    </tr>
  );
}

/** The properties of a row's cells. They are equal for all rows but the one with the focus, so that only that
 * row is drawn again. */
function placeIn(row: string, { look, canPick, tipId, entrance }: GroupRowsProps) {
  const isHere = entrance?.row === row;
  return {
    ...look,
    canPick,
    tipId: isHere ? tipId : undefined,
    entrance: isHere ? entrance.column : undefined,
  };
}

interface CellsProps extends Look {
  readonly cells: readonly GridCell[];
  readonly canPick: boolean;
  readonly tipId: string | undefined;
  /** At which of them the Tab key comes in. */
  readonly entrance: number | undefined;
}

/** The cells of a row. Drawn again only when one of them gets or loses the focus: a table may have
 * thousands. */
const Cells = memo(function Cells({ cells, scale, isDense, canPick, tipId, entrance }: CellsProps) {
  return cells.map((cell) => {
    const { period, share, isSmall, isComplete } = cell;
    const isUnfinished = isComplete === false;
    const isFew = period > 0 && isSmall;
    return (
      <td
        key={period}
        data-column={period}
        tabIndex={entrance === period ? 0 : -1}
        aria-describedby={entrance === period ? tipId : undefined}
        className={classes(
          "h-8 text-right text-sm focus-visible:outline-offset-1",
          isDense ? "px-1" : "px-1.5",
          canPick && isComplete !== undefined
            ? "cursor-pointer hover:outline hover:outline-ink"
            : "cursor-default",
          period === 0 ? "bg-sunk" : heatClass(share - scale.low, scale.high - scale.low),
          isUnfinished && "hatched",
        )}
      >
        {isFew && <span aria-hidden="true">~</span>}
        {numbers.count(share * 100)}
        <span className="sr-only">
          {" "}
          %{isFew && ", small cohort"}
          {isUnfinished && ", not complete"}
        </span>
      </td>
    );
  });
});
