/** The freshness of figures in one line: data up to when, timezone, excluded users. */
import type { ReactElement } from "react";
import type { Freshness as FreshnessAnswer } from "../../api/paths.ts";
import { PageLink } from "../../app/page-link.ts";
import { instantText, numbers } from "../../text/format.ts";
import { sourceName } from "../../text/source-names.ts";
import { RelativeTime } from "../time.tsx";

/** The line under a page's title. Nothing while nothing is known. */
export function Freshness({
  freshness,
  hasExcluded = false,
}: {
  freshness: FreshnessAnswer | undefined;
  /** Whether excluded users are in what is shown. */
  hasExcluded?: boolean;
}): ReactElement {
  if (freshness === undefined)
    return <span className="skeleton inline-block h-4 w-64 max-w-full align-middle" />;
  const { loadedUpto, rebuilding, excludedUsers, timezone, silentSources, earlierScores, loading, failures } =
    freshness;
  return (
    <span className="text-sm">
      {loadedUpto === null ? (
        "Catching up"
      ) : (
        <>
          Data up to{" "}
          <span title={instantText(loadedUpto, timezone)}>
            <RelativeTime instant={loadedUpto} />
          </span>
        </>
      )}
      {" · "}timezone {timezone.replaceAll("_", " ")}
      {excludedUsers > 0 &&
        !hasExcluded &&
        ` · without ${numbers.count(excludedUsers)} excluded ${excludedUsers === 1 ? "user" : "users"}`}
      {rebuilding !== null && (
        <b className="font-medium text-watch">
          {" · "}days are being computed again, {numbers.wholeShare(rebuilding.progress)} done
        </b>
      )}
      {loading?.hasScores && (
        <b className="font-medium text-watch">
          {" · "}data is being loaded, {numbers.count(loading.events)} events so far: scores follow
        </b>
      )}
      {earlierScores !== null && (
        <b className="font-medium text-watch">
          {" · "}
          {earlierScoresText(earlierScores)}
        </b>
      )}
      {failures.map(({ of: what, since }) => (
        <b key={what} className="font-medium text-watch">
          {" · "}
          {failureTexts[what]} since <RelativeTime instant={since} />
        </b>
      ))}
      {silentSources.map((silent) => (
        <Silent key={silent.source} silent={silent} />
      ))}
    </span>
  );
}

const failureTexts: Readonly<Record<FreshnessAnswer["failures"][number]["of"], string>> = {
  exclusions: "exclusion rules cannot be applied",
  subscriptions: "subscriptions cannot be computed",
  scores: "scores cannot be computed",
  training: "the model cannot be trained",
};

/** How far the scores of earlier days are. */
export function earlierScoresText({ done, of }: NonNullable<FreshnessAnswer["earlierScores"]>): string {
  return `earlier days are being scored, ${numbers.count(done)} of ${numbers.count(of)} done`;
}

/** A source that fell silent, with a way to what is known of it. */
function Silent({
  silent: { source, since, freezesScores },
}: {
  silent: FreshnessAnswer["silentSources"][number];
}): ReactElement {
  return (
    <b className="font-medium text-watch">
      {" · "}
      <PageLink to="/o/$organization/sources" className="text-watch underline">
        {sourceName(source)} is silent
      </PageLink>{" "}
      since <RelativeTime instant={since} />
      {freezesScores && ", so scores wait"}
    </b>
  );
}
