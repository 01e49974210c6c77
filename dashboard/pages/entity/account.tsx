/** The page of an account. */
import { useParams } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { useListedName } from "../../api/listed-name.ts";
import { type Reads, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Stat } from "../../parts/figure/stat.tsx";
import { choiceFilter, numberFilter, useFilters } from "../../parts/list/filters.ts";
import { SaidByPage } from "../../parts/said-by-page.tsx";
import { Instant, RelativeDay } from "../../parts/time.tsx";
import { counted, dayText, nothing, numbers } from "../../text/format.ts";
import { ControlBadge } from "../tasks/control-badge.tsx";
import { AttributesPanel } from "./attributes.tsx";
import { CarriersPanel } from "./carriers.tsx";
import { ChurnReason } from "./churn-reason.tsx";
import type { AccountReceipt } from "./erase.tsx";
import { EraseAccount, ErasedAccount } from "./erase-account.tsx";
import { membersText } from "./first-line-words.ts";
import { EntityHeader } from "./header.tsx";
import { fewMembers, MembersPanel, membersPageSize } from "./members.tsx";
import { Owner } from "./owner.tsx";
import { EntityPage } from "./page.tsx";
import { PulseControl } from "./pulse.tsx";
import type { Score } from "./score-text.ts";

type Account = Reads["/api/accounts/:accountId"]["answer"];
type Members = Reads["/api/accounts/:accountId/members"]["answer"];

const filters = {
  sort: choiceFilter(["share", "lastActive", "health", "risk", "email"], "share"),
  order: choiceFilter(["ascending", "descending"], "descending"),
  offset: numberFilter(10_000_000),
  /** Few members, or all of them. */
  members: choiceFilter(["few", "all"], "few"),
};

export default function AccountPage(): ReactElement {
  const { accountId } = useParams({ from: "/o/$organization/accounts/$accountId" });
  const [receipt, setReceipt] = useState<AccountReceipt>();
  if (receipt?.accountId === accountId) return <ErasedAccount receipt={receipt} />;
  return <AccountOf key={accountId} accountId={accountId} onErased={setReceipt} />;
}

interface AccountProps {
  readonly accountId: string;
  readonly onErased: (receipt: AccountReceipt) => void;
}

function AccountOf({ accountId, onErased }: AccountProps): ReactElement {
  const path = { accountId };
  const asked = useRead("/api/accounts/:accountId", { path, query: { limit: 1 } });
  const account = asked.data;
  const carriers = useRead("/api/accounts/:accountId/members", {
    path,
    query: { sort: "share", order: "descending", limit: fewMembers },
  });
  return (
    <EntityPage
      what="account"
      id={accountId}
      asked={asked}
      header={(score) => (
        <AccountHeader
          accountId={accountId}
          account={account}
          score={score}
          onErased={onErased}
          isMissing={asked.isError}
        />
      )}
      stat={
        <Stat
          label="Members active in 28 days"
          value={activeText(carriers.data)}
          note={account?.seats == null ? "of those active in 90 days" : seatsText(account)}
        />
      }
    >
      {(change, risk) => (
        <>
          <div className="grid gap-5 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
            {change}
            <AttributesPanel asked={asked} />
          </div>
          <div className="grid gap-5 xl:grid-cols-2">
            {risk}
            <CarriersPanel asked={carriers} />
          </div>
          <MembersOf accountId={accountId} />
        </>
      )}
    </EntityPage>
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

/** "uses 3 of 20 seats (15%)", as of the scores. */
function seatsText({ activeMembers, seats, seatsUsed }: Account): string {
  return `uses ${numbers.count(activeMembers)} of ${counted(seats ?? 0, "seat")} (${numbers.wholeShare(seatsUsed)})`;
}

function activeText(members: Members | undefined): string {
  if (members === undefined) return nothing;
  return membersText(members);
}

interface AccountHeaderProps extends AccountProps {
  readonly account: Account | undefined;
  /** Whether the account cannot be read: then its id is all that is known. */
  readonly isMissing: boolean;
  readonly score: Score | undefined;
}

function AccountHeader(props: AccountHeaderProps): ReactElement {
  const { accountId, account, isMissing, score, onErased } = props;
  const mayErase = useMayAs("owner");
  const listed = useListedName("accounts", accountId);
  const isKnown = account !== undefined || isMissing;
  return (
    <EntityHeader
      what="account"
      title={account?.name || listed || (isKnown ? accountId : undefined)}
      image={account?.avatar}
      line={account === undefined ? "" : <Line account={account} />}
      freshness={account?.freshness}
      score={score}
      actions={
        account !== undefined && (
          <>
            <ControlBadge until={account.controlUntil} />
            <Owner entity={{ kind: "account", id: accountId }} owned={account} />
            <PulseControl accountId={accountId} />
            {score?.verdict === "churned" && (
              <ChurnReason entity={{ kind: "account", id: accountId }} traits={account.traits} />
            )}
            {mayErase && <EraseAccount accountId={accountId} onErased={onErased} />}
          </>
        )
      }
    />
  );
}

function Line({ account }: { account: Account }): ReactElement {
  return (
    <>
      <span title="The account's id">{account.accountId}</span>{" "}
      <SaidByPage fields={account.saidByPages} field="name" of="name" /> ·{" "}
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
