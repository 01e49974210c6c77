/** Closes what tests open. bunfig.toml loads this file before the tests, so its hooks apply to all files of a run. */
import { afterAll, afterEach, beforeEach } from "bun:test";

type Close = () => Promise<unknown>;

const ofTests: Close[] = [];
const ofRun: Close[] = [];
/** How many of `ofTests` were opened before the running test, in a `beforeAll`. They stay open for all tests of the file. */
let openBefore = 0;

/** Calls this when the running test has ended, also when it has failed. */
export function closeAfterTest(close: Close): void {
  ofTests.push(close);
}

/** Calls this when all files of the process have run. */
export function closeAfterRun(close: Close): void {
  ofRun.push(close);
}

/** Closes all but the first `kept`. The one that was opened last is closed first. */
async function closeAll(open: Close[], kept: number): Promise<void> {
  for (const close of open.splice(kept).reverse()) await close();
}

beforeEach(() => {
  openBefore = ofTests.length;
});
afterEach(() => closeAll(ofTests, openBefore));
afterAll(() => closeAll(ofRun, 0));
