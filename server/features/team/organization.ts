/** An organization: its fields, members, invitations, tokens, read keys and audit log. */

import { limits } from "../../../contract/limits.ts";
import { peopleLimits } from "../../../contract/member-limits.ts";
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import type { Place } from "../../http/api/gate.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import { personActor } from "../../ledger/audit.ts";
import type { Erasure } from "../../ledger/erasures.ts";
import { loginEmail } from "../../ledger/stores/logins.ts";
import { invite, membersOf } from "../../members/invitations.ts";
import {
  auditLogOf,
  knownZone,
  newReadKey,
  newToken,
  organizationAnswer,
  readKeysOf,
  revoke,
  tokensOf,
  updateOrganization,
} from "../../members/organization.ts";
import { invitationMail } from "../../sending/link-mails.ts";
import { failureOfMail } from "../../sending/mail.ts";

/** A change of an organization: its author and time. */
function ordered({ place, nowMs }: { readonly place: Place; readonly nowMs: number }) {
  return { organization: place.organization.id, by: place.actor, nowMs };
}

export const organizationHandlers = {
  "POST /api/organizations": async ({ ledger, signedIn, body, nowMs, maxRequestsPerSecond }) => {
    const { person } = signedIn.session;
    const memberships = await ledger.members.membershipsOf(person.id);
    if (!memberships.some(({ role }) => role === "owner")) {
      throw new ApiError("forbidden", "Only owners of an organization may create another.");
    }
    const requestsPerSecond = Math.min(limits.defaultRequestsPerSecond, maxRequestsPerSecond);
    const wanted = { name: body.name.trim(), timezone: knownZone(body.timezone), requestsPerSecond };
    const { id } = await ledger.members.createOrganization(wanted, personActor(person), nowMs);
    return { answer: { id } };
  },

  "GET /api/organization": async ({ place, nowMs, maxRequestsPerSecond }) => ({
    answer: organizationAnswer(place.organization, nowMs, maxRequestsPerSecond),
  }),

  "PATCH /api/organization": async (context) => ({
    answer: await updateOrganization(context, ordered(context), context.place.organization, context.body),
  }),

  "DELETE /api/organization": async ({ ledger, live, log, forget, place, signedIn, query }) => {
    const { id, name } = place.organization;
    if (query.name !== name) throw new ApiError("validation_error", "name is not that of the organization.");
    if ((await ledger.deletions.begin(id)) === undefined) throw noSuch("organization");
    forget();
    live.endOrganization(id);
    log.info({ organization: id, by: signedIn.session.person.id }, "an organization is being deleted");
    return {};
  },

  "GET /api/audit-log": async (context) => ({
    answer: await auditLogOf(context, context.place.organization.id, context.query),
  }),

  "GET /api/members": async ({ ledger, place, nowMs }) => {
    const answer = await membersOf(ledger, place.organization.id, nowMs);
    return { answer: place.role === "owner" ? answer : { ...answer, invitations: [] } };
  },

  "PATCH /api/members/:id": async ({ ledger, place, path, body, nowMs }) => {
    const id = idIn(path.id, "member");
    const { organization, actor } = place;
    const member = await ledger.members.setRole(organization.id, id, body.role, actor, nowMs);
    if (member === undefined) throw noSuch("member");
    return { answer: { id, role: member.role } };
  },

  "DELETE /api/members/:id": async ({ ledger, forget, place, signedIn, path, query, nowMs }) => {
    const id = idIn(path.id, "member");
    const self = signedIn.session.person.id;
    if (place.role !== "owner" && id !== self) {
      throw new ApiError("forbidden", "Only owners remove others from an organization.");
    }
    const { organization, actor } = place;
    const keysTo = query.readKeys === "keep" ? self : null;
    const member = await ledger.members.remove(organization.id, id, actor, nowMs, keysTo);
    if (member === undefined) throw noSuch("member");
    forget();
    return {};
  },

  "GET /api/erasures": async ({ ledger, place }) => ({
    answer: { erasures: (await ledger.erasures.list(place.organization.id)).map(erasureAnswer) },
  }),

  "POST /api/invitations": async ({ ledger, outbox, place, body, address, nowMs }) => {
    const { organization, actor } = place;
    const wanted = { organization: organization.id, ...body };
    const { id, link } = await invite(ledger, wanted, address(), actor, nowMs);
    // The link is shown in any case, so that strangers' invitations keep nobody from being invited.
    const ofDay = await ledger.members.invitationsOfDay(loginEmail(body.email), nowMs);
    const most = peopleLimits.invitationMailsPerAddress;
    if (ofDay > most) {
      const notMailedBecause = `This address was invited ${most} times within 24 hours.`;
      return { answer: { id, link, notMailedBecause } };
    }
    const sent = await outbox.mail(invitationMail({ ...body, link }, organization.name));
    return { answer: { id, link, notMailedBecause: failureOfMail(sent) } };
  },

  "DELETE /api/invitations/:id": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "invitation");
    if (!(await ledger.members.revokeInvitation(organization.id, id, actor, nowMs)))
      throw noSuch("invitation");
    return {};
  },

  "GET /api/tokens": async (context) => ({ answer: await tokensOf(context, context.place.organization.id) }),

  "POST /api/tokens": async (context) => {
    if (context.body.joinsAccounts === true && !context.place.rights.includes("own"))
      throw new ApiError("forbidden", "joinsAccounts is for owners: ask one to create this token.");
    return { answer: await newToken(context, ordered(context), context.body) };
  },

  "DELETE /api/tokens/:id": async (context) => {
    await revoke("tokens", context, ordered(context), idIn(context.path.id, "project token"));
    return {};
  },

  "GET /api/read-keys": async (context) => ({
    answer: await readKeysOf(context, context.place.organization.id),
  }),

  "POST /api/read-keys": async (context) => ({
    answer: await newReadKey(context, ordered(context), context.body),
  }),

  "DELETE /api/read-keys/:id": async (context) => {
    await revoke("readKeys", context, ordered(context), idIn(context.path.id, "read key"));
    return {};
  },
} satisfies Partial<IntakeHandlers>;

function erasureAnswer({ id, account, requestedAtMs, erasedAtMs, ...erasure }: Erasure) {
  const { events, versions, rejectedEvents, inboxRows, days } = erasure;
  return {
    id,
    kind: account > 0 ? ("account" as const) : ("user" as const),
    requestedAt: instant(requestedAtMs),
    erasedAt: instantOrNull(erasedAtMs),
    events,
    versions,
    rejectedEvents,
    inboxRows,
    days,
  };
}
