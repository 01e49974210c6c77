/** A heat map of cohorts that is a table: cohorts by rows, periods by columns, groups that open and close. */
import {
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { Scrollable } from "../parts/list/scrollable.tsx";
import { classes } from "../text/classes.ts";
import { type Spot, spotOf, useGridKeys } from "./cohort-cell-keys.ts";
import { CellTip } from "./cohort-cell-tip.tsx";
import { cellsOf, type GridGroup, type GridWords, type Scale } from "./cohort-model.ts";
import { entranceOf, type Found, find } from "./cohort-places.ts";
import { GroupRows, Head } from "./cohort-rows.tsx";

interface CohortGridProps {
  /** The table's name. */
  readonly label: string;
  readonly groups: readonly GridGroup[];
  readonly words: GridWords;
  /** Of the colours. It should be one object for as long as nothing changes. */
  readonly scale: Scale;
  readonly isSplit: boolean;
  readonly openKeys: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
  /** The description of a cell. */
  readonly tip: (found: Found) => ReactNode;
  /** Called with a cohort's cell that is clicked. */
  readonly onPick?: (found: Found) => void;
}

/** More rows than this scroll within the window, below a header that stays. */
const maxRowsOnPage = 32;
/** With more columns than this they are as narrow as their figures: 26 weeks fit into a wide window. */
const maxWideColumns = 16;

export function CohortGrid(props: CohortGridProps): ReactElement {
  const { label, groups, words, scale, isSplit, openKeys, onToggle, tip, onPick } = props;
  const place = useRef<HTMLDivElement>(null);
  const tipId = useId();
  const { last, shown, hasFocus, hide, handlers } = useSpots();
  const { look, columns } = useLook(groups, scale);
  const isOpen = ({ key }: GridGroup) => !isSplit || openKeys.has(key);
  const rows = groups.reduce((sum, group) => sum + 1 + (isOpen(group) ? group.cohorts.length : 0), 0);
  const pick = (spot: Spot) => {
    const found = find(groups, spot);
    if (found?.cohort !== undefined) onPick?.(found);
  };
  const keys = useGridKeys({ onPick: pick, onEscape: hide });
  const entrance = entranceOf(groups, isOpen, last);
  const shownCell = shown && find(groups, shown);
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
          aria-label={label}
          className="border-separate border-spacing-px"
        >
          <Head columns={columns} words={words} isDense={look.isDense} />
          {groups.map((group) => (
            <GroupRows
              key={group.key}
              group={group}
              words={words}
              isSplit={isSplit}
              look={look}
              onToggle={onToggle}
              canPick={onPick !== undefined}
              entrance={entrance?.group === group ? entrance.spot : undefined}
              tipId={hasFocus ? tipId : undefined}
              isOpen={isOpen(group)}
            />
          ))}
        </table>
      </Scrollable>
      {shown !== undefined && shownCell !== undefined && (
        <CellTip id={tipId} place={place} spot={shown}>
          {tip(shownCell)}
        </CellTip>
      )}
    </div>
  );
}

/** How cells look depends on all of them. */
function useLook(groups: readonly GridGroup[], scale: Scale) {
  return useMemo(() => {
    const columns = 1 + Math.max(0, ...cellsOf(groups).map(({ period }) => period));
    return { columns, look: { scale, isDense: columns > maxWideColumns } };
  }, [groups, scale]);
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
