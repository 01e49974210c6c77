/** The parts that pages outside an organization share: the code of their link, and the sign-in. */
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { peopleLimits } from "../../contract/member-limits.ts";
import type { SessionAnswer } from "../../contract/members.ts";
import { below } from "../api/base.ts";
import { type PersonalChanges, usePersonalChange } from "../api/query.ts";
import { fieldErrors } from "../parts/form/form-errors.ts";
import { firstOrganization, startSession } from "./session.ts";

/** Characters of a password, as in the contract. Only the contract's types are imported. */
export const passwordCharacters = {
  least: 10 satisfies typeof peopleLimits.passwordMinCharacters,
  most: 200 satisfies typeof peopleLimits.passwordMaxCharacters,
} as const;

/** The code after # in the address. It is read once and taken out of the address, so that it stays in no
 * history. */
export function useCode(): string {
  const [code] = useState(() => {
    const found = location.hash.slice(1);
    if (found !== "") history.replaceState(history.state, "", location.pathname + location.search);
    return found;
  });
  return code;
}

/** A form of a page outside an organization, whose answer is a session: it begins with that session.
 * @param fields names of the form's fields, to each of which its error belongs
 * @param first the page of the organization that is opened */
export function useEntrance<Route extends Entrance, Name extends string>(
  route: Route,
  fields: readonly Name[],
  first: "overview" | "start" = "overview",
) {
  const enter = useEnter(first);
  const { mutate, isPending, error } = usePersonalChange(route);
  const send = (body: PersonalChanges[Route]["body"], next?: string) =>
    mutate(body, { onSuccess: (session) => enter(session, next) });
  return { send, isPending, error, errors: fieldErrors(error, fields) };
}

/** The changes whose answer is a session. */
type Entrance = {
  [Route in keyof PersonalChanges]: PersonalChanges[Route]["answer"] extends SessionAnswer ? Route : never;
}[keyof PersonalChanges];

/** Begins with a session that was just made: to the page that was asked for, or the organization used
 * last. */
function useEnter(first: string): (session: SessionAnswer, next?: string) => void {
  const client = useQueryClient();
  const router = useRouter();
  return (session, next) => {
    startSession(client, session);
    const organization = firstOrganization(session);
    // Only an address of ours: a link to the page for signing in may be forged.
    if (typeof next === "string" && next.startsWith("/o/")) return router.history.push(below(next));
    if (organization === undefined) return router.history.push(below("/"));
    router.history.push(below(`/o/${organization.id}/${first}`));
  };
}
