/** Every address and its page, on one screen. Pages are loaded when they are opened. contract/pages.ts has
 * the same addresses for the server, and test/dashboard/contract.test.ts compares the two. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { currentQuery } from "../../contract/older-addresses.ts";
import { pages } from "../../contract/pages.ts";
import { call } from "../api/client.ts";
import { Loading } from "../parts/states.tsx";
import { PageMissing, PageProblem } from "./failures.tsx";
import { firstOrganization, rememberOrganization, sessionQuery } from "./session.ts";
import { Shell } from "./shell.tsx";

interface Context {
  readonly client: QueryClient;
}

type Below<Parent extends string, Address extends string> = Address extends `${Parent}${infer Rest}`
  ? Rest
  : never;

/** The part of an address that follows its parent's. */
function within<const Parent extends string, const Address extends `${Parent}/${string}`>(
  parent: Parent,
  address: Address,
): Below<Parent, Address> {
  return address.slice(parent.length) as Below<Parent, Address>;
}

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

const claim = createRoute({
  getParentRoute: () => root,
  path: pages.claim,
  component: lazyRouteComponent(() => import("../pages/claim/page.tsx"), "ClaimPage"),
});
const signIn = createRoute({
  getParentRoute: () => root,
  path: pages.signIn,
  component: lazyRouteComponent(() => import("../pages/sign-in/page.tsx"), "SignInPage"),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: pages.invitation,
  component: lazyRouteComponent(() => import("../pages/invitation/page.tsx"), "InvitationPage"),
});
const password = createRoute({
  getParentRoute: () => root,
  path: pages.password,
  component: lazyRouteComponent(() => import("../pages/password/page.tsx"), "PasswordPage"),
});

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
    rememberOrganization(params.organization);
  },
});

const organizationHome = createRoute({
  getParentRoute: () => organization,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: pages.overview, params, replace: true });
  },
});
const overview = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.overview),
  component: lazyRouteComponent(() => import("../pages/overview/page.tsx"), "OverviewPage"),
});
const start = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.start),
  component: lazyRouteComponent(() => import("../pages/start/page.tsx"), "StartPage"),
});
const users = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.users),
  component: lazyRouteComponent(() => import("../pages/users/page.tsx"), "UsersPage"),
});
const user = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.user),
  component: lazyRouteComponent(() => import("../pages/user/page.tsx"), "UserPage"),
});
const accounts = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.accounts),
  component: lazyRouteComponent(() => import("../pages/accounts/page.tsx"), "AccountsPage"),
});
const account = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.account),
  component: lazyRouteComponent(() => import("../pages/account/page.tsx"), "AccountPage"),
});
const retention = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.retention),
  component: lazyRouteComponent(() => import("../pages/retention/page.tsx"), "RetentionPage"),
});
const events = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.events),
  component: lazyRouteComponent(() => import("../pages/events/page.tsx"), "EventsPage"),
});
const sources = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.sources),
  component: lazyRouteComponent(() => import("../pages/sources/page.tsx"), "SourcesPage"),
});
const model = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.model),
  component: lazyRouteComponent(() => import("../pages/model/page.tsx"), "ModelPage"),
});
const settings = createRoute({
  getParentRoute: () => organization,
  path: within(pages.organization, pages.settings),
  component: lazyRouteComponent(() => import("../pages/settings/frame.tsx"), "SettingsFrame"),
});
const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: pages.organizationSettings, params, replace: true });
  },
});
const settingsOrganization = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.organizationSettings),
  component: lazyRouteComponent(() => import("../pages/settings/organization.tsx"), "OrganizationSettings"),
});
const settingsScores = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.scoreSettings),
  component: lazyRouteComponent(() => import("../pages/settings/scores.tsx"), "ScoreSettings"),
});
const settingsExclusions = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.exclusionSettings),
  component: lazyRouteComponent(() => import("../pages/settings/exclusions.tsx"), "ExclusionSettings"),
});
const settingsTokens = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.tokenSettings),
  component: lazyRouteComponent(() => import("../pages/settings/tokens.tsx"), "TokenSettings"),
});
const settingsKeys = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.keySettings),
  component: lazyRouteComponent(() => import("../pages/settings/keys.tsx"), "KeySettings"),
});
const settingsMembers = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.memberSettings),
  component: lazyRouteComponent(() => import("../pages/settings/members.tsx"), "MemberSettings"),
});
const settingsAudit = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.auditSettings),
  component: lazyRouteComponent(() => import("../pages/settings/audit.tsx"), "AuditSettings"),
});
const settingsAccount = createRoute({
  getParentRoute: () => settings,
  path: within(pages.settings, pages.accountSettings),
  component: lazyRouteComponent(() => import("../pages/settings/account.tsx"), "AccountSettings"),
});

const routeTree = root.addChildren([
  home,
  claim,
  signIn,
  invitation,
  password,
  organization.addChildren([
    organizationHome,
    overview,
    start,
    users,
    user,
    accounts,
    account,
    retention,
    events,
    sources,
    model,
    settings.addChildren([
      settingsHome,
      settingsOrganization,
      settingsScores,
      settingsExclusions,
      settingsTokens,
      settingsKeys,
      settingsMembers,
      settingsAudit,
      settingsAccount,
    ]),
  ]),
]);

/** Makes the router of the application. */
export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
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
