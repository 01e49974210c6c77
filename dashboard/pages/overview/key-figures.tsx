/** The three figures under the call list: MRR at risk, who is active, and departures. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { type Asked, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { type PayerKind, useMrrAtRisk } from "../../parts/figure/mrr-at-risk.ts";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { CountLink, ListsOfSegment } from "../../parts/list/list-link.tsx";
import { Loading } from "../../parts/states.tsx";
import { useToday } from "../../parts/time.tsx";
import { counted, dayPlus, nothing } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import type { ActiveUsers } from "./activity.tsx";
import { type Kind, plural, useScoredSegment } from "./filters.ts";
import type { HealthByWeek } from "./health.tsx";
import { those, thoseMoved, usersActive } from "./lists.ts";
import { useSegment } from "./of-segment.tsx";

type AtRisk = Reads["/api/revenue/at-risk"]["answer"];

interface KeyFiguresProps {
  readonly kind: Kind;
  readonly health: Asked<HealthByWeek>;
  readonly active: Asked<ActiveUsers>;
}

const activeDays = 7;
const departureDays = 28;

export function KeyFigures({ kind, health, active }: KeyFiguresProps): ReactElement {
  const ofSegment = useScoredSegment();
  const segment = useSegment();
  const money = useMrrAtRisk(undefined, { limit: 1, ...ofSegment });
  const hasMoney = money.asked.data !== undefined && money.asked.data.payers > 0;
  if (money.asked.data === undefined && !money.asked.isError) return <Loading rows={1} height={92} />;
  return (
    <ListsOfSegment {...ofSegment}>
      <Stats>
        {money.asked.data !== undefined && hasMoney && (
          <MoneyStat answer={money.asked.data} kind={money.kind} segment={ofSegment.segment} />
        )}
        {kind === "account" ? (
          <ActiveAccounts />
        ) : (
          <ListsOfSegment {...segment}>
            <ActiveUsersStat days={active.data?.days} />
          </ListsOfSegment>
        )}
        <DeparturesStat kind={kind} inactive={health.data?.weeks.at(-1)?.inactive ?? 0} />
      </Stats>
    </ListsOfSegment>
  );
}

interface MoneyStatProps {
  readonly answer: AtRisk;
  readonly kind: PayerKind;
  readonly segment: number | undefined;
}

function MoneyStat({ answer, kind, segment }: MoneyStatProps): ReactElement {
  const { label, value, note } = moneyWords(answer, kind);
  return (
    <Stat
      label={label}
      value={
        <PageLink
          to="/o/$organization/revenue"
          search={segment === undefined ? {} : { segment: String(segment) }}
          className="underline decoration-edge decoration-1 underline-offset-3"
        >
          {value}
        </PageLink>
      }
      note={segment === undefined ? note : `${note}, of payers of the segment`}
    />
  );
}

function moneyWords(
  { expectedLoss, payersWithRisk, highRiskPayers, highRiskMrr, ...answer }: AtRisk,
  kind: PayerKind,
) {
  const { short } = moneyIn(answer.reportingCurrency);
  const all = short(answer.mrr);
  if (payersWithRisk === 0 && (expectedLoss === null || expectedLoss.payers === 0)) {
    return { label: "MRR", value: all, note: `of ${counted(answer.payers, kind)}, no churn risk is known` };
  }
  if (expectedLoss === null) {
    const note = `of ${counted(highRiskPayers, kind)}, of ${all} MRR`;
    return { label: "MRR at high risk", value: short(highRiskMrr), note };
  }
  const value = short(expectedLoss.mrr);
  return {
    label: "MRR at risk",
    value,
    note: `Likely to lose ${value} of ${all} MRR${answer.horizonDays === null ? "" : ` in ${counted(answer.horizonDays, "day")}`}`,
  };
}

function ActiveAccounts(): ReactElement {
  const { data } = useRead("/api/accounts", {
    query: { limit: 1, seenWithinDays: activeDays, ...useScoredSegment() },
  });
  return (
    <Stat
      label="Active accounts"
      value={
        data === undefined ? (
          nothing
        ) : (
          <CountLink isQuiet count={data.total} list={those("account", { seen: `within-${activeDays}` })} />
        )
      }
      note={`in ${activeDays} days`}
    />
  );
}

function ActiveUsersStat({ days }: { days: ActiveUsers["days"] | undefined }): ReactElement {
  const last = days?.at(-2);
  return (
    <Stat
      label="Active users"
      value={
        last === undefined ? (
          nothing
        ) : (
          <CountLink isQuiet count={last.weekly} list={usersActive(last.day, activeDays)} />
        )
      }
      note={`in ${activeDays} days`}
      line={days?.slice(-91, -1).map(({ weekly }) => weekly)}
    />
  );
}

function DeparturesStat({ kind, inactive }: { kind: Kind; inactive: number }): ReactElement {
  const since = dayPlus(useToday(), -departureDays);
  const { data } = useRead("/api/score-summary", { query: { kind, since, ...useScoredSegment() } });
  const left = (data?.movement ?? []).reduce(
    (sum, { from, to, count, byRules }) =>
      from !== null && from !== "churned" && to === "churned" ? sum + count - byRules : sum,
    0,
  );
  const sinceDay = data?.sinceDay ?? null;
  return (
    <Stat
      label="Departures"
      value={
        sinceDay === null ? (
          nothing
        ) : (
          <CountLink isQuiet count={left} list={thoseMoved(kind, "churned", sinceDay)} />
        )
      }
      note={
        sinceDay === null ? (
          "no scores to compare with yet"
        ) : (
          <>
            {plural[kind]} in {departureDays} days
            {inactive > 0 && (
              <>
                , <CountLink count={inactive} list={those(kind, { state: "inactive" })} /> more silent
              </>
            )}
          </>
        )
      }
    />
  );
}
