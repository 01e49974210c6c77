/** The page of a user. */
import { useParams } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { useListedName } from "../../api/listed-name.ts";
import { type Asked, type Reads, useRead } from "../../api/query.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { EmailLink } from "../../parts/email-link.tsx";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Stat } from "../../parts/figure/stat.tsx";
import { SaidByPage } from "../../parts/said-by-page.tsx";
import { FigurePanel, Loading } from "../../parts/states.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { Tree } from "../../parts/tree.tsx";
import { dayText, noEmail } from "../../text/format.ts";
import { ControlBadge } from "../tasks/control-badge.tsx";
import { ChurnReason } from "./churn-reason.tsx";
import type { UserReceipt } from "./erase.tsx";
import { ErasedUser, EraseUser } from "./erase-user.tsx";
import { EverythingLink } from "./everything.tsx";
import { ExcludeButton, ExcludedNotice } from "./exclusion.tsx";
import { EntityHeader } from "./header.tsx";
import { Owner } from "./owner.tsx";
import { EntityPage } from "./page.tsx";
import type { Score } from "./score-text.ts";

type User = Reads["/api/users/:userId"]["answer"];

export default function UserPage(): ReactElement {
  const { userId } = useParams({ from: "/o/$organization/users/$userId" });
  const [receipt, setReceipt] = useState<UserReceipt>();
  if (receipt?.userId === userId) return <ErasedUser receipt={receipt} />;
  return <UserOf key={userId} userId={userId} onErased={setReceipt} />;
}

interface UserProps {
  readonly userId: string;
  readonly onErased: (receipt: UserReceipt) => void;
}

function UserOf({ userId, onErased }: UserProps): ReactElement {
  const asked = useRead("/api/users/:userId", { path: { userId } });
  const user = asked.data;
  return (
    <EntityPage
      what="user"
      id={userId}
      asked={asked}
      header={(score) => (
        <UserHeader userId={userId} user={user} score={score} onErased={onErased} isMissing={asked.isError} />
      )}
      notice={user !== undefined && <ExcludedNotice user={user} />}
      stat={<Stat label="Last seen" value={<RelativeDay day={user?.lastSeenDay} />} note={seenText(user)} />}
    >
      {(change, risk) => (
        <>
          <div className="grid gap-5 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
            {change}
            <Traits asked={asked} />
          </div>
          {risk}
        </>
      )}
    </EntityPage>
  );
}

function seenText(user: User | undefined): string | undefined {
  return user?.firstSeenDay == null ? undefined : `first seen ${dayText(user.firstSeenDay)}`;
}

interface UserHeaderProps extends UserProps {
  readonly user: User | undefined;
  /** Whether the user cannot be read: then the id is all that is known. */
  readonly isMissing: boolean;
  readonly score: Score | undefined;
}

function UserHeader({ userId, user, isMissing, score, onErased }: UserHeaderProps): ReactElement {
  const mayErase = useMayAs("owner");
  const name = textTrait(user, "name");
  const listed = useListedName("users", userId);
  const isKnown = user !== undefined || isMissing;
  const title = name ?? user?.email ?? (isKnown ? userId : listed);
  return (
    <EntityHeader
      what="user"
      title={title}
      image={textTrait(user, "avatar")}
      line={user === undefined ? "" : <Line user={user} />}
      freshness={score?.freshness}
      score={score}
      actions={
        user !== undefined && (
          <>
            <ControlBadge until={user.controlUntil} />
            <Owner entity={{ kind: "user", id: userId }} owned={user} />
            {score?.verdict === "churned" && (
              <ChurnReason entity={{ kind: "user", id: userId }} traits={user.traits} />
            )}
            <ExcludeButton user={user} name={title ?? userId} />
            <EverythingLink userId={userId} />
            {mayErase && <EraseUser userId={userId} account={user.account} onErased={onErased} />}
          </>
        )
      }
    />
  );
}

function Line({ user }: { user: User }): ReactElement {
  const { email, userId, account, isAccountOwner, saidByPages } = user;
  return (
    <>
      {email === null ? (
        <>{noEmail} · </>
      ) : (
        <>
          <EmailLink email={email} /> ·{" "}
        </>
      )}
      <span title="The user's id">{userId}</span>
      {account !== null && (
        <>
          {" · "}
          {isAccountOwner ? "owner at " : "at "}
          <EntityLink
            kind="account"
            id={account.id}
            label={account.name}
            title={account.name || account.id}
            className="inline-block max-w-full truncate align-bottom font-medium text-ink underline decoration-edge underline-offset-3"
          />{" "}
          <SaidByPage fields={saidByPages} field="account" />
        </>
      )}
    </>
  );
}

function textTrait(user: User | undefined, name: string): string | undefined {
  const value = user?.traits[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function Traits({ asked }: { asked: Asked<User> }): ReactElement {
  const { timezone } = useOrganization();
  return (
    <FigurePanel
      title="Traits"
      note="As last sent by your application."
      asked={asked}
      loading={<Loading rows={6} />}
    >
      {({ traits, firstIdentifiedAt, updatedAt }) => (
        <>
          {Object.keys(traits).length === 0 ? (
            <p className="text-soft">None were sent.</p>
          ) : (
            <Tree values={traits} timezone={timezone} />
          )}
          <div className="mt-3 border-t border-line pt-3">
            <Tree
              values={{ "first identified": firstIdentifiedAt, "last changed": updatedAt }}
              timezone={timezone}
            />
          </div>
        </>
      )}
    </FigurePanel>
  );
}
