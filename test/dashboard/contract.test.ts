/** What the pages believe of the server, held against the server's own tables. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as contract from "../../contract/api/api.ts";
import * as departures from "../../contract/api/departures.ts";
import * as entities from "../../contract/api/entities.ts";
import * as figures from "../../contract/api/figures.ts";
import * as lists from "../../contract/api/lists.ts";
import * as movers from "../../contract/api/movers.ts";
import * as overview from "../../contract/api/overview.ts";
import * as retention from "../../contract/api/retention.ts";
import * as scores from "../../contract/api/scores.ts";
import * as traits from "../../contract/api/traits.ts";
import { isPageAddress, pageAddresses } from "../../contract/pages.ts";
import * as settings from "../../contract/settings.ts";
import * as sources from "../../contract/sources.ts";
import { apiRoutes } from "../../server/http/api/routes.ts";
import { peopleRoutes } from "../../server/http/members/routes.ts";

const dashboard = join(import.meta.dir, "..", "..", "dashboard");
const modules: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...{
    contract,
    departures,
    entities,
    figures,
    lists,
    movers,
    overview,
    retention,
    scores,
    settings,
    sources,
    traits,
  },
};
const paths = readFileSync(join(dashboard, "api", "paths.ts"), "utf8");

/** A schema by the name that paths.ts gives it: `figures.LifecycleAnswer`, or `None`. */
function schemaOf(name: string): unknown {
  if (name === "None") return contract.NoParameters;
  const [module = "", schema = ""] = name.replace("typeof ", "").trim().split(".");
  return modules[module]?.[schema];
}

const propertiesOf = (schema: unknown) =>
  typeof schema === "object" && schema !== null && "properties" in schema
    ? Object.keys(schema.properties as object).sort()
    : undefined;

const reads = [...paths.matchAll(/"(\/api\/[^"]+)":\s*(Figure|Read)<\s*([^,>]+),\s*([^,>]+?),?\s*>/g)].map(
  ([, path = "", kind = "", query = "", answer = ""]) => ({ path, kind, query, answer }),
);
const ofAnalysis = reads.filter(({ answer }) => !/people\.|audit\.|views\.|sourceSettings\./.test(answer));

test("every figure that pages can ask for is a route of the server, with these schemas", () => {
  expect(ofAnalysis.length).toBeGreaterThan(25);
  for (const { path, kind, query, answer } of ofAnalysis) {
    const route = apiRoutes.find((one) => one.method === "GET" && one.path === path);
    expect([path, route?.query === schemaOf(query)]).toEqual([path, true]);
    const expected = [...(propertiesOf(schemaOf(answer)) ?? []), ...(kind === "Figure" ? ["freshness"] : [])];
    expect([path, propertiesOf(route?.answer)]).toEqual([path, expected.sort()]);
  }
});

test("every route of the server that is read is known to the pages", () => {
  const known = reads.map(({ path }) => path);
  expect(
    apiRoutes.filter(({ method, path }) => method === "GET" && !known.includes(path)).map(({ path }) => path),
  ).toEqual([]);
});

test("every path about people that pages use is a route of intake, by method", () => {
  const changes = [...paths.matchAll(/"([A-Z]+) (\/api\/[^"]+)": Change</g)].map(
    ([, method, path]) => `${method} ${path}`,
  );
  const used = [
    ...changes,
    ...reads
      .filter(({ answer }) => /people\.|audit\.|views\.|sourceSettings\./.test(answer))
      .map(({ path }) => `GET ${path}`),
  ];
  const known = [...apiRoutes, ...peopleRoutes].map(({ method, path }) => `${method} ${path}`);
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((route) => !known.includes(route))).toEqual([]);
});

test("every change that pages can make is a route of the server", () => {
  const changes = paths.slice(paths.indexOf("interface Changes"), paths.indexOf("interface PersonalChanges"));
  const routes = [...changes.matchAll(/"([A-Z]+) (\/api\/[^"]+)": Change<\s*([^,]+),/g)];
  const ofIntake = /^\/api\/(organization|members|invitations|tokens|read-keys|views|webhooks|stripe)/;
  const checked = routes.filter(([, , path = ""]) => !ofIntake.test(path));
  expect(checked.length).toBeGreaterThan(4);
  for (const [, method, path, body = ""] of checked) {
    const route = apiRoutes.find((one) => one.method === method && one.path === path);
    const name = body.replace(/^Static<typeof |>$/g, "");
    expect([path, route !== undefined]).toEqual([path, true]);
    expect([path, route?.body]).toEqual([path, name === "undefined" ? undefined : schemaOf(name)] as never);
  }
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
