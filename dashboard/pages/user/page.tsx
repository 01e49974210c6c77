/** The page of a user. */
import { Link, useParams } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { useListedName } from "../../api/listed-name.ts";
import type { Reads } from "../../api/paths.ts";
import { usePages, useRead } from "../../api/query.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { ActivityPanel, daysOfYear, yearFilter } from "../../entity/activity.tsx";
import { ChangePanel, sinceFilter } from "../../entity/change.tsx";
import type { UserReceipt } from "../../entity/erase.tsx";
import { EntityHeader } from "../../entity/header.tsx";
import { HistoryPanel, rangeFilter } from "../../entity/history.tsx";
import { isMissing, Missing } from "../../entity/missing.tsx";
import type { Score } from "../../entity/score-text.ts";
import { EngagementPanel, HealthPanel, RiskPanel, ScoreStats } from "../../entity/scores.tsx";
import { TimelinePanel, timelinePage } from "../../entity/timeline.tsx";
import { Stat } from "../../parts/figure/stat.tsx";
import { Button } from "../../parts/form/button.tsx";
import { textFilter, useFilters } from "../../parts/list/filters.ts";
import { Notice, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { RelativeDay, useToday } from "../../parts/time.tsx";
import { Tree } from "../../parts/tree.tsx";
import { dayPlus, dayText, noEmail } from "../../text/format.ts";
import { ErasedUser, EraseUser } from "./erase.tsx";
import { ExcludeButton, ExcludedNotice } from "./exclusion.tsx";

type User = Reads["/api/users/:userId"]["answer"];

const filters = { since: sinceFilter, range: rangeFilter, year: yearFilter, event: textFilter() };

export default function UserPage(): ReactElement {
  const { userId } = useParams({ from: "/o/$organization/users/$userId" });
  const [receipt, setReceipt] = useState<UserReceipt>();
  if (receipt?.userId === userId) return <ErasedUser receipt={receipt} />;
  return <UserOf key={userId} userId={userId} onErased={setReceipt} />;
}

function UserOf({
  userId,
  onErased,
}: {
  userId: string;
  onErased: (receipt: UserReceipt) => void;
}): ReactElement {
  const path = { userId };
  const today = useToday();
  const [{ since, range, year, event }, change] = useFilters(filters);
  const user = useRead("/api/users/:userId", { path });
  const score = useRead("/api/users/:userId/score", {
    path,
    query: { since: dayPlus(today, -Number(since)) },
    keepsPrevious: true,
  });
  const history = useRead("/api/users/:userId/score/history", {
    path,
    query: range === "all" ? {} : { from: dayPlus(today, -Number(range)) },
    keepsPrevious: true,
  });
  const models = useRead("/api/model/changes");
  const activity = useRead("/api/users/:userId/activity", {
    path,
    query: daysOfYear(year, today),
    keepsPrevious: true,
  });
  const names = useRead("/api/users/:userId/events", { path });
  const timeline = usePages("/api/users/:userId/timeline", { path, query: { limit: timelinePage, event } });
  if (isMissing(user.error)) return <Missing id={userId} what="user" />;
  return (
    <>
      <UserHeader
        userId={userId}
        user={user.data}
        isMissing={user.isError}
        score={score.data}
        onErased={onErased}
      />
      <div className="grid gap-5">
        {user.data !== undefined && <ExcludedNotice user={user.data} />}
        {score.data?.dataStoppedSince != null && (
          <Notice>
            Far fewer users than usual are active since {dayText(score.data.dataStoppedSince)}: scores wait
            until data flows again.
          </Notice>
        )}
        <ScoreStats asked={score}>
          <Stat
            label="Last seen"
            value={<RelativeDay day={user.data?.lastSeenDay} />}
            note={seenText(user.data)}
          />
        </ScoreStats>
        <div className="grid gap-5 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
          <ChangePanel asked={score} what="user" since={since} onSince={(to) => change({ since: to })} />
          <Traits asked={user} />
        </div>
        <RiskPanel asked={score} what="user" />
        <div className="grid gap-5 xl:grid-cols-2">
          <HealthPanel asked={score} what="user" />
          <EngagementPanel asked={score} what="user" />
        </div>
        <HistoryPanel
          asked={history}
          models={models.data?.changes ?? []}
          what="user"
          range={range}
          onRange={(to) => change({ range: to })}
        />
        <ActivityPanel
          asked={activity}
          firstDay={user.data?.firstSeenDay}
          year={year}
          onYear={(to) => change({ year: to })}
        />
        <TimelinePanel asked={timeline} names={names} event={event} onEvent={(to) => change({ event: to })} />
      </div>
    </>
  );
}

function seenText(user: User | undefined): string | undefined {
  return user?.firstSeenDay == null ? undefined : `first seen ${dayText(user.firstSeenDay)}`;
}

function UserHeader({
  userId,
  user,
  isMissing,
  score,
  onErased,
}: {
  userId: string;
  user: User | undefined;
  /** Whether the user cannot be read: then the id is all that is known. */
  isMissing: boolean;
  score: Score | undefined;
  onErased: (receipt: UserReceipt) => void;
}): ReactElement {
  const [isErasing, setErasing] = useState(false);
  const mayErase = useMayAs("owner");
  const name = textTrait(user, "name");
  const listed = useListedName("users", userId);
  const isKnown = user !== undefined || isMissing;
  const title = name ?? user?.email ?? (isKnown ? userId : listed);
  return (
    <>
      <EntityHeader
        what="user"
        title={title}
        image={textTrait(user, "avatar")}
        line={user === undefined ? "" : <Line user={user} hasName={name !== undefined} />}
        freshness={score?.freshness}
        score={score}
        actions={
          user !== undefined && (
            <>
              <ExcludeButton user={user} name={title ?? userId} />
              {mayErase && (
                <Button isSmall onClick={() => setErasing(true)}>
                  Erase …
                </Button>
              )}
            </>
          )
        }
      />
      <EraseUser
        userId={userId}
        account={user?.account}
        isOpen={isErasing}
        onClose={() => setErasing(false)}
        onErased={onErased}
      />
    </>
  );
}

function Line({ user, hasName }: { user: User; hasName: boolean }): ReactElement {
  const organization = String(useOrganization().id);
  const { email, userId, account, isAccountOwner } = user;
  return (
    <>
      {email === null ? <>{noEmail} · </> : hasName && <>{email} · </>}
      <span title="The user's id">{userId}</span>
      {account !== null && (
        <>
          {" · "}
          {isAccountOwner ? "owner at " : "at "}
          <Link
            to="/o/$organization/accounts/$accountId"
            params={{ organization, accountId: account.id }}
            title={account.name || account.id}
            className="inline-block max-w-full truncate align-bottom font-medium text-ink underline decoration-edge underline-offset-3"
          >
            {account.name || account.id}
          </Link>
        </>
      )}
    </>
  );
}

function textTrait(user: User | undefined, name: string): string | undefined {
  const value = user?.traits[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function Traits({ asked }: { asked: ReturnType<typeof useRead<"/api/users/:userId">> }): ReactElement {
  const { timezone } = useOrganization();
  return (
    <Panel title="Traits" note="As last sent by your application.">
      <Figures asked={asked} loading={<Loading rows={6} />}>
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
      </Figures>
    </Panel>
  );
}
