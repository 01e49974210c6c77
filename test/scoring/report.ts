/** docs/models.md: our figures beside the published ones. Rounded to what no machine's rounding changes. */
import type { ModelName, ModelResult } from "../../server/scoring/churn/backtest.ts";
import { failuresOf } from "../../server/scoring/churn/ladder.ts";
import type { Metrics } from "../../server/scoring/statistics/metrics.ts";
import { type Published, type ReferenceBacktest, referenceFits } from "./reference.ts";

/** The whole page, computed from the data files. */
export function modelsPage(backtests: readonly ReferenceBacktest[]): string {
  return `${[introduction, ...fitSections(), ...backtests.map(backtestSection), definitions].join("\n\n")}\n`;
}

const introduction = `# Models

Results of our code on real logs, beside published figures. \`npm run models\` writes this page,
and a test fails when it differs from what is computed. Formulas and sources stand in \`server/scoring/\`.`;

const definitions = `## What the figures are of

- Scored are the active and the new: last active at most H − 1 days before the cut-off T. Counts agree with the
  published ones to the entity.
- BG/BB is fitted at each T to everybody seen in the 26 weeks before it, in weeks that end with T. Its risk is
  interpolated between weeks by the day of the last activity: by whole weeks log loss is .395, .411 and .651. Period 0 is the
  week of the first activity _within_ those 26 weeks. Counting from the first activity ever gives a log loss of .440
  instead of .395 on the first back-test, .813 instead of .651 on CDNOW.
- Models are trained on six cut-offs 28 days apart, the newest H days before T, none within 112 days of the
  log's first day. Training rows carry the BG/BB risk of their own cut-off's fit. The column "26 cut-offs" has the log
  loss of models as they serve: trained on 26 cut-offs 14 days apart.
- These choices about training are inferred, not published: of some sixty variants (how many cut-offs, how far
  apart, idle or its logarithm, whose fit, what gap, which window) they are the ones that agree. They were chosen
  for agreement and not for the best figure. Only the features of the regression are today's: with those of the
  published figures it has a log loss of .368 and .373, and of .364 and .369 with 26 cut-offs.
- The ladder trains model 2 with 50 entities that stayed, and model 3 with 100. The first cut-offs of the git log have
  fewer (44 to 96 with six training cut-offs). There these models are judged at fewer cut-offs, by other rows than the
  rest. The published figures count a label at each cut-off and have model 3 at all of them: see "the same at every
  cut-off".
- Mean gap of an entity with a single active day: its tenure.
- The floor of the ECE is what a perfect model would show at this number of rows. "Ships" is the ladder's rule.`;

const names: Readonly<Record<ModelName, string>> = {
  "rung 0": "0, prior alone",
  "rung 1": "1, BG/BB",
  "rung 2": "2, BG/BB and Platt",
  "rung 3": "3, ridge regression",
  recency: "recency alone",
  hiatus: "hiatus rule",
  "period end": "days to the end of the period alone",
  "base rate": "the base rate",
};

const head = [
  "model",
  "cut-offs",
  "AUC",
  "published",
  "log loss",
  "published",
  "26 cut-offs",
  "ECE",
  "published",
  "floor",
  "slope",
  "Brier skill",
  "lift",
  "ships",
];

function backtestSection({ title, asPublished, asServed, published, ...counts }: ReferenceBacktest): string {
  const { results, folds } = asPublished.result;
  const { count = 0, baseRate = 0 } = results[0]?.metrics ?? {};
  const base = counts.publishedBase === undefined ? "" : `, base rate ${digits(counts.publishedBase)}`;
  const servedResults = asServed.result.results;
  const rows = results.flatMap((one) => {
    const served = servedResults.find(({ model }) => model === one.model);
    const known = published[one.model];
    if (one.model !== "rung 3" || one.folds === folds) return [row(names[one.model], one, known, served)];
    const everywhere = { folds, metrics: asPublished.thirdEverywhere };
    return [
      row(names[one.model], one, undefined, served),
      row("the same at every cut-off", everywhere, known, { folds, metrics: asServed.thirdEverywhere }),
    ];
  });
  return `## ${title}

${thousands(count)} scored, base rate ${digits(baseRate)}; published: ${thousands(counts.publishedCount)}${base}.

${table([head, ...rows])}`;
}

/** A model, or figures that no model of the ladder has. */
type Judged = ModelResult | { readonly folds: number; readonly metrics: Metrics | null };

function row(
  name: string,
  judged: Judged,
  known: Published | undefined,
  served: Judged | undefined,
): string[] {
  const { folds, metrics } = judged;
  return [
    name,
    String(folds),
    digits(metrics?.auc),
    digits(known?.auc),
    digits(metrics?.logLoss),
    digits(known?.logLoss),
    digits(served?.metrics?.logLoss),
    digits(metrics?.ece),
    digits(known?.ece),
    digits(metrics?.eceFloor),
    digits(metrics?.calibrationSlope, 2),
    digits(metrics?.brierSkill, 2),
    digits(metrics?.topDecileLift, 2),
    "model" in judged ? verdict(judged) : "",
  ];
}

function verdict(result: ModelResult): string {
  if (!result.model.startsWith("rung")) return "";
  return failuresOf(result).length === 0 ? "yes" : "no";
}

function fitSections(): string[] {
  const { donations, regular, highEnd } = referenceFits();
  const { alpha, beta, gamma, delta } = donations.parameters;
  const ours = [
    ...[alpha, beta, gamma, delta].map((value) => digits(value)),
    digits(donations.logLikelihood, 2),
  ];
  return [
    `## BG/BB on donations

11,104 donors over six years (Fader, Hardie and Shang 2010). Our fit carries a weak prior, which shows in the
third digit.

${table([
  ["", "α", "β", "γ", "δ", "log-likelihood"],
  ["ours", ...ours],
  ["published", "1.204", ".750", ".657", "2.783", "−33225.58"],
])}`,
    `## Shifted beta-geometric on two retention curves

Years 1 to 7 of a published pair of curves (Fader and Hardie 2007).

${table([
  ["curve", "α", "published", "β", "published"],
  ["regular", digits(regular?.alpha), ".704", digits(regular?.beta), "1.182"],
  ["high end", digits(highEnd?.alpha), ".668", digits(highEnd?.beta), "3.806"],
])}`,
  ];
}

/** Rows of cells as Markdown, the first one as the head, padded as the formatter wants it. */
function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, i) => Math.max(3, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

/** `.901`, or an empty text for a missing figure. */
function digits(value: number | null | undefined, count = 3): string {
  if (value === null || value === undefined) return "";
  return value
    .toFixed(count)
    .replace(/^(-?)0\./, "$1.")
    .replace("-", "−");
}

function thousands(value: number): string {
  return value.toLocaleString("en");
}
