/** The session: the signed-in team member and the present organization. */
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { useParams, useRouter } from "@tanstack/react-router";
import { createContext, use, useEffect, useState } from "react";
import type { SessionAnswer } from "../../contract/members.ts";
import type { Role } from "../../contract/roles.ts";
import { ApiFailure, call } from "../api/client.ts";
import { recall } from "./memory.ts";

/** An organization, and what the person may do in it. */
export type Membership = SessionAnswer["organizations"][number];

/** The session, or null without a sign-in. */
export const sessionQuery = queryOptions<SessionAnswer | null>({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    try {
      return (await call("GET", "/api/session", { signal })) as SessionAnswer;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) return null;
      throw error;
    }
  },
});

/** The signed-in person's session, and the organization of the page's address. */
interface Present {
  readonly session: SessionAnswer;
  readonly organization: Membership;
}

/** The present reader and organization of all pages below an organization. */
export const PresentContext = createContext<Present | undefined>(undefined);

/** The session and the organization for `PresentContext`. When the session ends or the organization is lost,
 * the router is asked for the page that follows, and the last known ones stay until that page is there. */
export function useLastPresent(): Present {
  const { data: session } = useQuery(sessionQuery);
  const router = useRouter();
  const { organization: id } = useParams({ strict: false });
  const organization = session?.organizations.find((each) => String(each.id) === id);
  const isLost =
    session === null || (session !== undefined && id !== undefined && organization === undefined);
  const [last, setLast] = useState<Present>();
  const present = session && organization ? { session, organization } : last;
  if (present?.session !== last?.session || present?.organization !== last?.organization) setLast(present);
  useEffect(() => {
    if (isLost) void router.invalidate();
  }, [isLost, router]);
  if (present === undefined) throw new Error("a page was shown without a session");
  return present;
}

function usePresent(): Present {
  const present = use(PresentContext);
  if (present === undefined) throw new Error("a part of an organization's pages was shown outside of them");
  return present;
}

/** The session of a page that needs a sign-in. */
export function useSession(): SessionAnswer {
  return usePresent().session;
}

/** Facts about the installation. Undefined until they are known.
 * @param isAsked false where nothing depends on them */
export function useInstallation(isAsked: boolean): Installation | undefined {
  const { data } = useQuery({
    queryKey: ["installation", "facts"],
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isAsked,
    queryFn: async ({ signal }) => (await call("GET", "/api/installation", { signal })) as Installation,
  });
  return data;
}

interface Installation {
  /** Whether pictures of users and accounts are loaded from other hosts. */
  readonly remoteImages: boolean;
  readonly sendsEmail: boolean;
}

/** The organization of the page's address. */
export function useOrganization(): Membership {
  return usePresent().organization;
}

const ranks: readonly Role[] = ["viewer", "member", "owner"];

/** Whether the person's role in the present organization is this one or more. */
export function useMayAs(role: Role): boolean {
  return ranks.indexOf(useOrganization().role) >= ranks.indexOf(role);
}

/** The rights of the person in the present organization: whether their role is each of these or more. */
export function useRights(): Readonly<Record<Role, boolean>> {
  return { viewer: true, member: useMayAs("member"), owner: useMayAs("owner") };
}

/** Stores a new session, and drops cached answers of an earlier one. */
export function startSession(client: QueryClient, session: SessionAnswer): void {
  client.clear();
  client.setQueryData(sessionQuery.queryKey, session);
}

/** The name under which the organization that was used last is remembered, for addresses without one. */
export const lastOrganization = "rekindle.organization";

/** The organization to begin with: the one used last, if it is still the person's. Undefined without any. */
export function firstOrganization(session: SessionAnswer): Membership | undefined {
  const last = recall(lastOrganization);
  return session.organizations.find(({ id }) => String(id) === last) ?? session.organizations[0];
}
