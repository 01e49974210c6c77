/** Earlier versions of the settings, and the way back to one of them. */
import type { ReactElement } from "react";
import { type Reads, usePages } from "../../../api/query.ts";
import { Button } from "../../../parts/form/button.tsx";
import { useConfirmedChange } from "../../../parts/form/confirmed-change.ts";
import { FormError } from "../../../parts/form/field.tsx";
import { Icon } from "../../../parts/icons.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Instant, RelativeTime } from "../../../parts/time.tsx";
import { useTell } from "../../../parts/toast.tsx";
import { authorText, settingName, settingValue } from "../../../text/setting-names.ts";

type History = Reads["/api/settings/history"]["answer"];
type Changes = History["restoringDefaults"];

const pageSize = 10;

/** All versions, the newest first. @param current the number of the current version */
export function Versions({
  current,
  mayChange,
}: {
  current: number;
  mayChange: boolean;
}): ReactElement | null {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    "/api/settings/history",
    { path: {}, query: { limit: pageSize } },
    ({ versions }) => (versions.length < pageSize ? undefined : versions.at(-1)?.version),
  );
  if (current === 0 || data === undefined) return null;
  const versions = data.pages.flatMap((page) => page.versions);
  const defaults = data.pages[0]?.restoringDefaults ?? [];
  return (
    <Panel
      title="Versions"
      note="Every change of these settings. A restored version becomes a new one."
      isFlush
    >
      <ol aria-label="Versions of the settings, the newest first">
        {versions.map(({ version, changedAt, changedBy, changes, restoring }) => (
          <Version
            key={version}
            version={version}
            current={current}
            restoring={restoring}
            mayChange={mayChange}
            when={
              <>
                <RelativeTime instant={changedAt} /> by {authorText(changedBy)}
              </>
            }
            title={<Instant instant={changedAt} />}
            changes={changes}
          />
        ))}
        {!hasNextPage && (
          <Version
            version={0}
            current={current}
            restoring={defaults}
            mayChange={mayChange}
            when="The defaults"
            changes={[]}
          />
        )}
      </ol>
      {hasNextPage && (
        <div className="grid justify-items-start gap-3 border-t border-line px-4 py-3">
          <FormError error={error} />
          <Button isSmall isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older versions
          </Button>
        </div>
      )}
    </Panel>
  );
}

interface VersionProps {
  readonly version: number;
  readonly current: number;
  readonly changes: Changes;
  /** The differences of this version to the current one. */
  readonly restoring: Changes;
  readonly mayChange: boolean;
  readonly when: ReactElement | string;
  readonly title?: ReactElement;
}

function Version({
  version,
  current,
  changes,
  restoring,
  mayChange,
  when,
  title,
}: VersionProps): ReactElement {
  const tell = useTell();
  const restore = useConfirmedChange("POST /api/settings/restore");
  const isSame = restoring.length === 0;
  const ask = () =>
    restore.ask(
      {
        title: `Restore version ${version}?`,
        text: `${restoring.map(changeText).join(". ")}. All users and accounts are scored again.`,
        action: "Restore",
      },
      { body: { to: version, version: current } },
      () => tell(`Version ${version} is restored.`),
    );
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 border-t border-line px-4 py-2.5">
      <div className="min-w-0 grow basis-72">
        <p>
          <b className="font-medium">Version {version}</b> <span className="text-soft">{when}</span>
          {title !== undefined && <span className="text-sm text-soft">, {title}</span>}
        </p>
        <ul className="mt-0.5 text-sm text-soft">
          {changes.map(({ setting, from, to }) => (
            <li key={setting} className="[overflow-wrap:anywhere]">
              {settingName(setting)}: {settingValue(from)}{" "}
              <Icon name="right" size={12} className="inline align-[-1px]" />
              <span className="sr-only"> to </span> <span className="text-ink">{settingValue(to)}</span>
            </li>
          ))}
        </ul>
      </div>
      {version === current || isSame ? (
        <p className="text-sm text-soft">{version === current ? "Current" : "Same as the current one"}</p>
      ) : (
        mayChange && (
          <Button isSmall isBusy={restore.isPending} onClick={() => void ask()}>
            Restore version {version}
          </Button>
        )
      )}
    </li>
  );
}

function changeText({ setting, from, to }: Changes[number]): string {
  return `${settingName(setting)}: from ${settingValue(from)} to ${settingValue(to)}`;
}
