/**
 * Pictures of every page, wide, narrow and dark, from the demonstration's data: `npm run pictures [part of a
 * name]…`. They go to pictures/, which git ignores. `npm run pictures readme` takes those of the README, into
 * docs/pictures/.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { builtPages } from "../cli/pages.ts";
import { startBrowser } from "../test/dashboard/chromium.ts";
import { openPage, phone, signedIn, wide } from "../test/dashboard/support.ts";
import { Server } from "../test/server.ts";

const folder = join(import.meta.dir, "..", "pictures");
const readmeFolder = join(import.meta.dir, "..", "docs", "pictures");

/** Pages by the name of their picture; OF is replaced by the organization, EMPTY by one without data. */
const pages: readonly (readonly [name: string, address: string])[] = [
  ["sign-in", "/sign-in"],
  ["claim", "/claim#code"],
  ["overview", "OF/overview"],
  ["overview-accounts", "OF/overview?kind=account&days=28"],
  ["users", "OF/users"],
  ["users-filtered", "OF/users?healthBand=at_risk&trait=plan&match=isNotEmpty&sort=risk"],
  ["users-nobody", "OF/users?search=nobody+is+called+that"],
  ["accounts", "OF/accounts"],
  ["user", "OF/users/u-00201"],
  ["user-nobody", "OF/users/nobody"],
  ["account", "OF/accounts/a-0013"],
  ["retention", "OF/retention"],
  ["retention-split", "OF/retention?trait=plan&measure=inOrAfter&open=%3Dfree"],
  ["retention-empty", "OF/retention?entry=event&entryEvent=nothing"],
  ["revenue", "OF/revenue"],
  ["revenue-split", "OF/revenue?split=plan&period=quarter"],
  ["revenue-empty", "EMPTY/revenue"],
  ["events", "OF/events"],
  ["events-adoption", "OF/events?tab=adoption"],
  ["events-live", "OF/events?tab=live"],
  ["events-warnings", "OF/events?tab=warnings"],
  ["sources", "OF/sources"],
  ["sources-open", "OF/sources?open=segment"],
  ["sources-empty", "EMPTY/sources?open=stripe"],
  ["tasks", "OF/tasks"],
  ["win-back", "OF/win-back"],
  ["model", "OF/model"],
  ["model-accounts", "OF/model?kind=account"],
  ["start", "OF/start"],
  ["start-empty", "EMPTY/start"],
  ["settings-organization", "OF/settings/organization"],
  ["settings-scores", "OF/settings/scores"],
  ["settings-scores-empty", "EMPTY/settings/scores"],
  ["settings-currencies", "OF/settings/currencies"],
  ["settings-exclusions", "OF/settings/exclusions"],
  ["settings-tokens", "OF/settings/tokens"],
  ["settings-keys", "OF/settings/keys"],
  ["settings-members", "OF/settings/members"],
  ["settings-destinations", "OF/settings/destinations"],
  ["settings-audit", "OF/settings/audit"],
  ["settings-account", "OF/settings/account"],
  ["invitation", "/invitation#code"],
  ["missing", "/o/999/overview"],
];

const looks = [
  { name: "wide", options: { viewport: wide, colorScheme: "light" } },
  { name: "wide-dark", options: { viewport: wide, colorScheme: "dark" } },
  { name: "phone", options: { viewport: phone, colorScheme: "light", deviceScaleFactor: 2 } },
  { name: "phone-dark", options: { viewport: phone, colorScheme: "dark", deviceScaleFactor: 2 } },
] as const;

/** The pictures of the README: their names there, and how much of the page they show, in pixels. */
const readme: Readonly<Record<string, { readonly name: string; readonly height: number }>> = {
  "overview-wide": { name: "overview", height: 1_140 },
  "retention-split-wide": { name: "retention", height: 1_000 },
  "model-wide": { name: "model", height: 1_000 },
};

const words = process.argv.slice(2);
const isForReadme = words.includes("readme");
mkdirSync(folder, { recursive: true });
await builtPages();
// It scores no days by itself, which the pages would announce.
const server = await Server.startShared();
const browser = await startBrowser();
try {
  await server.ready();
  await server.command("demo", "--users", "600", "--weeks", "60");
  // A few weeks of scores, so that there is movement.
  for (const weeksAgo of [8, 6, 5, 4, 3, 2, 1, 0]) {
    const day = new Date(Date.now() - weeksAgo * 7 * 86_400_000).toISOString().slice(0, 10);
    await server.command("score", "--organization", "Demo", "--as-of", day);
  }
  for (const look of looks) {
    for (const [name, address] of pages) {
      const picture = `${name}-${look.name}`;
      const shown = isForReadme ? readme[picture] : undefined;
      if (isForReadme ? shown === undefined : !isWanted(picture)) continue;
      const { page, complaints } = await openPage(browser, look.options);
      const organization = { OF: "Demo", EMPTY: "default" }[/^[A-Z]*/.exec(address)?.[0] ?? ""];
      const signed = organization && (await signedIn(page, server, organization));
      await page.goto(server.url + address.replace(/^[A-Z]+/, `/o/${signed ? signed.id : ""}`));
      // The stream of the live view never ends. The README shows no page that is still loading.
      const timeout = isForReadme ? 120_000 : 5_000;
      await page.waitForLoadState("networkidle", { timeout }).catch(() => undefined);
      await page.screenshot({
        path: shown === undefined ? join(folder, `${picture}.png`) : join(readmeFolder, `${shown.name}.png`),
        fullPage: look.options.viewport === wide,
        ...(shown !== undefined && { clip: { x: 0, y: 0, width: wide.width, height: shown.height } }),
      });
      console.log([picture, ...complaints].join("\n  "));
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}

function isWanted(picture: string): boolean {
  return words.length === 0 || words.some((part) => picture.includes(part));
}
