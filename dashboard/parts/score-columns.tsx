/** The columns of scores, the same for users and accounts; and the line that says of which day they are. */
import type { ReactElement } from "react";
import type { Reads } from "../api/paths.ts";
import { classes } from "../text/classes.ts";
import { dayText, nothing, numbers } from "../text/format.ts";
import { Health, Risk } from "./health.tsx";
import { stateWord } from "./list-filters.tsx";
import type { Column } from "./table-model.ts";

type Answer = Reads["/api/accounts"]["answer"];
export type ScoredRow = Pick<
  Answer["accounts"][number],
  "state" | "colour" | "health" | "risk" | "band" | "engagement" | "momentum" | "change"
>;

/** Columns of scores, by their ids. */
export function scoreColumns<Row extends ScoredRow>(): Column<Row>[] {
  return [
    {
      ...{ id: "health", header: "Health", sort: "health", width: 120 },
      hint: "0 to 100: engagement, outlook, momentum and adoption together",
      startsDescending: true,
      csv: ["colour", "health"],
      cell: ({ colour, health }) => <Health colour={colour} score={health} />,
    },
    {
      ...{ id: "change", header: "Change", sort: "change", isNumber: true },
      hint: "Points of health, against the earlier scores: of 28 days before, or of the day in the filters",
      cell: ({ change }) => <Change points={change} />,
    },
    {
      ...{ id: "risk", header: "Churn risk", sort: "risk", isNumber: true },
      hint: "Probability of no engagement event within the churn horizon",
      csv: ["band", "risk"],
      cell: ({ risk, band }) =>
        risk === null || band === null ? (
          <None why="Only for who is active or new" />
        ) : (
          <Risk risk={risk} band={band} />
        ),
    },
    {
      ...{ id: "engagement", header: "Engagement", sort: "engagement", isNumber: true },
      hint: "0 to 100: how often, how much and how broadly the product is used",
      cell: ({ engagement }) => numbers.score(engagement),
    },
    {
      ...{ id: "momentum", header: "Momentum", sort: "momentum", isNumber: true, isHidden: true },
      hint: "0 to 100; 50 is as four weeks ago",
      cell: ({ momentum }) => numbers.score(momentum),
    },
    { id: "state", header: "State", isHidden: true, cell: ({ state }) => stateWord(state) },
  ];
}

/** A dash that says why there is nothing. */
function None({ why }: { why: string }): ReactElement {
  return (
    <span title={why} className="text-soft">
      {nothing}
    </span>
  );
}

function Change({ points }: { points: number | null }): ReactElement {
  if (points === null) return <None why="No health in the earlier scores" />;
  const whole = Math.round(points);
  return (
    <span className={classes(whole > 0 && "text-healthy", whole < 0 && "text-at-risk")}>
      {numbers.change(whole)}
    </span>
  );
}

/** Of which day scores are, and since when their changes are told. */
export function ScoresOf({
  of,
}: {
  of: Pick<Answer, "day" | "sinceDay" | "dataStoppedSince">;
}): ReactElement {
  if (of.day === null) {
    return (
      <p className="text-sm text-soft">
        No scores yet: they are worked out after the first night with events.
      </p>
    );
  }
  return (
    <p className="text-sm text-soft">
      Scores as of the start of {dayText(of.day)}
      {of.sinceDay !== null && `, changes since ${dayText(of.sinceDay)}`}
      {of.dataStoppedSince !== null && (
        <b className="font-medium text-watch">
          {" · "}few events have come since {dayText(of.dataStoppedSince)}, so scores wait
        </b>
      )}
    </p>
  );
}
