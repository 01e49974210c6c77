/** The members of an account: their activity in it, and their scores. */
import type { ReactElement } from "react";
import { type Asked, csvAddress, type Reads } from "../../api/query.ts";
import { Avatar } from "../../parts/avatar.tsx";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Badge } from "../../parts/figure/health.tsx";
import { Verdict } from "../../parts/figure/verdict.tsx";
import { Button } from "../../parts/form/button.tsx";
import { type Column, DataTable, figureColumn, type Sort } from "../../parts/list/data-table.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { noEmail, nothing, numbers } from "../../text/format.ts";
import { ControlBadge } from "../tasks/control-badge.tsx";

type Members = Reads["/api/accounts/:accountId/members"]["answer"];
type Member = Members["members"][number];
export const membersPageSize = 100;
/** Members that are shown at first. */
export const fewMembers = 10;

const columns: readonly Column<Member>[] = [
  {
    id: "member",
    header: "Member",
    sort: "email",
    isFixed: true,
    width: 180,
    csv: ["userId", "name", "email", "controlUntil", "isAccountOwner", "isMember"],
    cell: (member) => <MemberLink member={member} />,
  },
  {
    id: "share",
    header: "Share of activity",
    sort: "share",
    width: 140,
    hint: "Share of the activity in this account in 28 days, weighted as in engagement",
    cell: ({ share }) => <Share share={share} />,
  },
  {
    id: "verdict",
    header: "Verdict",
    hint: "The member's own",
    cell: ({ verdict }) => <Verdict verdict={verdict} />,
  },
  figureColumn("health", "Health", "The member's own, 0 to 100", ({ health }) => numbers.score(health), {
    sort: "health",
  }),
  figureColumn("risk", "Churn risk", "The member's own", ({ risk }) => numbers.risk(risk), { sort: "risk" }),
  figureColumn(
    "activeDays",
    "Active days of 28",
    "Days with an engagement event in this account, of the last 28",
    ({ activeDays28 }) => numbers.count(activeDays28),
    { csv: ["activeDays28"] },
  ),
  figureColumn(
    "engagement",
    "Engagement",
    "The member's own, 0 to 100",
    ({ engagement }) => numbers.score(engagement),
    { isHidden: true },
  ),
  figureColumn(
    "lastActive",
    "Last active",
    "The last engagement event in this account, within 90 days",
    ({ lastActiveDay }) =>
      lastActiveDay === null ? "over 90 days ago or never" : <RelativeDay day={lastActiveDay} />,
    { sort: "lastActive", csv: ["lastActiveDay"] },
  ),
];
/** Without shares, for an account with little use. */
const columnsWithoutShares = columns.filter(({ id }) => id !== "share");

interface MembersPanelProps {
  readonly accountId: string;
  readonly asked: Asked<Members>;
  readonly sort: Sort<Reads["/api/accounts/:accountId/members"]["query"]["sort"] & string>;
  readonly onSort: (sort: Sort) => void;
  readonly offset: number;
  readonly onOffset: (offset: number) => void;
  /** Whether all are shown, in pages. Otherwise only the first few are. */
  readonly isWhole: boolean;
  readonly onWhole: () => void;
}

export function MembersPanel(props: MembersPanelProps): ReactElement {
  const { accountId, asked, sort, onSort, offset, onOffset, isWhole, onWhole } = props;
  return (
    <FigurePanel
      title="Members"
      isFlush
      note="Users of the account, and users who were active in it in the last 90 days. Without excluded users."
      asked={asked}
      loading={<Loading rows={6} />}
      empty={({ total }) => total === 0 && <Empty title="No members" />}
    >
      {(answer) => (
        <>
          <DataTable
            label="Members of this account"
            name="members"
            rows={answer.members}
            columns={answer.isInUse ? columns : columnsWithoutShares}
            rowId={({ userId }) => userId}
            sort={sort}
            onSort={onSort}
            page={{ total: answer.total, offset, size: isWhole ? membersPageSize : answer.total }}
            onPage={onOffset}
            csv={csvAddress(
              "/api/accounts/:accountId/members",
              { sort: sort.by, order: sort.order },
              { accountId },
            )}
          />
          {!isWhole && answer.total > answer.members.length && (
            <div className="border-t border-line px-4 py-2">
              <Button isSmall onClick={onWhole}>
                Show all {numbers.count(answer.total)}
              </Button>
            </div>
          )}
        </>
      )}
    </FigurePanel>
  );
}

function MemberLink({ member }: { member: Member }): ReactElement {
  const { userId, name, email, avatar, controlUntil, isAccountOwner, isMember } = member;
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <Avatar name={name ?? email ?? userId} image={avatar} />
      <EntityLink
        kind="user"
        id={userId}
        label={name ?? email}
        title={[name, email ?? noEmail].filter(Boolean).join(", ")}
        className="truncate font-medium"
      />
      {isAccountOwner && <Badge>owner</Badge>}
      {!isMember && <Badge tone="warn">has left</Badge>}
      <ControlBadge until={controlUntil} />
    </span>
  );
}

function Share({ share }: { share: number | null }): ReactElement {
  if (share === null) return <>{nothing}</>;
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden="true" className="h-2 w-20 bg-sunk">
        <span className="block h-full bg-ember" style={{ width: `${share * 100}%` }} />
      </span>
      {numbers.share(share)}
    </span>
  );
}
