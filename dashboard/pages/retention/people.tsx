/** The users of a cell: those who returned, and those who did not. */
import { type ReactElement, useState } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { atText } from "../../charts/cohort-model.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { counted, noEmail, numbers } from "../../text/format.ts";
import { cohortTitle, groupLabel, groupOfKey } from "./cohorts.ts";
import { closedCell, queryOf, useChoices } from "./question.ts";
import { SaveCell } from "./save-cell.tsx";

type Answer = Reads["/api/retention/people"]["answer"];

const pageSize = 100;

/** A drawer with the users of the cell that the address names. It is closed while the address names none. */
export function People(): ReactElement {
  const [{ cohort, at, group, period, trait, side }, change] = useChoices();
  const title = cohort === undefined ? "" : cohortTitle(cohort, period);
  const whose = trait === "" ? "" : ` · ${groupLabel(group, trait)}`;
  return (
    <Dialog
      isOpen={cohort !== undefined}
      onClose={() => change(closedCell)}
      title={`${title}, ${atText(at, period)}${whose}`}
      isDrawer="right"
    >
      {cohort !== undefined && <Behind key={`${cohort} ${at} ${group} ${side}`} cohort={cohort} />}
    </Dialog>
  );
}

function Behind({ cohort }: { cohort: string }): ReactElement {
  const [choices, change] = useChoices();
  const [befores, setBefores] = useState<readonly number[]>([]);
  const { side, at, group, trait } = choices;
  const { kind, value } = groupOfKey(trait === "" ? "all" : group);
  const cell = {
    ...queryOf(choices),
    cohort,
    at,
    kind,
    retained: side === "retained",
    ...(value !== undefined && { value }),
  };
  const people = useRead("/api/retention/people", {
    query: { ...cell, after: befores.at(-1) ?? 0, limit: pageSize },
    keepsPrevious: true,
  });
  const { users, cohortUsers, next } = people.data ?? { users: undefined, cohortUsers: 0, next: null };
  const gone = users === undefined ? undefined : cohortUsers - users;
  const asked = side === "retained" ? users : gone;
  return (
    <Tabs
      label="Users of the cohort"
      value={side}
      onChoose={(chosen) => change({ side: chosen })}
      tabs={[
        { value: "retained", label: "Came back", count: users !== undefined && numbers.count(users) },
        { value: "lost", label: "Did not", count: gone !== undefined && numbers.count(gone) },
      ]}
    >
      <Figures
        asked={people}
        loading={<Loading rows={10} height={28} />}
        empty={(answer) => answer.people.length === 0 && <Empty title="No users" />}
      >
        {(answer) => (
          <>
            <p className="mb-3 text-soft">
              {numbers.count(asked)} of {counted(cohortUsers, "user")} of the cohort (
              {numbers.share(cohortUsers === 0 ? null : (asked ?? 0) / cohortUsers)}), in the order in which
              they became known
            </p>
            <div className="mb-2 flex flex-wrap gap-2">
              <CsvLink address={csvAddress("/api/retention/people", cell)} />
              <CopyButton text={() => location.href} label="Copy link" />
              <SaveCell query={cell} users={asked ?? 0} />
            </div>
            <List people={answer.people} />
          </>
        )}
      </Figures>
      {(befores.length > 0 || next !== null) && (
        <nav aria-label="Pages of people" className="mt-3 flex justify-between gap-2">
          <Button
            isSmall
            icon="left"
            disabled={befores.length === 0}
            onClick={() => setBefores(befores.slice(0, -1))}
          >
            Previous
          </Button>
          <Button
            isSmall
            icon="right"
            disabled={next === null}
            onClick={() => next !== null && setBefores([...befores, next])}
          >
            Next
          </Button>
        </nav>
      )}
    </Tabs>
  );
}

function List({ people }: { people: Answer["people"] }): ReactElement {
  return (
    <ul className="border-t border-line">
      {people.map(({ userId, name, email, lastSeenDay }) => (
        <li key={userId} className="flex items-baseline justify-between gap-3 border-b border-line py-1.5">
          <span className="min-w-0 truncate">
            <EntityLink kind="user" id={userId} label={name ?? email} />
            {(name !== null || email === null) && (
              <span className="ml-2 text-sm text-soft">{email ?? noEmail}</span>
            )}
          </span>
          <span className="shrink-0 text-sm text-soft">
            <span className="sr-only">last seen </span>
            <RelativeDay day={lastSeenDay} />
          </span>
        </li>
      ))}
    </ul>
  );
}
