/** Stripe's events are no activity, and the churn event is read from activity: none of them is suggested for it. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SettingsChangeBody } from "../../contract/settings.ts";

const root = join(import.meta.dir, "..", "..");
const text = (...path: string[]) => readFileSync(join(root, ...path), "utf8");

test("no event of Stripe is an example of a churn event", () => {
  const names = new Set(
    text("server/sources/stripe/events.ts").match(/(?<=")(subscription|payment|trial)_[a-z_]+(?=")/g),
  );
  expect(names).toContain("subscription_canceled");
  const { description = "" } = SettingsChangeBody.properties.churnEvent as { description?: string };
  expect(description).toContain("event that means that a user has left");
  const said = [
    description,
    text("dashboard/pages/settings/event-rules.tsx"),
    text("cli/commands/settings.ts"),
    ...readdirSync(join(root, "docs"))
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) => text("docs", file).match(/.*churn.event.*/gi) ?? []),
  ].join("\n");
  for (const name of names) expect([name, said.includes(name)]).toEqual([name, false]);
});
