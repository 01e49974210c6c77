/** The columns of the list of users. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { EmailLink } from "../../parts/email-link.tsx";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Badge } from "../../parts/figure/health.tsx";
import { scoreColumns } from "../../parts/list/score-columns.tsx";
import type { Column } from "../../parts/list/table-model.ts";
import { traitColumns } from "../../parts/list/trait-columns.tsx";
import { Instant, RelativeDay } from "../../parts/time.tsx";
import { dayText, noEmail, nothing } from "../../text/format.ts";
import { ControlBadge } from "../tasks/control-badge.tsx";
import { ownerColumn } from "../tasks/owner-pick.tsx";

type User = Reads["/api/users"]["answer"]["users"][number];

const before: readonly Column<User>[] = [
  {
    id: "user",
    header: "User",
    sort: "name",
    isFixed: true,
    width: 220,
    csv: ["userId", "name", "email", "controlUntil"],
    cell: (user) => <UserLink user={user} />,
  },
  ...scoreColumns<User>(),
  {
    id: "account",
    header: "Account",
    sort: "account",
    csv: ["accountId", "accountName"],
    cell: ({ accountId, accountName }) =>
      accountId === null ? (
        <span className="text-soft">{nothing}</span>
      ) : (
        <EntityLink
          kind="account"
          id={accountId}
          label={accountName}
          title={accountName || accountId}
          className=""
        />
      ),
  },
  ownerColumn<User>(),
  {
    id: "lastSeen",
    header: "Last seen",
    sort: "lastSeen",
    isNumber: true,
    csv: ["lastSeenDay"],
    hint: "The day of the last engagement event",
    cell: ({ lastSeenDay }) => <RelativeDay day={lastSeenDay} />,
  },
  {
    id: "firstSeen",
    header: "First seen",
    sort: "firstSeen",
    isNumber: true,
    isHidden: true,
    csv: ["firstSeenDay"],
    hint: "The day of the first engagement event",
    cell: ({ firstSeenDay }) => dayText(firstSeenDay),
  },
  {
    id: "firstIdentified",
    header: "Identified",
    sort: "firstIdentified",
    isNumber: true,
    isHidden: true,
    csv: ["firstIdentifiedAt"],
    hint: "When the user was identified first",
    cell: ({ firstIdentifiedAt }) => <Instant instant={firstIdentifiedAt} />,
  },
  {
    id: "email",
    header: "E-mail",
    sort: "email",
    isHidden: true,
    cell: ({ email }) =>
      email === null ? <span className="text-soft">{noEmail}</span> : <EmailLink email={email} />,
  },
  {
    id: "userId",
    header: "User id",
    sort: "userId",
    isHidden: true,
    cell: ({ userId }) => userId,
  },
  {
    id: "isAccountOwner",
    header: "Account owner",
    isHidden: true,
    cell: ({ isAccountOwner }) => (isAccountOwner === null ? nothing : isAccountOwner ? "Yes" : "No"),
  },
];

/** All columns, with one for each trait. */
export function userColumns(traits: readonly string[]): readonly Column<User>[] {
  return [...before, ...traitColumns<User>(traits, "Traits")];
}

function UserLink({ user: { userId, name, email, isExcluded, controlUntil } }: { user: User }): ReactElement {
  return (
    <span className="flex min-w-0 items-center" title={[name, email ?? noEmail].filter(Boolean).join(", ")}>
      <EntityLink kind="user" id={userId} label={name ?? email} className="truncate font-medium" />
      {(name !== null || email === null) && (
        // The e-mail address gives way to the name, and both to what has to be known of the user.
        <span className="ml-2 shrink-[9999] truncate text-soft">{email ?? noEmail}</span>
      )}
      {isExcluded && (
        <span className="ml-2 shrink-0" title="Counts in no figure: see the rules of exclusion">
          <Badge>excluded</Badge>
        </span>
      )}
      <ControlBadge until={controlUntil} />
    </span>
  );
}
