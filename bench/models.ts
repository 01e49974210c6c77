/**
 * Writes docs/models.md, which compares our models' figures with published ones, from the data beside the
 * checkout.
 *
 *   npm run models
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { referenceBacktests } from "../test/scoring/reference.ts";
import { modelsPage } from "../test/scoring/report.ts";

const startedMs = performance.now();
writeFileSync(join(import.meta.dir, "..", "docs", "models.md"), modelsPage(referenceBacktests()));
console.log(`docs/models.md written in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
