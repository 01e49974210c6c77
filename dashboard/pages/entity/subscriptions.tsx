/** The subscriptions of a user or an account, and their history. Without any nothing is shown. */
import { type ReactElement, type ReactNode, useState } from "react";
import { type Asked, type Reads, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { historyText } from "../../parts/billing/history-text.ts";
import { Mrr, type Payer, Status } from "../../parts/billing/words.tsx";
import { Badge } from "../../parts/figure/health.tsx";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { Button } from "../../parts/form/button.tsx";
import { DataTable } from "../../parts/list/data-table.tsx";
import { type Column, figureColumn } from "../../parts/list/table-model.ts";
import { FigurePanel } from "../../parts/states.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { counted, dayText, nothing, todayIn } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";

type Answer = Reads["/api/accounts/:accountId/subscriptions"]["answer"];
type Subscription = Answer["subscriptions"][number];

const paths = {
  user: "/api/users/:userId/subscriptions",
  account: "/api/accounts/:accountId/subscriptions",
} as const;
/** Entries of the history that are shown at first. */
const fewEntries = 6;

export function SubscriptionsPanel({
  what,
  id,
}: {
  what: "user" | "account";
  id: string;
}): ReactElement | null {
  const asked: Asked<Answer> = useRead(paths[what], { path: { userId: id, accountId: id } });
  if (asked.error === null && asked.data?.payer == null) return null;
  return (
    <FigurePanel title="Subscriptions" asked={asked} isFlush>
      {({ payer, billing, subscriptions, history, total }) => (
        <>
          {payer !== null && billing !== null && (
            <Summary payer={payer} billing={billing} subscriptions={subscriptions} />
          )}
          {total > 1 && (
            <DataTable
              isPlain
              label={`Subscriptions of this ${what}`}
              name="subscriptions"
              rows={subscriptions}
              columns={columns}
              rowId={({ subscriptionId }) => subscriptionId}
            />
          )}
          {total > subscriptions.length && (
            <p className="px-4 py-2 text-sm text-soft">
              The {subscriptions.length} that changed last, of {counted(total, "subscription")}.
            </p>
          )}
          <History history={history} namesAll={total > 1} />
        </>
      )}
    </FigurePanel>
  );
}

interface SummaryProps {
  readonly payer: Payer;
  readonly billing: NonNullable<Answer["billing"]>;
  readonly subscriptions: readonly Subscription[];
}

function Summary({ payer, billing, subscriptions }: SummaryProps): ReactElement {
  const { reportingCurrency: currency } = billing;
  const { plan = null, renewsAt = null, expectedLoss } = payer;
  const live = subscriptions.filter(({ status }) => status !== "canceled");
  const late = live.flatMap(({ pastDueSince }) => pastDueSince ?? []).toSorted()[0];
  const isUnconfirmed = live.some((one) => one.isUnconfirmed);
  return (
    <div className="px-4 pt-1 pb-3">
      <Stats isDense>
        <Stat
          label="MRR"
          value={
            <span className="[overflow-wrap:anywhere]">
              <Mrr payer={payer} currency={currency} isShort />
            </span>
          }
          note={live.length > 1 ? counted(live.length, "subscription") : undefined}
        />
        {expectedLoss !== undefined && (
          <Stat
            label="Expected loss"
            hint="Churn risk × MRR; MRR that ends as scheduled counts in full"
            value={moneyIn(currency).short(expectedLoss === null ? null : Math.round(expectedLoss))}
            note={expectedLoss === null ? "no churn risk" : "within the churn horizon"}
          />
        )}
        <Stat label="Plan" value={<Wrapped>{plan ?? nothing}</Wrapped>} />
        <Stat
          label="Subscription"
          value={
            <Wrapped>
              <Status payer={payer} />
            </Wrapped>
          }
          note={
            late === undefined ? (
              isUnconfirmed && "unconfirmed: no event since its period ended"
            ) : (
              <>
                past due since <Day instant={late} />
              </>
            )
          }
        />
        <Stat
          label="Renews"
          value={<Wrapped>{dayText(renewsAt)}</Wrapped>}
          note={renewsAt !== null && <RelativeDay day={renewsAt} />}
        />
      </Stats>
    </div>
  );
}

/** A text in place of a figure. Names of plans may be long. */
function Wrapped({ children }: { children: ReactNode }): ReactElement {
  return <span className="line-clamp-3 text-base tracking-normal [overflow-wrap:anywhere]">{children}</span>;
}

function Day({ instant }: { instant: string }): ReactElement {
  return <>{useDayOf()(instant)}</>;
}

/** The day of an instant, as text. */
function useDayOf(): (instant: string) => string {
  const { timezone } = useOrganization();
  return (instant) => dayText(todayIn(timezone, Date.parse(instant)));
}

const columns: readonly Column<Subscription>[] = [
  {
    id: "plan",
    header: "Plan",
    isFixed: true,
    width: 180,
    cell: ({ plan, subscriptionId }) => <span title={plan ?? subscriptionId}>{plan ?? subscriptionId}</span>,
  },
  figureColumn("mrr", "MRR", "Now, in its own currency", ({ mrr, currency }) =>
    currency === null ? nothing : moneyIn(currency).exact(mrr),
  ),
  {
    id: "status",
    header: "Status",
    cell: ({ status, endsAt, isUnconfirmed }) => (
      <>
        <Status
          payer={{ subscriptionStatus: status, subscriptionEndsAt: status === "canceled" ? null : endsAt }}
        />
        {isUnconfirmed && (
          <span className="ml-2" title="Its period ended more than 30 days ago, and no event came since">
            <Badge>unconfirmed</Badge>
          </span>
        )}
      </>
    ),
  },
  figureColumn("started", "Started", "When it started, or started again", ({ startedAt }) => (
    <Day instant={startedAt} />
  )),
  figureColumn("ends", "Period ends", "The end of the current period", ({ status, currentPeriodEnd }) =>
    status === "canceled" || currentPeriodEnd === null ? nothing : <Day instant={currentPeriodEnd} />,
  ),
];

/** @param namesAll whether each entry names its subscription */
function History({
  history,
  namesAll,
}: Pick<Answer, "history"> & { readonly namesAll: boolean }): ReactElement {
  const [isWhole, setWhole] = useState(false);
  const dayOf = useDayOf();
  const shown = isWhole ? history : history.slice(0, fewEntries);
  return (
    <div className="px-4 py-3">
      <h3 className="mb-1 text-sm font-medium">History</h3>
      <ol aria-label="History of subscriptions" className="grid gap-y-1 text-sm">
        {shown.map((entry) => {
          const text = historyText(entry, namesAll, dayOf);
          return (
            <li
              key={`${entry.subscriptionId} ${entry.at} ${entry.what}`}
              className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3"
            >
              <span className="text-soft">{dayOf(entry.at)}</span>
              <span title={text} className="line-clamp-3 [overflow-wrap:anywhere]">
                {text}
              </span>
            </li>
          );
        })}
      </ol>
      {history.length > shown.length && (
        <Button isSmall className="mt-2" onClick={() => setWhole(true)}>
          Show {history.length - shown.length} more
        </Button>
      )}
    </div>
  );
}
