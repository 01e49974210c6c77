/** The members of an account: how many of them are active, who carries it, and how each is doing. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { type Asked, csvAddress } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Avatar } from "../../parts/avatar.tsx";
import { type Column, DataTable, type Sort } from "../../parts/data-table.tsx";
import { Badge, Health, Risk } from "../../parts/health.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { DayAgo } from "../../parts/time.tsx";
import { dayText, noEmail, nothing, numbers } from "../../text/format.ts";

type Members = Reads["/api/accounts/:accountId/members"]["answer"];
type Member = Members["members"][number];
export const membersPageSize = 100;

const columns: readonly Column<Member>[] = [
  {
    id: "member",
    header: "Member",
    sort: "email",
    isFixed: true,
    width: 180,
    csv: ["userId", "name", "email", "isAccountOwner", "isMember"],
    cell: (member) => <MemberLink member={member} />,
  },
  {
    id: "share",
    header: "Carries",
    sort: "share",
    width: 140,
    hint: "Share of what all members did in this account in 28 days, weighted as engagement is",
    cell: ({ share }) => <Share of={share} />,
  },
  {
    id: "health",
    header: "Health",
    sort: "health",
    hint: "The member's own, 0 to 100",
    csv: ["colour", "health"],
    cell: ({ colour, health }) => <Health colour={colour} score={health} />,
  },
  {
    id: "risk",
    header: "Churn risk",
    sort: "risk",
    hint: "The member's own",
    isNumber: true,
    csv: ["band", "risk"],
    cell: ({ risk, band }) => (risk === null || band === null ? nothing : <Risk risk={risk} band={band} />),
  },
  {
    id: "activeDays",
    header: "Active days of 28",
    isNumber: true,
    hint: "Days with an engagement event in this account, of the last 28",
    csv: ["activeDays28"],
    cell: ({ activeDays28 }) => numbers.count(activeDays28),
  },
  {
    id: "engagement",
    header: "Engagement",
    isNumber: true,
    isHidden: true,
    hint: "The member's own, 0 to 100",
    cell: ({ engagement }) => numbers.score(engagement),
  },
  {
    id: "lastActive",
    header: "Last active",
    sort: "lastActive",
    isNumber: true,
    hint: "The last engagement event in this account, within 90 days",
    csv: ["lastActiveDay"],
    cell: ({ lastActiveDay }) =>
      lastActiveDay === null ? "over 90 days ago or never" : <DayAgo day={lastActiveDay} />,
  },
];

interface MembersPanelProps {
  readonly accountId: string;
  readonly of: Asked<Members>;
  readonly sort: Sort<Reads["/api/accounts/:accountId/members"]["query"]["sort"] & string>;
  readonly onSort: (sort: Sort) => void;
  readonly offset: number;
  readonly onOffset: (offset: number) => void;
}

export function MembersPanel(props: MembersPanelProps): ReactElement {
  const { accountId, of, sort, onSort, offset, onOffset } = props;
  const { id } = useOrganization();
  return (
    <Panel
      title="Members"
      isFlush
      note="Who belongs to the account, and who was active in it within 90 days. Without users who are excluded."
    >
      <Figures
        of={of}
        loading={
          <div className="p-4">
            <Loading rows={6} />
          </div>
        }
        empty={{ when: ({ total }) => total === 0, show: <Empty title="No members" /> }}
      >
        {(answer) => (
          <DataTable
            label="Members of this account"
            name="members"
            rows={answer.members}
            columns={columns}
            rowId={({ userId }) => userId}
            sort={sort}
            onSort={onSort}
            page={{ total: answer.total, offset, size: membersPageSize }}
            onPage={onOffset}
            csv={csvAddress(
              id,
              "/api/accounts/:accountId/members",
              { sort: sort.by, order: sort.order },
              { accountId },
            )}
          />
        )}
      </Figures>
    </Panel>
  );
}

function MemberLink({ member }: { member: Member }): ReactElement {
  const organization = String(useOrganization().id);
  const { userId, name, email, avatar, isAccountOwner, isMember } = member;
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <Avatar name={name ?? email ?? userId} image={avatar} />
      <Link
        to="/o/$organization/users/$userId"
        params={{ organization, userId }}
        title={[name, email ?? noEmail].filter(Boolean).join(", ")}
        className="truncate font-medium"
      >
        {name ?? email ?? userId}
      </Link>
      {isAccountOwner && <Badge>owner</Badge>}
      {!isMember && <Badge tone="warn">has left</Badge>}
    </span>
  );
}

function Share({ of }: { of: number | null }): ReactElement {
  if (of === null) return <>{nothing}</>;
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden="true" className="h-2 w-20 bg-sunk">
        <span className="block h-full bg-ember" style={{ width: `${of * 100}%` }} />
      </span>
      {numbers.share(of)}
    </span>
  );
}

/** So many members have a part of the strip of their own. */
const ownParts = 4;
const tones = ["bg-series-1", "bg-series-2", "bg-series-3", "bg-series-4", "bg-edge"];

