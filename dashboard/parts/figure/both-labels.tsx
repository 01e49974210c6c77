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

/** "12 accounts churned: the last subscription ended. 31 more are silent for 28 days." Nothing is drawn where
 * both agree. */
export function BothLabels({ kind, answer, className }: BothLabelsProps): ReactElement | null {
  const { weeks, churnTarget, churnMeans, horizonDays } = answer;
  const now = weeks.at(-1);
  if (now === undefined || now.inactive === 0 || churnTarget.by === "silence") return null;
  const page = kind === "user" ? "users" : "accounts";
  return (
    <p className={classes("text-sm text-soft", className)}>
      <CountLink count={now.churned} list={{ page, query: { healthBand: "churned" } }} />{" "}
      {now.churned === 1 ? kind : page} churned: {churnMeans}.{" "}
      <CountLink count={now.inactive} list={{ page, query: { state: "inactive" } }} /> more{" "}
      {now.inactive === 1 ? "is" : "are"} silent for {counted(horizonDays, "day")}.
    </p>
  );
}
