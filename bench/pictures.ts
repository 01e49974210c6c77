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

/** Pages by the name of their picture; OF stands for the organization. */
const pages: readonly (readonly [name: string, address: string])[] = [
  ["sign-in", "/sign-in"],
  ["claim", "/claim#code"],
  ["overview", "OF/overview"],
  ["users", "OF/users"],
  ["users-filtered", "OF/users?colour=at_risk&trait=plan&match=isNotEmpty&sort=risk"],
  ["users-nobody", "OF/users?search=nobody+is+called+that"],
  ["accounts", "OF/accounts"],
  ["retention", "OF/retention"],
  ["events", "OF/events"],
  ["model", "OF/model"],
  ["start", "OF/start"],
  ["settings", "OF/settings/account"],
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
  await server.command("demo", "--users", "600", "--weeks", "26");
  await server.command("score", "--organization", "Demo");
  for (const look of looks) {
    for (const [name, address] of pages) {
      const picture = `${name}-${look.name}`;
      if (wanted.length > 0 && !wanted.some((part) => picture.includes(part))) continue;
      const { page, complaints } = await openPage(browser, look.options);
      const signed = address.startsWith("OF") ? await signedIn(page, server, "Demo") : undefined;
      await page.goto(server.url + address.replace("OF", `/o/${signed?.id}`));
      await page.waitForLoadState("networkidle");
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
