/** Sessions: sign-in, sign-out, accepting invitations, and changes of one's own profile. */

import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import type { Entered, SignIn } from "../../members/sign-in.ts";

/** The answer to a successful sign-in. */
async function entered(signIn: SignIn, entering: Promise<Entered>) {
  const entered = await entering;
  return { entered, answer: await signIn.describe(entered.person) };
}

export const sessionHandlers = {
  "GET /api/installation": async ({ signIn, remoteImages, outbox }) => ({
    answer: {
      claimed: await signIn.isClaimed(),
      remoteImages,
      sendsEmail: outbox.settings.mail !== null,
    },
  }),

  "POST /api/claim": ({ signIn, body, from }) => entered(signIn, signIn.claim(body, from)),

  "POST /api/session": ({ signIn, body, from }) => entered(signIn, signIn.signIn(body, from)),

  "GET /api/session": async ({ signIn, signedIn }) => ({
    answer: await signIn.describe(signedIn.session.person),
  }),

  "DELETE /api/session": async ({ signIn, signedIn }) => {
    await signIn.end(signedIn);
    return { left: true };
  },

  "DELETE /api/sessions": async ({ signIn, signedIn }) => {
    await signIn.endAll(signedIn);
    return { left: true };
  },

  "PATCH /api/person": async ({ signIn, signedIn, body, from }) => {
    const changed = await signIn.change(signedIn, body, from);
    const { id, name, email } = changed.person;
    return { answer: { id, name, email }, entered: changed.entered };
  },

  "POST /api/invitations/lookup": async ({ signIn, ledger, body }) => {
    const link = await signIn.invitation(body.code);
    const organizations = await ledger.organizations.list();
    const name = organizations.find(({ id }) => id === link.organization)?.name ?? "";
    const { email, role } = link;
    return { answer: { organization: { name }, email: email ?? "", role: role ?? "viewer" } };
  },

  "POST /api/invitations/accept": ({ signIn, body, from }) => entered(signIn, signIn.accept(body, from)),

  "POST /api/password": ({ signIn, body, from }) => entered(signIn, signIn.resetPassword(body, from)),
} satisfies Partial<IntakeHandlers>;
