/** The page of events, opened for a test. */
import type { Browser } from "playwright-core";
import type { Server } from "../server.ts";
import { asReader, openPage, signedIn } from "./support.ts";

/** The page of events, with a signed-in user. */
export async function eventsPage(
  server: Server,
  browser: Browser,
  query: string,
  options: Parameters<typeof openPage>[1] = {},
  organization = "Demo",
) {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, organization);
  const ask = <Answer>(path: string) => asReader<Answer>(watched.page, path);
  await watched.page.goto(`${server.url}/o/${id}/events${query}`);
  return { ...watched, ask };
}
