/** Whether groups differ: a test of all of them at one age, and a sentence about the two drawn curves. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { periodsText } from "../../charts/cohort-model.ts";
import { SmallSelect } from "../../parts/form/field.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { counted, nothing, numbers } from "../../text/format.ts";
import { groupLabel, intervalText, keyOf } from "./cohorts.ts";
import { type Choices, periodsOf, queryOf, useChoices } from "./question.ts";

type Answer = Reads["/api/retention/comparison"]["answer"];
type Group = Answer["groups"][number];
type Pair = Answer["pairs"][number];

/** The panel below the curves of a split. */
export function Comparison(): ReactElement {
  const [choices, change] = useChoices();
  const { period } = choices;
  // An address may have an age that another number of periods no longer has.
  const compareAt = choices.compareAt < periodsOf(choices) ? choices.compareAt : 0;
  const query = { ...queryOf(choices), ...(compareAt > 0 && { at: compareAt }) };
  const asked = useRead("/api/retention/comparison", { query, keepsPrevious: true });
  const at = asked.data?.at ?? compareAt;
  const ages = Array.from({ length: periodsOf(choices) - 1 }, (_, index) => String(index + 1));
  return (
    <FigurePanel
      title="Do the groups differ?"
      note="The 12 largest groups, the best first. Users of one account do not count as independent."
      isFlush
      actions={
        <>
          <SmallSelect
            label="Compared after"
            value={String(at)}
            choices={(ages.includes(String(at)) ? ages : [String(at), ...ages]).map((value) => ({
              value,
              label: `after ${periodsText(Number(value), period)}`,
            }))}
            onChoose={(chosen) => change({ compareAt: Number(chosen) })}
          />
          <CsvLink address={csvAddress("/api/retention/comparison", query)} />
        </>
      }
      asked={asked}
      loading={<Loading rows={4} />}
      empty={({ groups }) =>
        groups.length < 2 && (
          <Empty title="Nothing to compare yet">
            Two groups need a cohort that has completed this {period}.
          </Empty>
        )
      }
    >
      {(answer) => <Compared answer={answer} choices={choices} />}
    </FigurePanel>
  );
}

function Compared({ answer, choices }: { answer: Answer; choices: Choices }): ReactElement {
  const { groups, pairs } = answer;
  const pair = chosenPair(answer, choices);
  const labelOf = (group: Group | undefined) =>
    group === undefined ? "" : groupLabel(keyOf(group), choices.trait);
  const best = groups[0];
  const withBest = (group: Group) =>
    pairs.find(({ first, second }) => first === 0 && groups[second] === group);
  const hasCurve = pairs.some(({ curveProbability }) => curveProbability !== null);
  const columns: readonly Column<Group>[] = [
    { id: "group", header: "Group", isFixed: true, width: 140, cell: labelOf },
    { id: "users", header: "Users", isNumber: true, cell: ({ cohortUsers }) => numbers.count(cohortUsers) },
    {
      id: "share",
      header: choices.measure === "in" ? "Came back" : "Still there",
      isNumber: true,
      cell: ({ share }) => numbers.share(share),
    },
    { id: "interval", header: "95% interval", isNumber: true, cell: (group) => intervalText(group) },
    {
      id: "difference",
      header: `Against ${labelOf(best)}`,
      hint: "Difference in points, with its 95% interval",
      isNumber: true,
      cell: (group) => behindText(withBest(group)),
    },
    {
      id: "chance",
      header: hasCurve ? "p-value of the curve" : "p-value",
      hint: `Probability of a difference at least as large if the groups are alike${hasCurve ? ", over the whole curve (log-rank test)" : ""}. Corrected for ${counted(pairs.length, "pair")} (Holm); the intervals are not.`,
      isNumber: true,
      cell: (group) => {
        const pair = withBest(group);
        return probabilityText(pair?.curveProbability ?? pair?.probability);
      },
    },
  ];
  return (
    <>
      {pair !== undefined && (
        <p className="max-w-[80ch] px-4 pb-3">{sentenceOf(pair, answer, choices, labelOf)}</p>
      )}
      <DataTable
        label="Groups compared"
        name="retention-groups"
        isPlain
        rows={groups}
        columns={columns}
        rowId={keyOf}
      />
    </>
  );
}

/** The pair whose curves are drawn, where both are chosen. Otherwise the best and the worst. */
function chosenPair({ groups, pairs }: Answer, { first, second }: Choices): Pair | undefined {
  const places = [first, second].map((key) => groups.findIndex((group) => keyOf(group) === key));
  const chosen = pairs.find((pair) => places.includes(pair.first) && places.includes(pair.second));
  return chosen ?? pairs.find((pair) => pair.first === 0 && pair.second === groups.length - 1);
}

/** Below this a difference is unlikely to be chance. */
const unlikely = 0.05;

/** One verdict: of the whole curve, or, where it is no curve of departures, of the period. */
function sentenceOf(
  pair: Pair,
  { at, groups }: Answer,
  { measure, period }: Choices,
  labelOf: (group: Group | undefined) => string,
): string {
  const [better, worse] = [labelOf(groups[pair.first]), labelOf(groups[pair.second])];
  const points = counted(Math.round(pair.difference * 100), "point");
  const [low, high] = [pair.low, pair.high].map((value) => numbers.count(Math.round(value * 100)));
  const verb = measure === "in" ? "brings back" : "keeps";
  const difference = `${better} ${verb} ${points} more than ${worse} at ${period} ${at} (${low} to ${high})`;
  const { curveProbability } = pair;
  return curveProbability === null
    ? `${difference}: ${chanceText(pair.probability)}.`
    : `${difference}. Over the whole curve the difference ${chanceOfCurve(curveProbability)} (log-rank test, ${probabilityText(curveProbability)}).`;
}

function chanceOfCurve(probability: number): string {
  return probability < unlikely ? "is unlikely to be chance" : "may be chance";
}

function chanceText(probability: number): string {
  return probability < unlikely ? "unlikely to be chance" : "may be chance";
}

function probabilityText(probability: number | undefined): string {
  if (probability === undefined) return nothing;
  return probability < 0.001 ? "p < 0.001" : `p = ${probability.toFixed(3)}`;
}

/** How many points a group is behind the best. */
function behindText(pair: Pair | undefined): string {
  if (pair === undefined) return nothing;
  const { difference, low, high } = pair;
  const points = (value: number) => numbers.change(Math.round(-value * 100));
  return `${points(difference)} (${points(high)} to ${points(low)})`;
}
