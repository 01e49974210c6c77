/** Accounts at risk, and whose health rose and fell most. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { csvAddress, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Health, Risk } from "../../parts/health.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { type Kind, plural } from "./filters.ts";

type AtRisk = Reads["/api/accounts-at-risk"]["answer"]["accounts"][number];
type Mover = Reads["/api/movers"]["answer"]["movers"][number];

const columns: readonly Column<AtRisk>[] = [
  {
    id: "account",
    header: "Account",
    isFixed: true,
    width: 160,
    csv: ["id", "label"],
    cell: ({ id, label }) => <EntityLink kind="account" id={id} label={label} />,
  },
  {
    id: "members",
    header: "Members",
    hint: "Users who belong to it now",
    isNumber: true,
    cell: ({ members }) => numbers.count(members),
  },
  {
    id: "active",
    header: "Active",
    hint: "Members who were active in the 28 days before the scores",
    isNumber: true,
    csv: ["activeMembers"],
    cell: ({ activeMembers }) => numbers.count(activeMembers),
  },
  { id: "health", header: "Health", cell: ({ health }) => <Health colour="at_risk" score={health} /> },
  {
    id: "change",
    header: "In a week",
    hint: "Points of health against the scores of a week before",
    isNumber: true,
    cell: ({ change }) => pointsText(change),
  },
  {
    id: "risk",
    header: "Churn risk",
    isNumber: true,
    csv: ["band", "risk"],
    cell: ({ risk, band }) => (risk === null || band === null ? nothing : <Risk risk={risk} band={band} />),
  },
];

function pointsText(change: number | null): string {
  if (change === null) return nothing;
  const points = Math.round(change);
  return points === 0 ? "±0" : numbers.change(points);
}

const shown = 8;
const shownMovers = 5;

export function AccountsAtRisk(): ReactElement {
  const { id } = useOrganization();
  const asked = useRead("/api/accounts-at-risk", { query: { limit: shown } });
  const { data } = asked;
  return (
    <Panel
      isFlush
      title="Accounts at risk"
      note={data && data.total > 0 ? atRiskNote(data) : "Health below 40, the largest first"}
    >
      <Figures
        of={asked}
        loading={
          <div className="p-4">
            <Loading rows={6} />
          </div>
        }
        empty={{
          when: ({ accounts }) => accounts.length === 0,
          show: <NoneAtRisk scored={data?.scored ?? 0} />,
        }}
      >
        {({ accounts }) => (
          <DataTable
            label="The largest accounts at risk"
            name="accounts-at-risk"
            rows={accounts}
            columns={columns}
            rowId={(account) => account.id}
            csv={csvAddress(id, "/api/accounts-at-risk", {})}
          />
        )}
      </Figures>
    </Panel>
  );
}

function atRiskNote({ total, scored, members, accounts }: Reads["/api/accounts-at-risk"]["answer"]): string {
  const all = `${numbers.count(total)} of ${numbers.count(scored)} accounts, with ${numbers.count(members)} members`;
  return accounts.length < total ? `${all}: the ${accounts.length} largest` : `${all}: the largest first`;
}

function NoneAtRisk({ scored }: { scored: number }): ReactElement {
  return scored > 0 ? (
    <Empty title="No account is at risk">
      The health of all {numbers.count(scored)} accounts that have not churned is 40 or more.
    </Empty>
  ) : (
    <Empty title="No scores of accounts yet">
      Accounts come from identify and group calls, scores every night.
    </Empty>
  );
}

export function Movers({ kind }: { kind: Kind }): ReactElement {
  const asked = useRead("/api/movers", { query: { kind, state: "active", limit: shownMovers } });
  const { data } = asked;
  return (
    <Panel
      title="Who fell and who rose"
      note={
        data?.sinceDay
          ? `Points of health since ${dayText(data.sinceDay)}, of ${plural[kind]} who have not churned`
          : `Points of health within a week, of ${plural[kind]} who have not churned`
      }
    >
      <Figures
        of={asked}
        loading={<Loading rows={8} />}
        empty={{
          when: ({ movers }) => movers.length === 0,
          show: (
            <Empty title="Nothing to compare yet">
              {data?.day == null
                ? "Scores are worked out every night."
                : "There are no scores of a week ago."}
            </Empty>
          ),
        }}
      >
        {({ movers }) => (
          <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2 xl:grid-cols-1">
            <MoverList
              title="Fell"
              kind={kind}
              movers={movers
                .filter(({ change }) => (change ?? 0) < 0)
                .sort((a, b) => (a.change ?? 0) - (b.change ?? 0))}
            />
            <MoverList title="Rose" kind={kind} movers={movers.filter(({ change }) => (change ?? 0) > 0)} />
          </div>
        )}
      </Figures>
    </Panel>
  );
}

function MoverList({
  title,
  kind,
  movers,
}: {
  title: string;
  kind: Kind;
  movers: readonly Mover[];
}): ReactElement {
  return (
    <section aria-label={title} className="min-w-0">
      <h3 className="text-sm text-soft">{title}</h3>
      {movers.length === 0 ? (
        <p className="py-1.5">Nobody</p>
      ) : (
        <ol>
          {movers.map(({ id, label, colour, health, change }) => (
            <li key={id} className="flex items-center gap-3 border-t border-line py-1.5">
              <span className="min-w-0 grow truncate" title={label || id}>
                <EntityLink kind={kind} id={id} label={label} />
              </span>
              <Health colour={colour} score={health} />
              <span className="w-9 shrink-0 text-right font-medium">{pointsText(change)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
