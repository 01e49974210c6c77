/** Keeps what tests open, to be closed after the test or after the run. test/closing-hooks.ts closes it. */

type Close = () => Promise<unknown>;

const ofTests: Close[] = [];
const ofRun: Close[] = [];
/** How many of `ofTests` were opened before the running test, in a `beforeAll`. They stay open for all tests
 * of the file. */
let openBefore = 0;

/** Calls this when the running test has ended, also when it has failed. */
export function closeAfterTest(close: Close): void {
  ofTests.push(close);
}

/** Calls this when all files of the process have run. */
export function closeAfterRun(close: Close): void {
  ofRun.push(close);
}

/** A test begins: what is open now stays open. */
export function testBegins(): void {
  openBefore = ofTests.length;
}

/** Closes what the test opened. */
export function testEnds(): Promise<void> {
  return closeAll(ofTests, openBefore);
}

/** Closes what the files of the process share. */
export function runEnds(): Promise<void> {
  return closeAll(ofRun, 0);
}

/** Closes all but the first `kept`. The one that was opened last is closed first. */
async function closeAll(open: Close[], kept: number): Promise<void> {
  for (const close of open.splice(kept).reverse()) await close();
}
