/** Retention by age: weighted means as curves, of one group or two. */
import { type ReactElement, useCallback } from "react";
import { Chart } from "../../charts/chart.tsx";
import { periodsText } from "../../charts/cohort-model.ts";
import type { Colours } from "../../charts/colours.ts";
import { Button } from "../../parts/form/button.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { counted, nothing, numbers } from "../../text/format.ts";
import { type Group, intervalText } from "./cohorts.ts";
import { type Curve, curveOption } from "./curve-option.ts";
import { type Choices, useChoices } from "./question.ts";

const none = "-";

/** The panel with the curves. With a split two groups are chosen, at first the two largest. */
export function Curves({ groups }: { groups: readonly Group[] }): ReactElement {
  const [choices, change] = useChoices();
  const { period, trait } = choices;
  const first = groups.find(({ key }) => key === choices.first) ?? groups[0];
  const others = groups.filter((group) => group !== first);
  const second =
    choices.second === none ? undefined : (others.find(({ key }) => key === choices.second) ?? others[0]);
  const shown = [first, second].filter((group) => group !== undefined);
  const options = (of: readonly Group[]) => of.map(({ key, label }) => ({ value: key, label }));
  return (
    <Panel
      title="Retention by age"
      note={`Weighted mean of the cohorts that have completed the ${period}; the band is the 95% interval`}
      actions={
        trait === "" || first === undefined ? undefined : (
          <div className="flex flex-wrap items-end gap-2">
            <SmallSelect
              label="First curve"
              value={first.key}
              choices={options(groups)}
              onChoose={(key) => change({ first: key })}
            />
            <SmallSelect
              label="Compared with"
              value={second?.key ?? none}
              choices={[{ value: none, label: "alone" }, ...options(others)]}
              onChoose={(key) => change({ second: key })}
            />
          </div>
        )
      }
    >
      {shown.every(({ mean }) => mean.length < 2) ? (
        <Empty title="No curve yet">
          A curve begins when the {period} after the first cohort’s own is over.
        </Empty>
      ) : (
        <Drawing shown={shown} />
      )}
      <Projected shown={shown} />
    </Panel>
  );
}

function Drawing({ shown }: { shown: readonly Group[] }): ReactElement {
  const [choices] = useChoices();
  const { period } = choices;
  const curves = shown.map(curveOf);
  // By value: the groups are made anew whenever the page is drawn.
  const drawn = JSON.stringify(curves);
  const option = useCallback(
    (colours: Colours) => curveOption(JSON.parse(drawn) as Curve[], colours, period),
    [drawn, period],
  );
  const finding = findingOf(shown, choices);
  return (
    <>
      <p className="mb-3 max-w-[80ch]">{finding}</p>
      <Chart label={finding} option={option} height={300} table={tableOf(curves, period)} />
    </>
  );
}

function curveOf({ label, mean, projection }: Group): Curve {
  return {
    name: label,
    points: mean,
    projected: projection?.fit?.shares ?? [],
  };
}

/** Fewer cohorts than this are too noisy to quote. */
const tellingCohorts = 3;

/** A sentence about the latest age that is reliable for all curves. */
function findingOf(shown: readonly Group[], { period, measure }: Choices): string {
  const well = shown.map(
    ({ mean }) => mean.findLast(({ cohorts }) => cohorts >= tellingCohorts)?.period ?? 0,
  );
  const at = Math.min(...well) || Math.min(...shown.map(({ mean }) => mean.at(-1)?.period ?? 0));
  const shares = shown.flatMap(({ label, kind, mean }) => {
    const cell = mean.find((one) => one.period === at);
    if (cell === undefined) return [];
    const users = `${counted(cell.cohortUsers, "user")}${kind === "all" ? "" : ` of ${label}`}`;
    return [`${numbers.share(cell.share)} of ${users} (${intervalText(cell)})`];
  });
  const back = measure === "in" ? "came back" : "came back then or later";
  return `After ${periodsText(at, period)}, ${shares.join(" and ")} ${back}.`;
}

function tableOf(curves: readonly Curve[], period: Choices["period"]) {
  const last = Math.max(
    ...curves.flatMap(({ points, projected }) => [points.at(-1)?.period ?? 0, projected.at(-1)?.period ?? 0]),
  );
  const hasProjection = curves.some(({ projected }) => projected.length > 0);
  const columns = curves.flatMap(({ name }) => [
    name,
    `${name}: 95% interval`,
    `${name}: users`,
    `${name}: cohorts`,
    ...(hasProjection ? [`${name}: projected`] : []),
  ]);
  const rows = Array.from({ length: last + 1 }, (_, at) => [
    periodsText(at, period),
    ...curves.flatMap(({ points, projected }) => {
      const share = projected.find((one) => one.period === at);
      const point = points.find((one) => one.period === at);
      return [
        numbers.share(point?.share),
        point === undefined ? nothing : intervalText(point),
        numbers.count(point?.cohortUsers),
        numbers.count(point?.cohorts),
        ...(hasProjection
          ? [share === undefined ? nothing : `${numbers.share(share.share)} (${intervalText(share)})`]
          : []),
      ];
    }),
  ]);
  return { columns: ["After", ...columns], rows };
}

/** The projection in words, or why there is none. */
function Projected({ shown }: { shown: readonly Group[] }): ReactElement {
  const [{ measure, period }, change] = useChoices();
  if (measure === "in") {
    return (
      <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
        To project, count users as kept if they come back later.
        <Button isSmall onClick={() => change({ measure: "inOrAfter" })}>
          Show with projection
        </Button>
      </p>
    );
  }
  const sentences = shown.map(({ label, kind, projection }) => {
    const name = kind === "all" ? "" : `${label}: `;
    const complete = projection?.completePeriods ?? 0;
    if (projection?.fit == null) {
      return `${name === "" ? "No" : `${name}no`} projection yet: ${periodsText(complete, period)} of the five that it needs are complete.`;
    }
    const last = projection.fit.shares.at(-1);
    if (last === undefined) {
      return `${name === "" ? "No" : `${name}no`} projection: the model does not fit this curve.`;
    }
    return `${name}${numbers.share(last.share)} (${intervalText(last)}) are projected to be active after ${periodsText(last.period, period)}.`;
  });
  const isProjected = shown.some(({ projection }) => (projection?.fit?.shares.length ?? 0) > 0);
  return (
    <div className="mt-3 grid max-w-[80ch] gap-1 text-sm text-soft">
      <p>
        {isProjected &&
          "Dashed: the projection of the shifted beta-geometric model from the last reliable share, with its 95% interval. "}
        A {period} is complete one churn horizon after its end. Until then inactive users may return.
      </p>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  );
}
