/** Alerts as rows of exports. */
import { dayOrNull, formatDay } from "../../../calendar/days.ts";
import { instant } from "../../../calendar/instant.ts";
import type { ExportedRow, ExportedRows } from "../../../ledger/feature.ts";
import { exportedEntity, exportedEntityColumns, nameOf } from "../../../ledger/stores/entity-rows.ts";
import type { Alert } from "./alerts.ts";

const alertColumns = [
  ...exportedEntityColumns,
  "source",
  "ruleId",
  "rule",
  "version",
  "firedDay",
  "firedAt",
  "before",
  "after",
  "reasons",
  "risk",
  "currency",
  "expectedLoss",
  "arm",
  "isSent",
  "closedDay",
  "closedWhy",
  "assignee",
  "snoozedUntil",
  "verdict",
  "outcome",
  "verdictBy",
  "verdictAt",
  "note",
];
/** An alert as a line of an export. */
export function alertLine(alert: Alert): ExportedRow {
  const { id, rule, version, entity, firedDay, firedAtMs, before, after, reasons, risk, expectedLoss } =
    alert;
  const {
    arm,
    isSent,
    closedDay,
    closedWhy,
    assignee,
    snoozedUntil,
    verdict,
    outcome,
    verdictBy,
    verdictAtMs,
  } = alert;
  const line = {
    ...(entity.kind === "source"
      ? { id, userId: null, accountId: null, source: entity.source }
      : { ...exportedEntity({ id, entity }), source: null }),
    ruleId: rule.id,
    rule: rule.name,
    version,
    firedDay: formatDay(firedDay),
    firedAt: instant(firedAtMs),
    before,
    after,
    reasons: reasons.map(({ text }) => text).join("; "),
    risk,
    expectedLoss,
    arm,
    isSent,
    closedDay: dayOrNull(closedDay),
    closedWhy,
    assignee: nameOf(assignee),
    snoozedUntil: dayOrNull(snoozedUntil),
    verdict,
    outcome,
    verdictBy: nameOf(verdictBy),
    verdictAt: verdictAtMs === null ? null : instant(verdictAtMs),
    note: alert.note,
  };
  return { id, line };
}

/** Alerts without those of controls whose churn horizon is not over. */
export const exportedAlerts: ExportedRows = {
  name: "alerts",
  columns: alertColumns,
  amounts: ["expectedLoss"],
  page: async ({ alerts }, organization, after, limit, today) =>
    (await alerts.all(organization, today, after, limit)).map(alertLine),
};
