/** The bench of a test file. A benchmark has one without tests. */
import { afterAll, beforeAll } from "bun:test";
import { ImportBench } from "./support.ts";

/** A bench for the tests of a file. Its server is started before them and ends after them. With `acmeUsers`
 * it has an organization acme with that many users. */
export function importBench({ acmeUsers }: { readonly acmeUsers?: number } = {}): ImportBench {
  const bench = new ImportBench();
  beforeAll(async () => {
    await bench.startServer();
    if (acmeUsers !== undefined) await bench.organization("acme", acmeUsers);
  });
  afterAll(() => bench.end());
  return bench;
}
