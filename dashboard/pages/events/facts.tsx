/** Names and values in two columns; on a narrow screen one above the other. */
import { Fragment, type ReactElement, type ReactNode } from "react";

/** What has no value is left out. */
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
