/** Retention as a heat map that is a table: cohorts by rows, periods by columns, groups that open and close. */
import {
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { Scrollable } from "../../parts/list/scrollable.tsx";
import { classes } from "../../text/classes.ts";
import { type Spot, spotOf, useGridKeys } from "./cell-keys.ts";
import { CellTip } from "./cell-tip.tsx";
import { type Cell, type Group, scaleOf } from "./cohorts.ts";
import { entranceOf, find } from "./grid-places.ts";
import { GroupRows, Head } from "./heat-rows.tsx";
import type { Choices } from "./question.ts";

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
/** With more columns than this they are as narrow as their figures: 26 weeks fit into a wide window. */
const maxWideColumns = 16;

export function HeatMap({ groups, period, isSplit, openKeys, onToggle, onPick }: HeatMapProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const tipId = useId();
  const { last, shown, hasFocus, hide, handlers } = useSpots();
  const { look, columns } = useLook(groups);
  const isOpen = ({ key }: Group) => !isSplit || openKeys.has(key);
  const rows = groups.reduce((sum, group) => sum + 1 + (isOpen(group) ? group.cohorts.length : 0), 0);
  const pick = (spot: Spot) => {
    const found = find(groups, spot);
    if (found?.cohort !== undefined) onPick(found.cell, found.group);
  };
  const keys = useGridKeys({ onPick: pick, onEscape: hide });
  const entrance = entranceOf(groups, isOpen, last);
  return (
    <div ref={place} {...handlers}>
      <Scrollable
        label="Cohorts, which can be scrolled"
        className={classes(
          "relative overflow-auto px-4 pb-1 [scroll-padding:2.5rem_1rem_1rem_10rem] sm:[scroll-padding-left:13rem]",
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
              {...{ group, period, isSplit, look, onToggle }}
              entrance={entrance?.group === group ? entrance.spot : undefined}
              tipId={hasFocus ? tipId : undefined}
              isOpen={isOpen(group)}
            />
          ))}
        </table>
      </Scrollable>
      <CellTip id={tipId} place={place} spot={shown} found={shown && find(groups, shown)} period={period} />
    </div>
  );
}

/** How cells look depends on all of them. */
function useLook(groups: readonly Group[]) {
  return useMemo(() => {
    const cells = groups.flatMap(({ cohorts }) => cohorts.flatMap((cohort) => cohort.cells));
    const columns = 1 + Math.max(0, ...cells.map((cell) => cell.period));
    return { columns, look: { scale: scaleOf(cells), isDense: columns > maxWideColumns } };
  }, [groups]);
}

/** Which cell had the focus last, and of which the tip is shown: under the pointer, else with the focus. */
function useSpots() {
  const [last, setLast] = useState<Spot>();
  const [hasFocus, setFocus] = useState(false);
  const [hovered, setHovered] = useState<Spot>();
  const [isHidden, setHidden] = useState(false);
  const handlers = {
    onPointerOver: ({ target, pointerType }: PointerEvent) => {
      setHidden(false);
      setHovered(pointerType === "touch" ? undefined : spotOf(target));
    },
    onPointerLeave: () => setHovered(undefined),
    onFocus: ({ target }: FocusEvent) => {
      setHidden(false);
      setFocus(true);
      setLast(spotOf(target));
    },
    onBlur: () => setFocus(false),
  };
  const shown = isHidden ? undefined : (hovered ?? (hasFocus ? last : undefined));
  return { last, hasFocus, shown, hide: () => setHidden(true), handlers };
}
