/**
 * Pictures of every page, wide, narrow and dark, from the demonstration's data: `npm run pictures [part of a name]…`.
 * They go to pictures/, which git ignores.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { builtPages } from "../cli/pages.ts";
import { startBrowser } from "../test/dashboard/chromium.ts";
import { openPage, phone, signedIn, wide } from "../test/dashboard/support.ts";
import { Server } from "../test/server.ts";

const folder = join(import.meta.dir, "..", "pictures");

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
  ["events", "OF/events"],
  ["events-adoption", "OF/events?tab=adoption"],
  ["events-live", "OF/events?tab=live"],
  ["events-warnings", "OF/events?tab=warnings"],
  ["sources", "OF/sources"],
  ["sources-open", "OF/sources?open=segment"],
  ["sources-empty", "EMPTY/sources?open=stripe"],
  ["model", "OF/model"],
  ["model-accounts", "OF/model?kind=account"],
  ["start", "OF/start"],
  ["start-empty", "EMPTY/start"],
  ["settings-organization", "OF/settings/organization"],
  ["settings-scores", "OF/settings/scores"],
  ["settings-scores-empty", "EMPTY/settings/scores"],
  ["settings-exclusions", "OF/settings/exclusions"],
  ["settings-tokens", "OF/settings/tokens"],
  ["settings-keys", "OF/settings/keys"],
  ["settings-members", "OF/settings/members"],
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

const wanted = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
await builtPages();
const server = await Server.start();
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
      if (wanted.length > 0 && !wanted.some((part) => picture.includes(part))) continue;
      const { page, complaints } = await openPage(browser, look.options);
      const organization = { OF: "Demo", EMPTY: "default" }[/^[A-Z]*/.exec(address)?.[0] ?? ""];
      const signed = organization && (await signedIn(page, server, organization));
      await page.goto(server.url + address.replace(/^[A-Z]+/, `/o/${signed ? signed.id : ""}`));
      // The stream of the live view never ends.
      await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
      await page.screenshot({
        path: join(folder, `${picture}.png`),
        fullPage: look.options.viewport === wide,
      });
      console.log([picture, ...complaints].join("\n  "));
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
