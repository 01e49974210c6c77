/** The change of scores since an earlier day, split into behaviour, time and settings. */
import type { ReactElement } from "react";
import { SmallSelect } from "../../parts/form/field.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { Scrollable } from "../../parts/list/scrollable.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { partsInTenths, toTenths } from "../../text/rounding.ts";
import { filters } from "./filters.ts";
import { ScoringEarlier } from "./history.tsx";
import type { Score } from "./score-text.ts";
import type { ScoreProps } from "./scores.tsx";

type Change = NonNullable<Score["change"]>;

export function ChangePanel({ asked, what }: ScoreProps): ReactElement {
  const [{ since }, choose] = useFilters(filters);
  return (
    <FigurePanel
      title="What changed"
      note={
        asked.data?.change == null ? undefined : `Since the scores of ${dayText(asked.data.change.sinceDay)}.`
      }
      actions={
        <SmallSelect
          label="Compare with"
          value={since}
          onChoose={(to) => choose({ since: to })}
          choices={filters.since.choices}
        />
      }
      asked={asked}
      loading={<Loading rows={4} />}
    >
      {({ change, freshness: { earlierScores } }) => (
        <>
          <ScoringEarlier progress={earlierScores} />
          {change === null ? (
            <Empty title="Nothing to compare yet">
              There are no scores of this {what} from {since} days before or earlier
              {earlierScores !== null && " yet"}.
            </Empty>
          ) : (
            <Changes change={change} what={what} />
          )}
        </>
      )}
    </FigurePanel>
  );
}

const columns = [
  { name: "Total", of: "total", hint: undefined },
  {
    name: "Behaviour",
    of: "behaviour",
    hint: "More or less use than on the earlier day. Silence is less use.",
  },
  { name: "Time passed", of: "time", hint: "The change without any change in use." },
  {
    name: "Settings",
    of: "settings",
    hint: "Changes of settings, of the monthly scale, of the model or of exclusions.",
  },
] as const;

function Changes({ change, what }: { change: Change; what: string }): ReactElement {
  const rows = [
    { label: "Health", parts: change.health, by: 1, isMoreGood: true },
    { label: "Engagement", parts: change.engagement, by: 1, isMoreGood: true },
    { label: "Churn risk, %", parts: change.risk, by: 100, isMoreGood: false },
  ];
  return (
    <div className="@container">
      {change.text !== null && <p className="mb-3 font-semibold">{change.text}</p>}
      <div className="grid gap-x-10 gap-y-3 @4xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Scrollable label="Changes" className="overflow-x-auto">
          <table aria-label={`Changes of this ${what}'s scores, in points`} className="w-full">
            <thead>
              <tr>
                <td />
                {columns.map(({ name, hint }) => (
                  <th
                    key={name}
                    scope="col"
                    title={hint}
                    className="pb-1 pl-3 text-right text-sm font-medium whitespace-nowrap text-soft"
                  >
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ label, parts, by, isMoreGood }) => (
                <tr key={label} className="border-t border-line">
                  <th scope="row" className="py-1.5 text-left font-normal whitespace-nowrap">
                    {label}
                  </th>
                  {columns.map(({ of }) => (
                    <td key={of} className="py-1.5 pl-3 text-right whitespace-nowrap">
                      <Signed
                        points={parts === null ? null : shownParts(parts, by)[of]}
                        isMoreGood={isMoreGood}
                        isStrong={of === "total"}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scrollable>
        <dl className="grid content-start gap-x-2 gap-y-0.5 text-sm text-soft">
          {columns.map(({ name, hint }) => {
            // The total needs no words.
            if (hint === undefined) return null;
            return (
              <div key={name}>
                <dt className="inline font-medium text-ink">{name}</dt> <dd className="inline">{hint}</dd>
              </div>
            );
          })}
        </dl>
      </div>
    </div>
  );
}

/** With one decimal, so that the parts that are shown add up to the change that is shown. */
function shownParts(parts: NonNullable<Change["health"]>, by: number) {
  const total = parts.total * by;
  const [behaviour, time, settings] = partsInTenths(total, [
    parts.behaviour * by,
    parts.time * by,
    parts.settings * by,
  ]) as [number, number, number];
  return { total: toTenths(total), behaviour, time, settings };
}

function Signed({
  points,
  isMoreGood,
  isStrong,
}: {
  points: number | null;
  isMoreGood: boolean;
  isStrong: boolean;
}): ReactElement {
  if (points === null) return <span className="text-soft">{nothing}</span>;
  const tone = points === 0 ? "text-soft" : points > 0 === isMoreGood ? "text-healthy" : "text-at-risk";
  return <span className={isStrong ? `font-semibold ${tone}` : tone}>{numbers.tenthsChange(points)}</span>;
}
