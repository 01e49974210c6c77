/** The routes of people by which they come in, go out, and change what they say of themselves. */
import { NoParameters } from "../../../contract/api/api.ts";
import {
  ClaimBody,
  InstallationAnswer,
  InvitationAcceptBody,
  InvitationLookupAnswer,
  InvitationLookupBody,
  PasswordResetBody,
  PersonAnswer,
  PersonChangeBody,
  SessionAnswer,
  SignInBody,
} from "../../../contract/members.ts";
import type { Entered, SignIn } from "../../members/members.ts";
import { type PeopleRoute, peopleRoute } from "./route.ts";

const query = NoParameters;

/** The answer to who has just come in. */
async function entered(signIn: SignIn, entering: Promise<Entered>) {
  const entered = await entering;
  return { entered, answer: await signIn.describe(entered.person) };
}

export const peopleSessionRoutes: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/installation", access: "anybody", status: 200, query },
    summary: "Whether anybody has an account yet, and what pages may load",
    answer: InstallationAnswer,
    handler: async ({ signIn, remoteImages }) => ({
      answer: { claimed: await signIn.isClaimed(), remoteImages },
    }),
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/claim", access: "anybody", status: 201, query },
    summary: "Make the first account, by the link that the first start printed",
    body: ClaimBody,
    answer: SessionAnswer,
    handler: ({ signIn, body, from }) => entered(signIn, signIn.claim(body, from)),
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/session", access: "anybody", status: 201, query },
    summary: "Sign in",
    body: SignInBody,
    answer: SessionAnswer,
    handler: ({ signIn, body, from }) => entered(signIn, signIn.signIn(body, from)),
  }),
  peopleRoute({
    ...{ method: "GET", path: "/api/session", access: "session", status: 200, query },
    summary: "Who is signed in, and where they are members",
    answer: SessionAnswer,
    handler: async ({ signIn, signedIn }) => ({ answer: await signIn.describe(signedIn.session.person) }),
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/session", access: "session", status: 204, query },
    summary: "Sign out here",
    handler: async ({ signIn, signedIn }) => {
      await signIn.end(signedIn);
      return { left: true };
    },
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/sessions", access: "session", status: 204, query },
    summary: "Sign out everywhere",
    handler: async ({ signIn, signedIn }) => {
      await signIn.endAll(signedIn);
      return { left: true };
    },
  }),
  peopleRoute({
    ...{ method: "PATCH", path: "/api/person", access: "session", status: 200, query },
    summary: "Change one's own name, e-mail or password",
    body: PersonChangeBody,
    answer: PersonAnswer,
    handler: async ({ signIn, signedIn, body, from }) => {
      const changed = await signIn.change(signedIn, body, from);
      const { id, name, email } = changed.person;
      return { answer: { id, name, email }, entered: changed.entered };
    },
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/invitations/lookup", access: "anybody", status: 200, query },
    summary: "What an invitation is to",
    body: InvitationLookupBody,
    answer: InvitationLookupAnswer,
    handler: async ({ signIn, ledger, body }) => {
      const link = await signIn.invitation(body.code);
      const organizations = await ledger.organizations.list();
      const name = organizations.find(({ id }) => id === link.organization)?.name ?? "";
      const { email, role } = link;
      return { answer: { organization: { name }, email: email ?? "", role: role ?? "viewer" } };
    },
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/invitations/accept", access: "anybody", status: 201, query },
    summary: "Join an organization by an invitation",
    body: InvitationAcceptBody,
    answer: SessionAnswer,
    handler: ({ signIn, body, from }) => entered(signIn, signIn.accept(body, from)),
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/password", access: "anybody", status: 201, query },
    summary: "Set a new password by a link, and be signed out everywhere else",
    body: PasswordResetBody,
    answer: SessionAnswer,
    handler: ({ signIn, body, from }) => entered(signIn, signIn.resetPassword(body, from)),
  }),
];
