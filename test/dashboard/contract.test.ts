/** The pages' copies of the server's tables, compared with the server's own. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isPageAddress, pages } from "../../contract/pages.ts";
import type { Changes, Reads } from "../../dashboard/api/paths.ts";

const dashboard = join(import.meta.dir, "..", "..", "dashboard");
/** Whether nothing has to be sent. The compiler decides it: `npm run check` fails when a line below is
 * wrong. */
type MayBeEmpty<Query> = Record<never, never> extends Query ? true : false;

test("a parameter without a default must be sent, another may be left out", () => {
  const users: MayBeEmpty<Reads["/api/users"]["query"]> = true;
  const preview: MayBeEmpty<Reads["/api/exclusions/preview"]["query"]> = false;
  const people: MayBeEmpty<Reads["/api/retention/people"]["query"]> = false;
  const deletion: MayBeEmpty<Changes["DELETE /api/organization"]["query"]> = false;
  expect([users, preview, people, deletion]).toEqual([true, false, false, false]);
});

test("every address of a page has one route", () => {
  const router = readFileSync(join(dashboard, "app", "router.tsx"), "utf8");
  const single = [...router.matchAll(/path: pages\.(\w+),/g)].map(([, name = ""]) => name);
  const made = [...router.matchAll(/\b(\w+Page)\(pages\.(\w+),/g)];
  const named = made.map(([, maker, name = ""]) => {
    const address = pages[name as keyof typeof pages];
    const isSetting = address.startsWith(`${pages.settings}/`);
    const isInside = address.startsWith(`${pages.organization}/`);
    const makers = isSetting
      ? ["settingsPage"]
      : isInside
        ? ["organizationPage", "figuresPage"]
        : ["doorPage"];
    expect(makers).toContain(maker ?? "");
    return name;
  });
  expect([...single, ...named].toSorted()).toEqual(Object.keys(pages).toSorted());
  const inTree = router.slice(router.indexOf("const routeTree"));
  for (const [, name = ""] of router.matchAll(/const (\w+) = (?:createRoute|\w+Page)\(/g)) {
    expect([name, new RegExp(`\\b${name}\\b`).test(inTree)]).toEqual([name, true]);
  }
});

test("an address of a page is known by its form", () => {
  expect(["/", "/sign-in", "/o/1/users/a%2Fb"].map(isPageAddress)).toEqual([true, true, true]);
  expect(["", "/o/x/users", "/o/1/users/", "/o/1/users/a/b", "//o/1"].map(isPageAddress)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("pages take only types from schemas, so that no validator is carried to browsers", () => {
  const imports = [...new Bun.Glob("**/*.{ts,tsx}").scanSync({ cwd: dashboard })]
    .filter((path) => !path.startsWith("dist/"))
    .flatMap((path) =>
      [
        ...readFileSync(join(dashboard, path), "utf8").matchAll(
          /^import (?!type )[^;]*"(?:\.\.\/)+(contract\/[^"]+)";/gm,
        ),
      ].map(([, file = ""]) => ({ path, file })),
    );
  expect(imports.length).toBeGreaterThan(0);
  // A file that imports nothing carries nothing else.
  const wrong = imports.filter(({ file }) =>
    /^(import|export [*{][^;]* from) /m.test(readFileSync(join(dashboard, "..", file), "utf8")),
  );
  expect(wrong).toEqual([]);
});
