/** Names and values in two columns. On a narrow screen each value stands below its name. */
import { Fragment, type ReactElement, type ReactNode } from "react";
import { EntityLink } from "../../parts/entity-link.tsx";
import { nothing } from "../../text/format.ts";

/** Facts without a value are left out. */
export function Facts({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode])[];
}): ReactElement {
  return (
    <dl className="grid gap-x-4 gap-y-0.5 sm:grid-cols-[auto_minmax(0,1fr)] sm:gap-y-1.5">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "")
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt className="text-sm whitespace-nowrap text-soft">{name}</dt>
            <dd className="mb-1.5 min-w-0 [overflow-wrap:anywhere] sm:mb-0">{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** The id of a user, which leads to them. @param isKnown false if the user may not exist */
export function UserId({ userId, isKnown }: { userId: string | null; isKnown: boolean }): ReactElement {
  if (userId === null || !isKnown) return <>{userId ?? nothing}</>;
  return <EntityLink kind="user" id={userId} label={userId} className="" />;
}
