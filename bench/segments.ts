/**
 * 50 segments with conditions on events, evaluated at once as the record of members does, beside one of them:
 * the conditions share one pass over the rollup. Processor time says most on a busy machine.
 *
 *   cli/with-bun bench/segments.ts [users, 100,000 by default] [millions of events of a year, 5]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventCondition } from "../contract/segments/filters.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { segmentsForKeeper } from "../server/features/segments/for-alerts.ts";
import { commandLine } from "../server/ledger/audit.ts";
import type { Segment } from "../server/ledger/rules/segment-rules.ts";
import type { Organization } from "../server/ledger/stores/organization-rows.ts";
import { SourceWatch } from "../server/scoring/run/source-watch.ts";
import { generateHistory } from "./history/generated-in-engine.ts";
import { createOrganization, type Opened, withOpened } from "./history/opened.ts";
import { printTook, timed } from "./history/timed.ts";

const [users = 100_000, millions = 5] = process.argv.slice(2).map(Number);
const toDay = Math.floor(Date.now() / msPerDay);
const count = 50;
const repeats = 9;

/** Half of them ask for users who did an event so often, the others for users who did not. Each fifth has two
 * conditions. */
function eventsOf(at: number): EventCondition[] {
  const one = (event: number): EventCondition => ({
    event: `event_${event}`,
    times: 1 + (at % 4),
    days: [7, 14, 28, 90][at % 3] ?? 90,
    ...(at % 2 === 1 && { match: "fewerThan" as const }),
  });
  return at % 5 === 0 ? [one(at), one((at + 7) % 60)] : [one(at)];
}

async function addSegments({ ledger }: Opened, organization: Organization): Promise<readonly Segment[]> {
  for (let at = 0; at < count; at += 1) {
    const content = { filter: { events: eventsOf(at) } };
    const segment = { kind: "users", name: `Segment ${at}`, content } as const;
    await ledger.segments.add(organization.id, segment, commandLine, Date.now());
  }
  return ledger.segments.list(organization.id);
}

/** Evaluates segments once, each after the other. */
async function evaluate(
  { ledger, analysis: { warehouse } }: Opened,
  organization: Organization,
  segments: readonly Segment[],
): Promise<void> {
  const sources = new SourceWatch(ledger, Date.now);
  const evaluation = await segmentsForKeeper({ warehouse, ledger, sources, nowMs: Date.now })(
    organization,
    segments.map(({ id }) => id),
    warehouse,
  );
  for (const { id } of segments) await evaluation.membersOf(id);
}

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-bench-segments-"));
try {
  await withOpened(dataDir, async (opened) => {
    const { organization } = await createOrganization(opened, "Segments");
    const history = { organization: organization.id, users, events: millions * 1e6, days: 365, toDay };
    const events = await generateHistory(opened.analysis.warehouse, history);
    const segments = await addSegments(opened, organization);
    const all = await timed(() => evaluate(opened, organization, segments), repeats);
    const one = await timed(() => evaluate(opened, organization, segments.slice(0, 1)), repeats);
    printTook(`${users} users, ${events} events, ${count} segments`, all);
    printTook("one of them", one, `${(all.cpuMs / one.cpuMs).toFixed(1)} times less`);
  });
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