/** Who carries the account, in a sentence and as a strip of shares. */
export function CarriersPanel({ of }: { of: Asked<Members> }): ReactElement {
  return (
    <Panel
      title="Who carries it"
      note="Shares of what all members did in 28 days, weighted as engagement is."
    >
      <Figures of={of} loading={<Loading rows={4} />}>
        {(answer) => {
          const { active28, active90, penetration, topShare, members, day } = answer;
          if (penetration === null) {
            return (
              <Empty title="Nobody carries it">
                None of its {numbers.count(answer.total)} members were active in the 90 days before{" "}
                {dayText(day)}.
              </Empty>
            );
          }
          const own = members.filter(({ share }) => (share ?? 0) > 0).slice(0, ownParts);
          const rest = Math.max(0, 1 - own.reduce((sum, { share }) => sum + (share ?? 0), 0));
          const others = active28 - own.length;
          const parts = [
            ...own.map(({ userId, name, email, share }) => ({
              id: userId,
              label: name ?? email ?? userId,
              share: share ?? 0,
            })),
            ...(others > 0
              ? [
                  {
                    id: "",
                    label: `${numbers.count(others)} ${others === 1 ? "other" : "others"}`,
                    share: rest,
                  },
                ]
              : []),
          ];
          return (
            <>
              <p className="mb-3">
                <b className="font-semibold">
                  {numbers.count(active28)} of {numbers.count(active90)}
                </b>{" "}
                {active90 === 1 ? "member" : "members"} who were active in 90 days were so in the last 28:{" "}
                {numbers.wholeShare(penetration)} penetration. {dependence(topShare, active28)}
              </p>
              {parts.length > 0 && <Strip parts={parts} />}
            </>
          );
        }}
      </Figures>
    </Panel>
  );
}

function dependence(topShare: number | null, active28: number): string {
  if (topShare === null) return "Nothing was done in the last 28 days.";
  if (active28 === 1) return "One person alone carries it.";
  if (topShare >= 0.6) return "It hangs on one person.";
  return topShare >= 0.4 ? "One person does much of it." : "It rests on several people.";
}

function Strip({ parts }: { parts: readonly { id: string; label: string; share: number }[] }): ReactElement {
  return (
    <>
      <div aria-hidden="true" className="flex h-4 gap-px">
        {parts.map(({ id, share }, index) => (
          <span
            key={id}
            className={id === "" ? "bg-edge" : tones[index]}
            style={{ width: `${share * 100}%` }}
          />
        ))}
      </div>
      <ul className="mt-2 grid gap-x-6 gap-y-0.5 text-sm">
        {parts.map(({ id, label, share }, index) => (
          <li key={id} className="flex items-center gap-2">
            <span
              aria-hidden="true"
              className={`size-2.5 shrink-0 ${id === "" ? "bg-edge" : tones[index]}`}
            />
            <span className="min-w-0 truncate">{label}</span>
            <span className="ml-auto font-medium">{numbers.share(share)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
