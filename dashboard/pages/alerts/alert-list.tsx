/** Alerts as the inbox and the pages of users and accounts show them, and what team members do with them. */
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { useReportingCurrency } from "../../parts/billing/reporting-currency.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { dayText } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { sourceName } from "../../text/source-names.ts";
import { AlertDialog } from "./alert-form.tsx";
import { type Alert, closingText, figuresOf, verdictText, weightText } from "./alert-words.ts";
import { type Handling, OutcomeDialog } from "./outcome-dialog.tsx";

type Rule = Reads["/api/alert-rules"]["answer"]["rules"][number];

interface AlertListProps {
  readonly label: string;
  readonly alerts: readonly Alert[];
  /** Whether all are about the user or the account of the page, which is not named then. */
  readonly isOfOne?: boolean;
}

export function AlertList({ label, alerts, isOfOne = false }: AlertListProps): ReactElement {
  const rules = useRead("/api/alert-rules").data?.rules;
  const currency = useReportingCurrency();
  const money = currency === null ? undefined : moneyIn(currency);
  return (
    <ul aria-label={label}>
      {alerts.map((alert) => {
        const rule = rules?.find(({ id }) => id === alert.rule.id);
        return <AlertRow key={alert.id} alert={alert} rule={rule} money={money} isOfOne={isOfOne} />;
      })}
    </ul>
  );
}

interface RowProps {
  readonly alert: Alert;
  /** Undefined until the rules are known. */
  readonly rule: Rule | undefined;
  /** Undefined until the currency is known. */
  readonly money: Money | undefined;
  readonly isOfOne: boolean;
}

function AlertRow({ alert, rule, money, isOfOne }: RowProps): ReactElement {
  const mayChange = useMayAs("member");
  const { values, reasons } = figuresOf(alert, rule);
  const weight = weightText(alert, money);
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b border-line py-3 last:border-0">
      <div className="grid min-w-0 grow basis-80 gap-0.5 [overflow-wrap:anywhere]">
        <div className="flex min-w-0 flex-wrap items-baseline gap-x-3">
          {isOfOne ? <p className="font-medium">{alert.rule.name}</p> : <Entity alert={alert} />}
          {weight !== undefined && <span className="font-medium text-at-risk">{weight}</span>}
        </div>
        {isOfOne ? (
          values !== undefined && <p className="text-soft">{values}</p>
        ) : (
          <p>
            {alert.rule.name}
            {values !== undefined && <span className="text-soft"> · {values}</span>}
          </p>
        )}
        {reasons.length > 0 && <p className="text-sm text-soft">{reasons.join(" · ")}</p>}
        <Facts alert={alert} />
        {alert.note !== null && (
          <p className="mt-1 border-l-2 border-edge pl-2 text-sm whitespace-pre-wrap">{alert.note}</p>
        )}
      </div>
      {mayChange && <Actions alert={alert} />}
    </li>
  );
}

function Entity({ alert: { entityKind, entityId, entityLabel } }: { alert: Alert }): ReactElement {
  if (entityKind === "source") {
    return (
      <PageLink to="/o/$organization/sources" className="font-medium">
        {sourceName(entityId)}
      </PageLink>
    );
  }
  return (
    <EntityLink
      kind={entityKind}
      id={entityId}
      label={entityLabel}
      title={entityLabel}
      className="line-clamp-2 font-medium"
    />
  );
}

function Facts({ alert }: { alert: Alert }): ReactElement {
  const { firedDay, assignee, snoozedUntil, closedDay, arm } = alert;
  const closing = closingText(alert);
  const verdict = verdictText(alert);
  return (
    <ul className="flex flex-wrap gap-x-3 text-sm text-soft">
      <li>
        Since <RelativeDay day={firedDay} />
      </li>
      <li>{assignee === null ? "No assignee" : `Assigned to ${assignee.name}`}</li>
      {snoozedUntil !== null && <li>Snoozed until {dayText(snoozedUntil)}</li>}
      {verdict !== undefined && <li>{verdict}</li>}
      {closing !== undefined && (
        <li>
          {closing} <RelativeDay day={closedDay} />
        </li>
      )}
      {arm === "control" && <li>In the control group: no message was sent</li>}
    </ul>
  );
}

function Actions({ alert }: { alert: Alert }): ReactElement {
  const { id, entityLabel: label, verdict } = alert;
  const [isEditing, setEditing] = useState(false);
  const tell = useTell();
  const change = useChange("PATCH /api/alerts/:id");
  const [isAsking, setAsking] = useState(false);
  const { note } = alert;
  const takeBack = () =>
    change.mutate({ path: { id }, body: { verdict: null, note } }, { onError: tell.failed });
  const judge = (body: Handling | { readonly verdict: Alert["verdict"] }, done: string) =>
    change.mutate(
      { path: { id }, body },
      {
        onSuccess: () => (body.verdict === null ? tell(done) : tell(done, takeBack)),
        onError: tell.failed,
      },
    );
  return (
    <div className="flex shrink-0 flex-wrap gap-1.5">
      {verdict === null ? (
        <>
          <Button
            isSmall
            disabled={change.isPending}
            aria-label={`Handled: ${label}`}
            onClick={() => setAsking(true)}
          >
            Handled
          </Button>
          <Button
            isSmall
            disabled={change.isPending}
            aria-label={`Not useful: ${label}`}
            onClick={() => judge({ verdict: "notUseful" }, "The alert is marked as not useful.")}
          >
            Not useful
          </Button>
        </>
      ) : (
        <Button
          isSmall
          disabled={change.isPending}
          aria-label={`Reopen: ${label}`}
          onClick={() => judge({ verdict: null }, "The alert has no verdict any more.")}
        >
          Reopen
        </Button>
      )}
      <Button isSmall look="quiet" aria-label={`Change: ${label}`} onClick={() => setEditing(true)}>
        Change
      </Button>
      <AlertDialog alert={alert} isOpen={isEditing} onClose={() => setEditing(false)} />
      <OutcomeDialog
        name={label}
        note={note}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onHandled={(handling) => judge(handling, "The alert is handled.")}
      />
    </div>
  );
}
