/** The routes of people about an organization: its members, tokens, read keys, fields and audit log. */

import { NoParameters } from "../../../contract/api/api.ts";
import { limits } from "../../../contract/limits.ts";
import {
  AuditLogAnswer,
  AuditLogParameters,
  InvitationCreateAnswer,
  InvitationCreateBody,
  MemberAnswer,
  MemberChangeBody,
  MemberRemovalParameters,
  MembersAnswer,
  OrganizationAnswer,
  OrganizationChangeBody,
  OrganizationCreateAnswer,
  OrganizationCreateBody,
  OrganizationDeletionParameters,
  ReadKeyCreateAnswer,
  ReadKeyCreateBody,
  ReadKeysAnswer,
  TokenCreateAnswer,
  TokenCreateBody,
  TokensAnswer,
} from "../../../contract/members.ts";
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { personActor } from "../../ledger/ledger.ts";
import {
  auditLogOf,
  invite,
  knownZone,
  membersOf,
  newReadKey,
  newToken,
  organizationAnswer,
  readKeysOf,
  revoke,
  tokensOf,
  updateOrganization,
} from "../../members/members.ts";
import type { Place } from "./gate.ts";
import { idIn } from "./ids.ts";
import { type PeopleRoute, peopleRoute } from "./route.ts";

const query = NoParameters;

/** Who changes which organization when. */
function ordered({ place, nowMs }: { readonly place: Place; readonly nowMs: number }) {
  return { organization: place.organization.id, by: place.actor, nowMs };
}

const organization: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "POST", path: "/api/organizations", access: "session", status: 201, query },
    summary: "Create an organization, as its owner; only who owns one may create another",
    body: OrganizationCreateBody,
    answer: OrganizationCreateAnswer,
    handler: async ({ ledger, signedIn, body, nowMs, maxRequestsPerSecond }) => {
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
  }),
  peopleRoute({
    ...{ method: "GET", path: "/api/organization", access: "read", status: 200, query },
    summary: "The organization",
    answer: OrganizationAnswer,
    handler: async ({ place, nowMs, maxRequestsPerSecond }) => ({
      answer: organizationAnswer(place.organization, nowMs, maxRequestsPerSecond),
    }),
  }),
  peopleRoute({
    ...{ method: "PATCH", path: "/api/organization", access: "own", status: 200, query },
    summary: "Change the organization; a new timezone has its days computed again",
    body: OrganizationChangeBody,
    answer: OrganizationAnswer,
    handler: async (context) => ({
      answer: await updateOrganization(context, ordered(context), context.place.organization, context.body),
    }),
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/organization", access: "own", status: 204 },
    query: OrganizationDeletionParameters,
    summary:
      "Delete the organization with all its data, within seconds of the answer; it cannot be taken back",
    handler: async ({ ledger, live, log, forget, place, signedIn, query: { name: typed } }) => {
      const { id, name } = place.organization;
      if (typed !== name) throw new ApiError("validation_error", "name is not that of the organization.");
      if ((await ledger.deletions.begin(id)) === undefined) throw noSuch("organization");
      forget();
      live.endOrganization(id);
      log.info({ organization: id, by: signedIn.session.person.id }, "an organization is being deleted");
      return {};
    },
  }),
  peopleRoute({
    ...{ method: "GET", path: "/api/audit-log", access: "own", status: 200, query: AuditLogParameters },
    summary: "What was changed by whom",
    answer: AuditLogAnswer,
    handler: async (context) => ({
      answer: await auditLogOf(context, context.place.organization.id, context.query),
    }),
  }),
];

