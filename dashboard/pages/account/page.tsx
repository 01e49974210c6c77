/** The page of an account. */
import { useParams } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { useListedName } from "../../api/listed-name.ts";
import { usePages, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { ActivityPanel, daysOfYear, yearFilter } from "../../entity/activity.tsx";
import { ChangePanel, sinceFilter } from "../../entity/change.tsx";
import type { AccountReceipt } from "../../entity/erase.tsx";
import { EntityHeader } from "../../entity/header.tsx";
import { HistoryPanel, rangeFilter } from "../../entity/history.tsx";
import { isMissing, Missing } from "../../entity/missing.tsx";
import type { Score } from "../../entity/score-text.ts";
import { EngagementPanel, HealthPanel, RiskPanel, ScoreStats } from "../../entity/scores.tsx";
import { TimelinePanel, timelinePage } from "../../entity/timeline.tsx";
import { Stat } from "../../parts/figure/stat.tsx";
import { Button } from "../../parts/form/button.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { Notice } from "../../parts/panel.tsx";
import { Instant, RelativeDay, useToday } from "../../parts/time.tsx";
import { dayPlus, dayText, nothing, numbers } from "../../text/format.ts";
import { CarriersPanel } from "./carriers.tsx";
import { EraseAccount, ErasedAccount } from "./erase.tsx";
import { fewMembers, MembersPanel, membersPageSize } from "./members.tsx";

const filters = {
  since: sinceFilter,
  range: rangeFilter,
  year: yearFilter,
  event: textFilter(),
  sort: choiceFilter(["share", "lastActive", "health", "risk", "email"], "share"),
  order: choiceFilter(["ascending", "descending"], "descending"),
  offset: numberFilter(0, 0, 10_000_000),
  /** Few members, or all of them. */
  members: choiceFilter(["few", "all"], "few"),
};

export default function AccountPage(): ReactElement {
  const { accountId } = useParams({ from: "/o/$organization/accounts/$accountId" });
  const [receipt, setReceipt] = useState<AccountReceipt>();
  if (receipt?.accountId === accountId) return <ErasedAccount receipt={receipt} />;
  return <AccountOf key={accountId} accountId={accountId} onErased={setReceipt} />;
}

function AccountOf({
  accountId,
  onErased,
}: {
  accountId: string;
  onErased: (receipt: AccountReceipt) => void;
}): ReactElement {
  const path = { accountId };
  const today = useToday();
  const [{ since, range, year, event }, change] = useFilters(filters);
  const account = useRead("/api/accounts/:accountId", { path, query: { limit: 1 } });
  const score = useRead("/api/accounts/:accountId/score", {
    path,
    query: { since: dayPlus(today, -Number(since)) },
    keepsPrevious: true,
  });
  const history = useRead("/api/accounts/:accountId/score/history", {
    path,
    query: range === "all" ? {} : { from: dayPlus(today, -Number(range)) },
    keepsPrevious: true,
  });
  const models = useRead("/api/model/changes", { query: { kind: "account" } });
  const carriers = useRead("/api/accounts/:accountId/members", {
    path,
    query: { sort: "share", order: "descending", limit: fewMembers },
  });
  const activity = useRead("/api/accounts/:accountId/activity", {
    path,
    query: daysOfYear(year, today),
    keepsPrevious: true,
  });
  const names = useRead("/api/accounts/:accountId/events", { path });
  const timeline = usePages("/api/accounts/:accountId/timeline", {
    path,
    query: { limit: timelinePage, event },
  });
  if (isMissing(account.error)) return <Missing id={accountId} what="account" />;
  return (
    <>
      <AccountHeader
        accountId={accountId}
        account={account.data}
        isMissing={account.isError}
        score={score.data}
        onErased={onErased}
      />
      <div className="grid gap-5">
        {score.data?.dataStoppedSince != null && (
          <Notice>
            Far fewer users than usual are active since {dayText(score.data.dataStoppedSince)}: scores wait
            until data flows again.
          </Notice>
        )}
        <ScoreStats asked={score}>
          <Stat
            label="Members active in 28 days"
            value={activeText(carriers.data)}
            note="with an engagement event, of all members"
          />
        </ScoreStats>
        <ChangePanel asked={score} what="account" since={since} onSince={(to) => change({ since: to })} />
        <div className="grid gap-5 xl:grid-cols-2">
          <RiskPanel asked={score} what="account" />
          <CarriersPanel asked={carriers} />
        </div>
        <MembersOf accountId={accountId} />
        <div className="grid gap-5 xl:grid-cols-2">
          <HealthPanel asked={score} what="account" />
          <EngagementPanel asked={score} what="account" />
        </div>
        <HistoryPanel
          asked={history}
          models={models.data?.changes ?? []}
          what="account"
          range={range}
          onRange={(to) => change({ range: to })}
        />
        <ActivityPanel
          asked={activity}
          firstDay={account.data?.firstSeenDay}
          year={year}
          onYear={(to) => change({ year: to })}
        />
        <TimelinePanel asked={timeline} names={names} event={event} onEvent={(to) => change({ event: to })} />
      </div>
    </>
  );
}

/** The members, first a few of them, in the order of the address. */
function MembersOf({ accountId }: { accountId: string }): ReactElement {
  const [{ sort, order, offset, members: shown }, change] = useFilters(filters);
  const isWhole = shown === "all";
  const members = useRead("/api/accounts/:accountId/members", {
    path: { accountId },
    query: isWhole
      ? { sort, order, limit: membersPageSize, ...(offset > 0 && { offset }) }
      : { sort, order, limit: fewMembers },
    keepsPrevious: true,
  });
  return (
    <MembersPanel
      accountId={accountId}
      asked={members}
      sort={{ by: sort, order }}
      onSort={(by) => change({ sort: filters.sort.read(by.by), order: by.order, offset: 0 })}
      offset={offset}
      onOffset={(to) => change({ offset: to })}
      isWhole={isWhole}
      onWhole={() => change({ members: "all" })}
    />
  );
}

type Account = NonNullable<ReturnType<typeof useRead<"/api/accounts/:accountId">>["data"]>;

type Members = NonNullable<ReturnType<typeof useRead<"/api/accounts/:accountId/members">>["data"]>;

function activeText(members: Members | undefined): string {
  if (members === undefined) return nothing;
  return `${numbers.count(members.active28)} of ${numbers.count(members.total)}`;
}

function AccountHeader({
  accountId,
  account,
  isMissing,
  score,
  onErased,
}: {
  accountId: string;
  account: Account | undefined;
  /** Whether the account cannot be read: then its id is all that is known. */
  isMissing: boolean;
  score: Score | undefined;
  onErased: (receipt: AccountReceipt) => void;
}): ReactElement {
  const [isErasing, setErasing] = useState(false);
  const mayErase = useMayAs("owner");
  const listed = useListedName("accounts", accountId);
  const isKnown = account !== undefined || isMissing;
  return (
    <>
      <EntityHeader
        what="account"
        title={account?.name || listed || (isKnown ? accountId : undefined)}
        image={account?.avatar}
        line={account === undefined ? "" : <Line account={account} />}
        freshness={account?.freshness}
        score={score}
        actions={
          mayErase &&
          account !== undefined && (
            <Button isSmall onClick={() => setErasing(true)}>
              Erase …
            </Button>
          )
        }
      />
      <EraseAccount
        accountId={accountId}
        isOpen={isErasing}
        onClose={() => setErasing(false)}
        onErased={onErased}
      />
    </>
  );
}

function Line({ account }: { account: Account }): ReactElement {
  return (
    <>
      <span title="The account's id">{account.accountId}</span> ·{" "}
      {account.firstSeenDay === null ? (
        <>
          known since <Instant instant={account.createdAt} />
        </>
      ) : (
        <span title="The day of the members' first engagement event">
          there since {dayText(account.firstSeenDay)}
        </span>
      )}
      {account.lastSeenDay !== null && (
        <>
          {" · "}last seen <RelativeDay day={account.lastSeenDay} />
        </>
      )}
    </>
  );
}
