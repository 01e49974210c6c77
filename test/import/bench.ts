/** The bench of a test file; a benchmark has one without tests. */
import { afterAll, beforeAll } from "bun:test";
import { ImportBench } from "./support.ts";

/** A bench for the tests of a file: its server is started before them, with an organization acme of so many users if they
 * are wanted, and it ends after them. */
export function importBench({ acmeUsers }: { readonly acmeUsers?: number } = {}): ImportBench {
  const bench = new ImportBench();
  beforeAll(async () => {
    await bench.startServer();
    if (acmeUsers !== undefined) await bench.organization("acme", acmeUsers);
  }, 180_000);
  afterAll(() => bench.end());
  return bench;
}