const members: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/members", access: "read", status: 200, query },
    summary: "Members, and for owners the open invitations",
    answer: MembersAnswer,
    handler: async ({ ledger, place, nowMs }) => {
      const answer = await membersOf(ledger, place.organization.id, nowMs);
      return { answer: place.role === "owner" ? answer : { ...answer, invitations: [] } };
    },
  }),
  peopleRoute({
    ...{ method: "PATCH", path: "/api/members/:id", access: "own", status: 200, query },
    summary: "Change a member's role; never the last owner's",
    body: MemberChangeBody,
    answer: MemberAnswer,
    handler: async ({ ledger, place, path, body, nowMs }) => {
      const id = idIn(path.id, "member");
      const { organization, actor } = place;
      const member = await ledger.members.setRole(organization.id, id, body.role, actor, nowMs);
      if (member === undefined) throw noSuch("member");
      return { answer: { id, role: member.role } };
    },
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/members/:id", access: "read", status: 204 },
    summary: "Remove a member and revoke their read keys, or leave; never the last owner",
    query: MemberRemovalParameters,
    handler: async ({ ledger, forget, place, signedIn, path, query: { readKeys }, nowMs }) => {
      const id = idIn(path.id, "member");
      const self = signedIn.session.person.id;
      if (place.role !== "owner" && id !== self) {
        throw new ApiError("forbidden", "Only owners remove others from an organization.");
      }
      const { organization, actor } = place;
      const keysTo = readKeys === "keep" ? self : null;
      const member = await ledger.members.remove(organization.id, id, actor, nowMs, keysTo);
      if (member === undefined) throw noSuch("member");
      forget();
      return {};
    },
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/invitations", access: "own", status: 201, query },
    summary: "Invite somebody; the link is shown this once",
    body: InvitationCreateBody,
    answer: InvitationCreateAnswer,
    handler: async ({ ledger, place, body, address, nowMs }) => {
      const wanted = { organization: place.organization.id, ...body };
      return { answer: await invite(ledger, wanted, address(), place.actor, nowMs) };
    },
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/invitations/:id", access: "own", status: 204, query },
    summary: "Take back an invitation",
    handler: async ({ ledger, place, path, nowMs }) => {
      const { organization, actor } = place;
      const id = idIn(path.id, "invitation");
      if (!(await ledger.members.revokeInvitation(organization.id, id, actor, nowMs)))
        throw noSuch("invitation");
      return {};
    },
  }),
];

const credentials: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/tokens", access: "manage", status: 200, query },
    summary: "Project tokens; they themselves are never shown again",
    answer: TokensAnswer,
    handler: async (context) => ({ answer: await tokensOf(context, context.place.organization.id) }),
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/tokens", access: "manage", status: 201, query },
    summary: "Create a project token, shown this once",
    body: TokenCreateBody,
    answer: TokenCreateAnswer,
    handler: async (context) => ({ answer: await newToken(context, ordered(context), context.body) }),
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/tokens/:id", access: "manage", status: 204, query },
    summary: "Revoke a project token; it is refused at once",
    handler: async (context) => {
      await revoke("tokens", context, ordered(context), idIn(context.path.id, "project token"));
      return {};
    },
  }),
  peopleRoute({
    ...{ method: "GET", path: "/api/read-keys", access: "own", status: 200, query },
    summary: "Read keys; they themselves are never shown again",
    answer: ReadKeysAnswer,
    handler: async (context) => ({ answer: await readKeysOf(context, context.place.organization.id) }),
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/read-keys", access: "own", status: 201, query },
    summary: "Create a read key, shown this once",
    body: ReadKeyCreateBody,
    answer: ReadKeyCreateAnswer,
    handler: async (context) => {
      const { name, rights } = context.body;
      return { answer: await newReadKey(context, ordered(context), name, rights) };
    },
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/read-keys/:id", access: "own", status: 204, query },
    summary: "Revoke a read key; it is refused at once",
    handler: async (context) => {
      await revoke("readKeys", context, ordered(context), idIn(context.path.id, "read key"));
      return {};
    },
  }),
];

export const peopleOrganizationRoutes: readonly PeopleRoute[] = [...organization, ...members, ...credentials];
