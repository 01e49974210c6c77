/** What the pages believe of the server, held against the server's own tables. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isPageAddress, pageAddresses } from "../../contract/pages.ts";
import type { Changes, Reads } from "../../dashboard/api/paths.ts";

const dashboard = join(import.meta.dir, "..", "..", "dashboard");
/** Whether nothing has to be sent. The compiler decides it: `npm run check` fails when a line below is wrong. */
type MayBeEmpty<Query> = Record<never, never> extends Query ? true : false;

test("a parameter without a default must be sent, another may be left out", () => {
  const users: MayBeEmpty<Reads["/api/users"]["query"]> = true;
  const preview: MayBeEmpty<Reads["/api/exclusions/preview"]["query"]> = false;
  const people: MayBeEmpty<Reads["/api/retention/people"]["query"]> = false;
  const deletion: MayBeEmpty<Changes["DELETE /api/organization"]["query"]> = false;
  expect([users, preview, people, deletion]).toEqual([true, false, false, false]);
});

test("the router has exactly the addresses that the server answers with the application", () => {
  const router = readFileSync(join(dashboard, "app", "router.tsx"), "utf8");
  const routes = [
    ...router.matchAll(/const (\w+) = createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*path: "([^"]+)"/g),
  ];
  const byName = new Map(routes.map(([, name = "", parent = "", path = ""]) => [name, { parent, path }]));
  const addressOf = (name: string): string => {
    const route = byName.get(name);
    if (route === undefined) return "";
    return addressOf(route.parent) + (route.path === "/" && route.parent !== "root" ? "" : route.path);
  };
  const addresses = [...byName.keys()].map((name) => addressOf(name).replaceAll("$", ":"));
  expect([...new Set(addresses)].sort()).toEqual([...pageAddresses].sort());
});

test("an address of a page is known by its form", () => {
  expect(["/", "/sign-in", "/o/1/users/a%2Fb"].map(isPageAddress)).toEqual([true, true, true]);
  expect(["", "/o/x/users", "/o/1/users/", "/o/1/users/a/b", "//o/1"].map(isPageAddress)).toEqual([
    ...[false, false, false, false, false],
  ]);
});

test("pages take only types from schemas, so that no validator is carried to browsers", () => {
  const wrong = [...new Bun.Glob("**/*.{ts,tsx}").scanSync({ cwd: dashboard })]
    .filter((path) => !path.startsWith("dist/"))
    .flatMap((path) =>
      [
        ...readFileSync(join(dashboard, path), "utf8").matchAll(/^import (?!type )[^;]*contract\/[^"]+";/gm),
      ].map(([line]) => `${path}: ${line}`),
    );
  expect(wrong).toEqual([]);
});
