/** The parts that pages outside an organization share: the code of their link, and the sign-in. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { peopleLimits } from "../../contract/member-limits.ts";
import type { SessionAnswer } from "../../contract/members.ts";
import { firstOrganization, sessionQuery, startSession } from "./session.ts";

/** Characters of a password, as in the contract. Only the contract's types are imported. */
export const passwordCharacters = {
  least: 10 satisfies typeof peopleLimits.passwordMinCharacters,
  most: 200 satisfies typeof peopleLimits.passwordMaxCharacters,
} as const;

/** The code after # in the address. It is read once and taken out of the address, so that it stays in no history. */
export function useCode(): string {
  const [code] = useState(() => {
    const found = location.hash.slice(1);
    if (found !== "") history.replaceState(history.state, "", location.pathname + location.search);
    return found;
  });
  return code;
}

/** Forgets the session that was just ended, and all that was read in it, on the page for signing in. */
export function useLeft(): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await navigate({ to: "/sign-in" });
    client.clear();
    client.setQueryData(sessionQuery.queryKey, null);
  };
}

/** Begins with a session that was just made: to the page that was asked for, or the organization used last. */
export function useEnter(): (session: SessionAnswer, next?: string) => void {
  const client = useQueryClient();
  const router = useRouter();
  return (session, next) => {
    startSession(client, session);
    const organization = firstOrganization(session);
    // Only an address of ours: a link to the page for signing in may be forged.
    if (typeof next === "string" && next.startsWith("/o/")) return router.history.push(next);
    if (organization === undefined) return router.history.push("/");
    router.history.push(`/o/${organization.id}/overview`);
  };
}
