/** Every address and its page, on one screen. Pages are loaded when they are opened. contract/pages.ts has
 * the same addresses for the server, and test/dashboard/contract.test.ts compares the two. */
import type { QueryClient } from "@tanstack/react-query";
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import type { ReactElement } from "react";
import { currentQuery } from "../../contract/older-addresses.ts";
import { pages } from "../../contract/pages.ts";
import { below } from "../api/base.ts";
import { call } from "../api/client.ts";
import { Loading } from "../parts/states.tsx";
import { PageMissing, PageProblem } from "./failures.tsx";
import { remember } from "./memory.ts";
import { firstOrganization, lastOrganization, sessionQuery } from "./session.ts";
import { Shell } from "./shell.tsx";

interface Context {
  readonly client: QueryClient;
}

type Below<Parent extends string, Address extends string> = Address extends `${Parent}${infer Rest}`
  ? Rest
  : never;

/** Makes routes of pages below a route with this address. A page is loaded when it is opened. */
const pagesBelow =
  <Parent extends AnyRoute, const Base extends string>(parent: Parent, base: Base) =>
  <const Address extends `${Base}${string}`>(
    address: Address,
    load: () => Promise<{ readonly default: () => ReactElement }>,
  ) =>
    createRoute({
      getParentRoute: () => parent,
      path: address.slice(base.length) as Below<Base, Address>,
      component: lazyRouteComponent(load),
    });

/** Parameters stay texts: a user may be called 42, or true. */
type Search = Readonly<Record<string, string | undefined>>;

const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: PageMissing,
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
});

const home = createRoute({
  getParentRoute: () => root,
  path: pages.home,
  beforeLoad: async ({ context }) => {
    const session = await context.client.ensureQueryData(sessionQuery);
    if (session === null)
      throw redirect({ to: (await isClaimed()) ? pages.signIn : pages.claim, replace: true });
    const organization = firstOrganization(session);
    if (organization === undefined) throw redirect({ to: pages.signIn, replace: true });
    const params = { organization: String(organization.id) };
    throw redirect({ to: pages.overview, params, replace: true });
  },
});

async function isClaimed(): Promise<boolean> {
  const answer = (await call("GET", "/api/installation").catch(() => undefined)) as
    | { claimed: boolean }
    | undefined;
  return answer?.claimed ?? true;
}

const organization = createRoute({
  getParentRoute: () => root,
  path: pages.organization,
  component: Shell,
  errorComponent: PageProblem,
  beforeLoad: async ({ context, params, location }) => {
    const session = await context.client.ensureQueryData(sessionQuery);
    if (session === null) {
      throw redirect({ to: pages.signIn, search: { next: location.href }, replace: true });
    }
    if (!session.organizations.some(({ id }) => String(id) === params.organization)) throw notFound();
    remember(lastOrganization, params.organization);
  },
});
const organizationHome = createRoute({
  getParentRoute: () => organization,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: pages.overview, params, replace: true });
  },
});

const doorPage = pagesBelow(root, "");
const organizationPage = pagesBelow(organization, pages.organization);
/** A page whose figures are of all data: it waits for the end of the organization's first load. */
const figuresPage = <const Address extends `${typeof pages.organization}${string}`>(
  address: Address,
  load: () => Promise<{ readonly default: () => ReactElement }>,
) =>
  organizationPage(address, async () => {
    const [{ afterFirstLoad }, page] = await Promise.all([import("./first-load.tsx"), load()]);
    return { default: afterFirstLoad(page.default) };
  });
const settings = organizationPage(pages.settings, () => import("../pages/settings/frame.tsx"));
const settingsPage = pagesBelow(settings, pages.settings);
const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: pages.organizationSettings, params, replace: true });
  },
});

const routeTree = root.addChildren([
  home,
  doorPage(pages.claim, () => import("../pages/sign-in/claim.tsx")),
  doorPage(pages.signIn, () => import("../pages/sign-in/page.tsx")),
  doorPage(pages.invitation, () => import("../pages/sign-in/invitation.tsx")),
  doorPage(pages.password, () => import("../pages/sign-in/password.tsx")),
  doorPage(pages.agree, () => import("../pages/sign-in/agree.tsx")),
  doorPage(pages.unsubscribe, () => import("../pages/sign-in/unsubscribe.tsx")),
  organization.addChildren([
    organizationHome,
    figuresPage(pages.overview, () => import("../pages/overview/page.tsx")),
    organizationPage(pages.start, () => import("../pages/overview/start.tsx")),
    figuresPage(pages.users, () => import("../pages/entity/users.tsx")),
    figuresPage(pages.user, () => import("../pages/entity/user.tsx")),
    figuresPage(pages.accounts, () => import("../pages/entity/accounts.tsx")),
    figuresPage(pages.account, () => import("../pages/entity/account.tsx")),
    figuresPage(pages.segments, () => import("../pages/segments/page.tsx")),
    organizationPage(pages.alerts, () => import("../pages/alerts/page.tsx")),
    organizationPage(pages.tasks, () => import("../pages/tasks/page.tsx")),
    figuresPage(pages.results, () => import("../pages/tasks/results.tsx")),
    figuresPage(pages.winBack, () => import("../pages/entity/win-back.tsx")),
    figuresPage(pages.retention, () => import("../pages/retention/page.tsx")),
    figuresPage(pages.revenue, () => import("../pages/revenue/page.tsx")),
    figuresPage(pages.renewals, () => import("../pages/renewals/page.tsx")),
    organizationPage(pages.events, () => import("../pages/events/page.tsx")),
    organizationPage(pages.sources, () => import("../pages/sources/page.tsx")),
    figuresPage(pages.model, () => import("../pages/model/page.tsx")),
    settings.addChildren([
      settingsHome,
      settingsPage(pages.organizationSettings, () => import("../pages/settings/organization.tsx")),
      settingsPage(pages.scoreSettings, () => import("../pages/settings/scores/page.tsx")),
      settingsPage(pages.currencySettings, () => import("../pages/settings/currencies.tsx")),
      settingsPage(pages.exclusionSettings, () => import("../pages/settings/exclusions.tsx")),
      settingsPage(pages.tokenSettings, () => import("../pages/settings/tokens.tsx")),
      settingsPage(pages.keySettings, () => import("../pages/settings/keys.tsx")),
      settingsPage(pages.assistantSettings, () => import("../pages/settings/assistants.tsx")),
      settingsPage(pages.memberSettings, () => import("../pages/settings/members.tsx")),
      settingsPage(pages.alertRuleSettings, () => import("../pages/alerts/rules-page.tsx")),
      settingsPage(pages.destinationSettings, () => import("../pages/settings/destinations.tsx")),
      settingsPage(pages.importSettings, () => import("../pages/settings/imports/page.tsx")),
      settingsPage(pages.auditSettings, () => import("../pages/settings/audit.tsx")),
      settingsPage(pages.accountSettings, () => import("../pages/settings/account.tsx")),
    ]),
  ]),
]);

/** Makes the router of the application. */
export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
    basepath: below("/"),
    scrollRestoration: true,
    defaultPreload: "intent",
    defaultPendingMs: 300,
    defaultPendingComponent: () => <Loading rows={6} />,
    defaultErrorComponent: PageProblem,
    defaultNotFoundComponent: PageMissing,
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(currentQuery(text))),
    stringifySearch: (search) => {
      const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
      return pairs.length === 0
        ? ""
        : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
    },
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
