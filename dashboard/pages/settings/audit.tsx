/** The audit log. */
import type { ReactElement } from "react";
import { type Reads, usePages } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { isRecord } from "../../parts/form/merged-change.ts";
import { Icon } from "../../parts/icons.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { Instant, RelativeTime } from "../../parts/time.tsx";
import { loggedRuleWords } from "../../text/exclusion-words.ts";
import { settingName, settingValue } from "../../text/setting-names.ts";
import { RequiresRole } from "./denied.tsx";

export default function AuditSettings(): ReactElement {
  const { timezone } = useOrganization();
  return (
    <>
      <PageHeader title="Audit log">
        Changes of the last two years, in the timezone {timezone.replaceAll("_", " ")}. Entries never name a
        user, so an erasure is complete.
      </PageHeader>
      <RequiresRole least="owner">
        <Panel isFlush>
          <Log />
        </Panel>
      </RequiresRole>
    </>
  );
}

type Entry = Reads["/api/audit-log"]["answer"]["entries"][number];

const pageSize = 50;

function Log(): ReactElement {
  const asked = usePages("/api/audit-log", { path: {}, query: { limit: pageSize } }, ({ entries }) =>
    entries.length < pageSize ? undefined : entries.at(-1)?.id,
  );
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = asked;
  if (data === undefined) {
    return (
      <div className="p-4">
        <Figures asked={asked} loading={<Loading rows={8} />}>
          {() => null}
        </Figures>
      </div>
    );
  }
  const entries = data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) return <Empty title="No changes yet" />;
  return (
    <>
      <ol aria-label="Changes, the newest first">
        {entries.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </ol>
      {hasNextPage && (
        <div className="grid justify-items-start gap-3 border-t border-line px-4 py-3">
          {error !== null && <FormError error={error} />}
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older changes
          </Button>
        </div>
      )}
    </>
  );
}

function Line({ entry }: { entry: Entry }): ReactElement {
  const { at, person, detail } = entry;
  const { from, to, by } = detail;
  const changes = differences(from, to);
  const actor = person?.name ?? (typeof by === "string" ? by : "Rekindle");
  const summary = summaryOf(entry);
  // Some summaries begin with the name.
  const isNamed = summary.startsWith(`${actor} `);
  return (
    <li className="grid gap-x-6 border-b border-line px-4 py-2.5 last:border-0 sm:grid-cols-[13rem_minmax(0,1fr)]">
      <p className="text-sm text-soft sm:pt-px">
        <Instant instant={at} /> <span className="sm:hidden">·</span>{" "}
        <span className="sm:block">
          <RelativeTime instant={at} />
        </span>
      </p>
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p>
          <b className="font-medium">{actor}</b>
          {isNamed ? summary.slice(actor.length) : `: ${summary}`}
        </p>
        {changes.length > 0 && (
          <ul className="mt-0.5 text-sm text-soft">
            {changes.map(({ name, before, after }) => (
              <li key={name}>
                {name}: {before} <Icon name="right" size={12} className="inline align-[-1px]" />
                <span className="sr-only"> to </span> <span className="text-ink">{after}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

/** An entry in the words of the pages. The log has names of settings and of kinds as the API has them. */
function summaryOf({ action, summary, detail: { id, to, kind, key, value, restored } }: Entry): string {
  if ((action === "settings.changed" || action === "settings.restored") && isRecord(to)) {
    const names = Object.keys(to).map(settingName).join("; ");
    return action === "settings.changed"
      ? `Changed the settings: ${names}`
      : `Restored version ${restored} of the settings: ${names}`;
  }
  if (action !== "exclusion.added" && action !== "exclusion.removed") return summary;
  const rule = loggedRuleWords(kind, key, value);
  if (rule === undefined) return summary;
  return `${action === "exclusion.added" ? "Excluded" : "No longer excluded"}: ${rule}${typeof id === "number" ? ` (rule ${id})` : ""}`;
}

/** The changed values, name by name, in words. */
function differences(from: unknown, to: unknown) {
  if (!isRecord(from) || !isRecord(to)) {
    // The summary already names a thing that was added or removed.
    if (from == null || to == null) return [];
    return [{ name: "was", before: settingValue(from), after: settingValue(to) }];
  }
  return Object.keys(to).map((name) => ({
    name: settingName(name),
    before: settingValue(from[name]),
    after: settingValue(to[name]),
  }));
}
