/** The columns of scores, the same for users and accounts, and the line with the day of the scores. */
import { createContext, type ReactElement, use } from "react";
import type { Reads } from "../../api/paths.ts";
import { useOrganization } from "../../app/session.ts";
import { dayText, nothing, numbers, todayIn } from "../../text/format.ts";
import { ratioText } from "../figure/health.tsx";
import { Verdict } from "../figure/verdict.tsx";
import type { Column } from "./table-model.ts";

type Answer = Reads["/api/accounts"]["answer"];
export type ScoredRow = Pick<
  Answer["accounts"][number],
  | "verdict"
  | "health"
  | "risk"
  | "ratioToBaseRate"
  | "activityPosition"
  | "engagement"
  | "momentum"
  | "change"
  | "state"
  | "subscriptionEndsAt"
>;

/** By how many points health usually changes in a week. Null when that is not known. A context, because
 * columns that are made anew would take the focus from their cells. */
export const UsualChange = createContext<number | null>(null);

/** The column beside which those of subscriptions stand. */
export const riskColumn = "risk";

/** Columns of scores, by their ids. */
export function scoreColumns<Row extends ScoredRow>(): Column<Row>[] {
  return [
    {
      // Saved views and remembered columns from before verdicts do not name it.
      id: "verdict",
      header: "Verdict",
      width: 170,
      isFixed: true,
      hint: "The first that holds: churned, account churned, high risk, at risk, new, watch, healthy. With the day on which the last subscription will end.",
      cell: ({ verdict, state, subscriptionEndsAt: endsAt }) => (
        <>
          <Verdict verdict={verdict} />
          {state === "canceling" && endsAt != null && <ScheduledEnd instant={endsAt} />}
        </>
      ),
    },
    {
      id: "health",
      header: "Health",
      sort: "health",
      isNumber: true,
      hint: "0 to 100: engagement, outlook, momentum and adoption together",
      cell: ({ health }) => numbers.score(health),
    },
    {
      id: "change",
      header: "Change",
      sort: "change",
      isNumber: true,
      hint: "Change of health in points, compared with 28 days before or with the day in the filters. Coloured when it is larger than a usual weekly change.",
      cell: ({ change }) => <Change points={change} />,
    },
    {
      id: riskColumn,
      header: "Churn risk",
      sort: "risk",
      isNumber: true,
      hint: "Probability of churn within the churn horizon. Where no model gives one, the least active come first.",
      cell: ({ risk, ratioToBaseRate, activityPosition }) =>
        risk === null ? (
          <None
            why={
              activityPosition === null
                ? "Only active and new ones have a churn risk"
                : "No model gives a churn risk yet"
            }
          />
        ) : (
          <span title={ratioText(ratioToBaseRate)}>{numbers.risk(risk)}</span>
        ),
    },
    {
      id: "engagement",
      header: "Engagement",
      sort: "engagement",
      isNumber: true,
      hint: "0 to 100: how often, how much and how broadly the product is used",
      cell: ({ engagement }) => numbers.score(engagement),
    },
    {
      id: "momentum",
      header: "Momentum",
      sort: "momentum",
      isNumber: true,
      isHidden: true,
      hint: "0 to 100. 50 = no change in four weeks",
      cell: ({ momentum }) => numbers.score(momentum),
    },
  ];
}

/** The day of the last subscription's end, in the organization's timezone. */
function ScheduledEnd({ instant }: { instant: string }): ReactElement {
  const { timezone } = useOrganization();
  const day = dayText(todayIn(timezone, Date.parse(instant)), "short");
  return <span className="ml-1.5 text-sm text-soft">ends {day}</span>;
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
  const usual = use(UsualChange);
  if (points === null) return <None why="No health in the earlier scores" />;
  const whole = Math.round(points);
  const isUsual = usual === null || whole === 0 || Math.abs(points) <= usual;
  return (
    <span
      className={isUsual ? "text-soft" : whole > 0 ? "text-healthy" : "text-at-risk"}
      title={
        usual === null
          ? undefined
          : `Health usually changes by up to ${numbers.decimal(usual)} points in a week`
      }
    >
      {numbers.change(whole)}
    </span>
  );
}

/** The day of the scores, since when their changes are shown, and what the order by risk means without
 * one. */
export function ScoresOf({
  answer,
  isByActivity,
}: {
  answer: Pick<Answer, "day" | "sinceDay" | "dataStoppedSince">;
  isByActivity: boolean;
}): ReactElement {
  if (answer.day === null) {
    return <p className="text-sm text-soft">No scores yet: they appear after the first night with events.</p>;
  }
  return (
    <p className="text-sm text-soft">
      {isByActivity && "No churn risk yet: the least active come first · "}
      Scores as of the start of {dayText(answer.day)}
      {answer.sinceDay !== null && `, changes since ${dayText(answer.sinceDay)}`}
      {answer.dataStoppedSince !== null && (
        <b className="font-medium text-watch">
          {" · "}no data since {dayText(answer.dataStoppedSince)}, so scores wait
        </b>
      )}
    </p>
  );
}
