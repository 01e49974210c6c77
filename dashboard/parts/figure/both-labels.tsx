/** The two meanings of leaving side by side, where a declared churn target and silence differ. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/query.ts";
import { classes } from "../../text/classes.ts";
import { counted } from "../../text/format.ts";
import { CountLink } from "../list/list-link.tsx";

interface BothLabelsProps {
  readonly kind: "user" | "account";
  readonly answer: Pick<
    Reads["/api/health-by-week"]["answer"],
    "weeks" | "churnTarget" | "churnMeans" | "horizonDays"
  >;
  readonly className?: string;
}

/** "12 accounts have churned: the last subscription ended. 31 have not, but have been inactive for 28 days." Nothing is drawn where
 * both agree. */
export function BothLabels({ kind, answer, className }: BothLabelsProps): ReactElement | null {
  const { weeks, churnTarget, churnMeans, horizonDays } = answer;
  const now = weeks.at(-1);
  if (now === undefined || now.inactive === 0 || churnTarget.by === "silence") return null;
  const have = (count: number) => (count === 1 ? "has" : "have");
  const page = kind === "user" ? "users" : "accounts";
  return (
    <p className={classes("text-sm text-soft", className)}>
      <CountLink count={now.churned} list={{ page, query: { healthBand: "churned" } }} />{" "}
      {now.churned === 1 ? kind : page} {have(now.churned)} churned: {churnMeans}.{" "}
      <CountLink count={now.inactive} list={{ page, query: { state: "inactive" } }} /> {have(now.inactive)}{" "}
      not, but {have(now.inactive)} been inactive for {counted(horizonDays, "day")}.
    </p>
  );
}
