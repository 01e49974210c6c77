/** `rekindle score` */

import { Command } from "commander";
import { formatDay } from "../../server/calendar/days.ts";
import { nameOfRung } from "../../server/scoring/churn/model-names.ts";
import type { ScoreSummary } from "../../server/scoring/run/scoring.ts";
import { withAnalysis } from "../analysis.ts";
import { eachOrganization } from "../each-organization.ts";
import { dateIn } from "../numbers.ts";
import { printable } from "../output.ts";
import { scoreWithProgress } from "../score-loaded.ts";

interface Options {
  readonly organization?: string;
  /** Days since 1970-01-01. */
  readonly asOf?: number;
  readonly evenIfStopped: boolean;
}

export function scoreCommand(): Command {
  return new Command("score")
    .description("Score all users and accounts now; a running server does so every night by itself")
    .addHelpText(
      "after",
      "\nExit code: 1 when an organization could not be scored, 2 when its scores stay as they were because no data is received, or none from a larger source.",
    )
    .option("--organization <name>", "only this one; without it, every organization")
    .option(
      "--as-of <date>",
      "as of the start of this day, from events before it; without it, of today",
      dateIn(/^(\d{4})-(\d{2})-(\d{2})$/),
    )
    .option(
      "--even-if-stopped",
      "even while no data is received, or none from a larger source, when scores would stay as they were",
      false,
    )
    .action(({ organization: name, asOf, evenIfStopped }: Options) =>
      withAnalysis(async ({ ledger }, _analysis, scoring) => {
        await eachOrganization(ledger, name, async (organization) => {
          const summary = await scoreWithProgress(scoring, organization, {
            evenIfStopped,
            ...(asOf !== undefined && { day: asOf }),
          });
          process.stderr.write(`${printable(sentence(organization.name, summary))}\n`);
          return summary.stopped === null;
        });
      }),
    );
}

function sentence(name: string, { day, kinds, stopped }: ScoreSummary): string {
  if (stopped !== null) {
    const since = `since ${new Date(stopped.sinceMs).toISOString()}, and scores stay as they were.`;
    if (stopped.source === null) {
      return `${name}: no data was received ${since} If there was nothing to send, --even-if-stopped scores once.`;
    }
    return (
      `${name}: the source ${stopped.source} is silent ${since} If it was removed, retire it on the page of sources; ` +
      "--even-if-stopped scores once."
    );
  }
  if (kinds.length === 0)
    return `${name}: there is no event before ${formatDay(day)}, so there is nothing to score`;
  const parts = kinds.map(({ kind, entities, rung, tookMs }) => {
    const by = rung === null ? "without a churn risk" : nameOfRung(rung);
    return `${entities} ${kind}s (${by}, ${(tookMs / 1_000).toFixed(1)} s)`;
  });
  return `scored ${name} as of ${formatDay(day)}: ${parts.join(", ")}`;
}
