/**
 * One browser and one server for all page tests of a process. The server's organization Demo is the
 * demonstration with all scores, on a day that is always the same: `demonstrationDay`. Tests read it, and
 * change only organizations of their own. Names of organizations are unique over all files.
 */
import { rmSync } from "node:fs";
import type { Browser } from "playwright-core";
import { closeAfterRun } from "../closing.ts";
import { copiedDemonstration, demonstrationTime } from "../scored-demonstration.ts";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { haveClockOf } from "./support.ts";

let server: Promise<Server> | undefined;
let browser: Promise<Browser> | undefined;
let empty: Promise<string> | undefined;

/** The server, ready for figures, and the browser. Both are started by the first call and end with the
 * run. */
export async function world(): Promise<{ readonly server: Server; readonly browser: Browser }> {
  server ??= startServer();
  browser ??= launch();
  const started = { server: await server, browser: await browser };
  haveClockOf(started.browser, started.server);
  return started;
}

/** The name of an organization without anything, which no test changes. */
export function emptyOrganization(): Promise<string> {
  empty ??= world().then(async (shared) => {
    await shared.server.organization("Empty");
    return "Empty";
  });
  return empty;
}

async function startServer(): Promise<Server> {
  const dataDir = await copiedDemonstration();
  const started = await Server.start({ dataDir, time: demonstrationTime() });
  closeAfterRun(async () => {
    await started.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  await started.ready();
  return started;
}

async function launch(): Promise<Browser> {
  const started = await startBrowser();
  closeAfterRun(() => started.close());
  return started;
}
