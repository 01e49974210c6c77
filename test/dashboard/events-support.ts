/** The page of events, opened for a test. */
import type { Browser } from "playwright-core";
import type { Server } from "../server.ts";
import { openPage, signedIn } from "./support.ts";

/** Somebody who is signed in, on the page of events. */
export async function eventsPage(
  server: Server,
  browser: Browser,
  query: string,
  options: Parameters<typeof openPage>[1] = {},
  organization = "Demo",
) {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, organization);
  const ask = async <Answer>(path: string) =>
    (await (
      await watched.page.request.get(
        `${server.url}${path}${path.includes("?") ? "&" : "?"}organization=${id}`,
      )
    ).json()) as Answer;
  await watched.page.goto(`${server.url}/o/${id}/events${query}`);
  return { ...watched, ask };
}
