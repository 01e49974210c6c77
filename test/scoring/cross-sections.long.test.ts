/** The columns of traits and the regression on two published cross-sections: customers with traits and a
 * churn label, and no events. */
import { expect, test } from "bun:test";
import { columnsOf, designFor, rowOf } from "../../server/scoring/churn/design.ts";
import { fitRidge, ridgeLogOdds } from "../../server/scoring/statistics/logistic.ts";
import { metricsOf } from "../../server/scoring/statistics/metrics.ts";
import { logistic } from "../../server/scoring/statistics/special.ts";
import { crossSection } from "./data.ts";
import { randomFrom } from "./random.ts";
import { quiet } from "./support.ts";

const folds = 10;

interface Customer {
  readonly features: typeof quiet & { readonly cell: NonNullable<(typeof quiet)["cell"]> };
  readonly label: boolean;
}

/** Fields as identify sends them: numbers are numbers, everything else is text. */
function customers(file: string): Customer[] {
  return crossSection(file).map(({ churn, ...fields }) => {
    const told = Object.entries(fields).filter(([, value]) => value !== "" && value !== "NA");
    const numbers = told.filter(([, value]) => Number.isFinite(Number(value)));
    return {
      features: {
        ...quiet,
        cell: { x: 0, t: 0, n: 2 },
        traits: Object.fromEntries(told),
        numbers: Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)])),
      },
      label: churn?.toLowerCase() === "yes",
    };
  });
}

test.each([
  ["wa_churn.csv.gz", 7_043, 0.845],
  ["mlc_churn.csv.gz", 5_000, 0.82],
])("on %s, in ten folds", (file, count, leastAuc) => {
  const random = randomFrom(1);
  const rows = customers(file).map((row) => ({ ...row, fold: Math.floor(random() * folds) }));
  expect(rows).toHaveLength(count);
  const predictions = Array.from({ length: folds }, (_, fold) => {
    const training = rows.filter((row) => row.fold !== fold);
    const columns = columnsOf(designFor(training));
    const valuesOf = ({ features }: Customer) => rowOf(columns, { features, bgbbRisk: 0.5 });
    const ridge = fitRidge(
      columns,
      training.map(valuesOf),
      training.map(({ label }) => label),
    );
    return rows
      .filter((row) => row.fold === fold)
      .map((row) => ({ predicted: logistic(ridgeLogOdds(ridge, valuesOf(row))), label: row.label }));
  }).flat();
  const metrics = metricsOf(predictions);
  console.log(
    `${file}: AUC ${metrics?.auc?.toFixed(4)}, ECE ${metrics?.ece.toFixed(4)}, floor ${metrics?.eceFloor.toFixed(4)}`,
  );
  expect(metrics?.auc).toBeGreaterThanOrEqual(leastAuc);
  expect(metrics?.ece).toBeLessThanOrEqual((metrics?.eceFloor ?? 0) + 0.015);
});
