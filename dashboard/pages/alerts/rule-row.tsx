/** One alert rule: its state, and what team members do with it. */
import { type ReactElement, useState } from "react";
import { useChange, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { useReportingCurrency } from "../../parts/billing/reporting-currency.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { useTell } from "../../parts/toast.tsx";
import { classes } from "../../text/classes.ts";
import { counted, dayText, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { useSegmentNames } from "../segments/segments.ts";
import { hasScope, type Rule } from "./draft.ts";
import type { Figures } from "./figure-words.ts";
import { RuleFigures } from "./rule-figures.tsx";
import { RuleForm } from "./rule-form.tsx";
import { conditionText, scopeText, sendingText } from "./words.ts";

interface RowProps {
  readonly rule: Rule;
}

interface RowWithFigures extends RowProps {
  /** Undefined until analysis has answered. */
  readonly figures: Figures | undefined;
}

export function RuleRow({ rule, figures }: RowWithFigures): ReactElement {
  const mayChange = useMayAs("member");
  const [isChanging, setChanging] = useState(false);
  const own = figures?.rules.find(({ id }) => id === rule.id);
  return (
    <li className="grid gap-3 border-b border-line px-4 py-3 last:border-0">
      <Facts rule={rule} />
      {own !== undefined && figures !== undefined && (
        <RuleFigures rule={rule} figures={own} horizonDays={figures.horizonDays} />
      )}
      {mayChange && !isChanging && <Actions rule={rule} onChange={() => setChanging(true)} />}
      {isChanging && <RuleForm rule={rule} onDone={() => setChanging(false)} />}
    </li>
  );
}

function Facts({ rule }: RowProps): ReactElement {
  const { id, name, scope, isPaused, version, openAlerts, decidedThrough, condition } = rule;
  const names = useSegmentNames();
  const known = useRead("/api/destinations").data?.destinations;
  return (
    <div className="grid min-w-0 gap-0.5 [overflow-wrap:anywhere]">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="min-w-0 font-medium">{name}</h3>
        <span className={classes("text-sm", isPaused ? "font-medium" : "text-soft")}>
          {isPaused ? "paused" : "on"}
        </span>
      </div>
      <p>{conditionText(rule, names)}</p>
      {known !== undefined && <p className="text-sm">{sendingText(rule, known)}</p>}
      <ul className="flex flex-wrap gap-x-4 text-sm text-soft">
        {hasScope(condition) && <li>{scopeText(scope, names)}</li>}
        <li>
          <PageLink
            to="/o/$organization/alerts"
            search={{ rule: String(id) }}
            className="underline decoration-edge underline-offset-3"
          >
            {counted(openAlerts, "open alert")}
          </PageLink>
        </li>
        <li>{decidedThrough === null ? "not decided yet" : `decided through ${dayText(decidedThrough)}`}</li>
        <li>version {numbers.count(version)}</li>
        {rule.steps.length > 0 && <li>{stepsText(rule)}</li>}
        {rule.holdOutShare > 0 && <HoldOut rule={rule} names={names} />}
      </ul>
    </div>
  );
}

/** 2 tasks, 1 message */
function stepsText({ steps }: Rule): string {
  const tasks = steps.filter(({ kind }) => kind === "task").length;
  const messages = steps.length - tasks;
  const parts = [
    ...(tasks > 0 ? [counted(tasks, "task")] : []),
    ...(messages > 0 ? [counted(messages, "later message")] : []),
  ];
  return parts.join(", ");
}

function HoldOut({ rule, names }: RowProps & { names: ReadonlyMap<number, string> }): ReactElement {
  const { segment, mrrAbove } = rule.exemptions;
  const currency = useReportingCurrency(rule.exemptions.mrrAbove !== undefined);
  const exempt = [
    ...(segment === undefined ? [] : [names.get(segment) ?? "a segment"]),
    ...(mrrAbove === undefined || currency === null
      ? []
      : [`an MRR above ${moneyIn(currency).short(mrrAbove)}`]),
  ];
  return (
    <li>
      control group {numbers.share(rule.holdOutShare)}
      {exempt.length > 0 && `, without ${exempt.join(" or ")}`}
    </li>
  );
}

function Actions({ rule: { id, name, isPaused }, onChange }: { rule: Rule; onChange: () => void }) {
  const tell = useTell();
  const pause = useChange("POST /api/alert-rules/:id/pause");
  const resume = useChange("POST /api/alert-rules/:id/resume");
  const removal = useConfirmedChange("DELETE /api/alert-rules/:id");
  const toggle = () => {
    const done = isPaused
      ? `${name} is on. Its next decision fires nothing.`
      : `${name} is paused. Its open alerts stay.`;
    (isPaused ? resume : pause).mutate(
      { path: { id } },
      { onSuccess: () => tell(done), onError: tell.failed },
    );
  };
  const remove = () =>
    removal.ask(
      {
        title: `Delete the rule ${name}?`,
        text: "Its alerts are deleted, too, with their notes.",
        action: "Delete rule",
        isDangerous: true,
      },
      { path: { id } },
      `The rule ${name} is deleted.`,
    );
  const verb = isPaused ? "Resume" : "Pause";
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        isSmall
        isBusy={pause.isPending || resume.isPending}
        aria-label={`${verb} ${name}`}
        onClick={toggle}
      >
        {verb}
      </Button>
      <Button isSmall aria-label={`Change ${name}`} onClick={onChange}>
        Change
      </Button>
      <Button isSmall aria-label={`Delete ${name}`} onClick={() => void remove()}>
        Delete
      </Button>
    </div>
  );
}
