/** The biggest moves of health since a week ago, and returns after churn. */
import type { ReactElement } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import type { Moved } from "../../parts/figure/figure-filters.ts";
import { Health } from "../../parts/figure/health.tsx";
import { CountLink } from "../../parts/list/list-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { dayText, pointsText } from "../../text/format.ts";
import { ControlBadge } from "../tasks/control-badge.tsx";
import { type Kind, plural, useScoredSegment } from "./filters.ts";
import { thoseMoved } from "./lists.ts";

type Answer = Reads["/api/movers"]["answer"];
type Mover = Answer["movers"][number];

const shown = 5;
/** Of drops and gains, not of returns: those who leave have a panel of their own. */
const state = "active";

export function Movers({ kind }: { kind: Kind }): ReactElement {
  const asked = useRead("/api/movers", { query: { kind, state, limit: shown, ...useScoredSegment() } });
  const { data } = asked;
  return (
    <FigurePanel
      title="Biggest drops, biggest gains"
      note={
        data?.sinceDay
          ? `Health of active ${plural[kind]} since ${dayText(data.sinceDay)}`
          : `Health of active ${plural[kind]} within a week`
      }
      asked={asked}
      loading={<Loading rows={8} />}
      empty={({ movers, returned, day, sinceDay }) =>
        movers.length + returned.length === 0 && <NothingMoved day={day} sinceDay={sinceDay} kind={kind} />
      }
    >
      {(answer) => <Lists kind={kind} answer={answer} />}
    </FigurePanel>
  );
}

function NothingMoved({
  day,
  sinceDay,
  kind,
}: Pick<Answer, "day" | "sinceDay"> & { kind: Kind }): ReactElement {
  if (sinceDay !== null) return <Empty title={`No active ${kind}’s health changed`} />;
  return (
    <Empty title="Nothing to compare yet">
      {day == null ? "Users and accounts are scored every night." : "There are no scores from a week ago."}
    </Empty>
  );
}

function Lists({
  kind,
  answer: { movers, returned, totals, sinceDay },
}: {
  kind: Kind;
  answer: Answer;
}): ReactElement {
  const of = (sign: number) => movers.filter(({ change }) => Math.sign(change ?? 0) === sign);
  const lists = [
    { title: "Biggest drops", moved: "fell", word: "fell", rows: of(-1), ofState: state },
    { title: "Biggest gains", moved: "rose", word: "rose", rows: of(1), ofState: state },
    {
      title: "Returned after churn",
      moved: "returned",
      word: "returned",
      rows: returned,
      ofState: undefined,
    },
  ] as const;
  return (
    <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2 xl:grid-cols-1">
      {lists
        .filter(({ moved, rows }) => moved !== "returned" || rows.length > 0)
        .map(({ title, moved, word, rows, ofState }) => (
          <section key={moved} aria-label={title} className="min-w-0">
            <h3 className="flex justify-between gap-3 text-sm text-soft">
              {title}
              {sinceDay !== null && totals[moved] > 0 && (
                <span>
                  <CountLink count={totals[moved]} list={thoseMoved(kind, moved, sinceDay, ofState)} /> {word}
                </span>
              )}
            </h3>
            {rows.length === 0 ? (
              <p className="border-t border-line py-1.5 text-soft">None</p>
            ) : (
              <ol>
                {rows.map((mover) => (
                  <MoverRow key={mover.id} kind={kind} moved={moved} mover={mover} />
                ))}
              </ol>
            )}
          </section>
        ))}
    </div>
  );
}

function MoverRow({
  kind,
  moved,
  mover: { id, label, controlUntil, accountId, accountName, healthBand, health, change, reason },
}: {
  kind: Kind;
  moved: Moved;
  mover: Mover;
}): ReactElement {
  return (
    <li className="border-t border-line py-1.5">
      <div className="flex items-center gap-3">
        <span className="min-w-0 grow [&>a]:block [&>a]:truncate [&>a]:py-0.5" title={label || id}>
          <EntityLink kind={kind} id={id} label={label} />
        </span>
        <Health healthBand={healthBand} score={health} />
        {moved !== "returned" && (
          <span className="w-9 shrink-0 text-right font-medium">{pointsText(change)}</span>
        )}
      </div>
      <div className="flex gap-1 text-sm text-soft">
        {accountId !== null && (
          <>
            <span
              className="max-w-1/2 min-w-0 shrink-0 [&>a]:block [&>a]:truncate [&>a]:py-0.5"
              title={accountName || accountId}
            >
              <EntityLink kind="account" id={accountId} label={accountName} className="" />
            </span>
            <span className="py-0.5" aria-hidden="true">
              ·
            </span>
          </>
        )}
        <span className="line-clamp-2 min-w-0 py-0.5" title={reason}>
          {reason}
        </span>
        <ControlBadge until={controlUntil} />
      </div>
    </li>
  );
}
