/** The routes of the JSON API that intake answers: sessions, organizations, their members and settings. */

import { ruleRoutes } from "../alerts/rule-routes.ts";
import { assistantRoutes } from "../assistants/routes.ts";
import { destinationRoutes } from "../destinations/routes.ts";
import * as destinations from "../destinations/schemas.ts";
import { digestRoutes } from "../digest/routes.ts";
import * as live from "../live.ts";
import * as members from "../members.ts";
import { pulseRoutes } from "../pulse/routes.ts";
import { segmentRoutes } from "../segments/routes.ts";
import * as sourceSettings from "../source-settings.ts";
import { importRoutes } from "./imports.ts";
import { workRoutes } from "./notes-and-tasks.ts";
import { outageRoutes } from "./outages.ts";
import { intakeRoute, keyRoute } from "./route.ts";
import { viewRoutes } from "./saved-views.ts";

export const intakeRoutes = {
  "GET /api/installation": intakeRoute.anybody({
    summary: "Whether the installation has been claimed, and what it is set up for",
    answer: members.InstallationAnswer,
  }),
  "POST /api/claim": intakeRoute.anybody({
    summary: "Claim the installation: create the first team member, by the link that the first start printed",
    body: members.ClaimBody,
    status: 201,
    answer: members.SessionAnswer,
  }),
  "POST /api/session": intakeRoute.anybody({
    summary: "Sign in",
    body: members.SignInBody,
    status: 201,
    answer: members.SessionAnswer,
  }),
  "GET /api/session": intakeRoute.session({
    summary: "The signed-in team member and their organizations",
    answer: members.SessionAnswer,
  }),
  "DELETE /api/session": intakeRoute.session({ summary: "Sign out here", status: 204 }),
  "DELETE /api/sessions": intakeRoute.session({ summary: "Sign out everywhere", status: 204 }),
  "PATCH /api/person": intakeRoute.session({
    summary: "Change your own name, e-mail address or password",
    body: members.PersonChangeBody,
    answer: members.PersonAnswer,
  }),
  "POST /api/invitations/lookup": intakeRoute.anybody({
    summary: "The organization and role of an invitation",
    body: members.InvitationLookupBody,
    answer: members.InvitationLookupAnswer,
  }),
  "POST /api/invitations/accept": intakeRoute.anybody({
    summary: "Join an organization by an invitation",
    body: members.InvitationAcceptBody,
    status: 201,
    answer: members.SessionAnswer,
  }),
  "POST /api/password": intakeRoute.anybody({
    summary: "Set a new password by a link; this signs out everywhere else",
    body: members.PasswordResetBody,
    status: 201,
    answer: members.SessionAnswer,
  }),
  "POST /api/organizations": intakeRoute.session({
    summary: "Create an organization and become its owner; only owners of an organization can",
    body: members.OrganizationCreateBody,
    status: 201,
    answer: members.OrganizationCreateAnswer,
  }),
  "GET /api/organization": keyRoute.read({
    summary: "The organization",
    answer: members.OrganizationAnswer,
  }),
  "PATCH /api/organization": intakeRoute.own({
    summary: "Change the organization; with a new timezone all days are computed again",
    body: members.OrganizationChangeBody,
    answer: members.OrganizationAnswer,
  }),
  "DELETE /api/organization": intakeRoute.own({
    summary: "Delete the organization with all its data, within seconds of the answer; this cannot be undone",
    query: members.OrganizationDeletionParameters,
    needsPerson: true,
    status: 204,
  }),
  "GET /api/audit-log": intakeRoute.own({
    summary: "The audit log: changes and their authors",
    query: members.AuditLogParameters,
    answer: members.AuditLogAnswer,
  }),
  "GET /api/erasures": intakeRoute.own({
    summary: "Erasures of users and accounts; the ids that were erased are not kept",
    command: "erasure list",
    answer: members.ErasuresAnswer,
  }),
  "GET /api/members": intakeRoute.read({
    summary: "Team members, and for owners the open invitations",
    answer: members.MembersAnswer,
  }),
  "PATCH /api/members/:id": intakeRoute.own({
    summary: "Change a team member's role; the last owner stays an owner",
    body: members.MemberChangeBody,
    answer: members.MemberAnswer,
  }),
  "DELETE /api/members/:id": intakeRoute.read({
    summary: "Remove a team member and revoke their read keys, or leave; the last owner has to stay",
    query: members.MemberRemovalParameters,
    needsPerson: true,
    status: 204,
  }),
  "POST /api/invitations": intakeRoute.own({
    summary: "Invite a team member; the link is shown only once",
    body: members.InvitationCreateBody,
    status: 201,
    answer: members.InvitationCreateAnswer,
  }),
  "DELETE /api/invitations/:id": intakeRoute.own({ summary: "Revoke an invitation", status: 204 }),
  "GET /api/tokens": intakeRoute.manage({
    summary: "Project tokens, without their secrets",
    answer: members.TokensAnswer,
  }),
  "POST /api/tokens": intakeRoute.manage({
    summary: "Create a project token, shown only once",
    body: members.TokenCreateBody,
    status: 201,
    answer: members.TokenCreateAnswer,
  }),
  "DELETE /api/tokens/:id": intakeRoute.manage({
    summary: "Revoke a project token; it is refused at once",
    status: 204,
  }),
  "GET /api/read-keys": intakeRoute.own({
    summary: "Read keys, without their secrets",
    answer: members.ReadKeysAnswer,
  }),
  "POST /api/read-keys": intakeRoute.own({
    summary: "Create a read key, shown only once",
    body: members.ReadKeyCreateBody,
    status: 201,
    answer: members.ReadKeyCreateAnswer,
  }),
  "DELETE /api/read-keys/:id": intakeRoute.own({
    summary: "Revoke a read key; it is refused at once",
    status: 204,
  }),
  "GET /api/live": intakeRoute.read({
    summary: "Items as they arrive: server-sent events named item, skipped and end. First the latest items",
    query: live.LiveParameters,
    answer: live.LiveMessages,
    needsPerson: true,
    isStream: true,
  }),
  ...assistantRoutes,
  ...digestRoutes,
  ...ruleRoutes,
  ...workRoutes,
  ...pulseRoutes,
  ...segmentRoutes,
  ...viewRoutes,
  ...importRoutes,
  ...outageRoutes,
  ...destinationRoutes,
  "POST /api/destinations/agree": intakeRoute.anybody({
    summary: "The recipient of an e-mail destination agrees, by the link in the first mail",
    body: destinations.AgreeBody,
    answer: destinations.AgreeAnswer,
  }),
  "POST /api/unsubscribe/:id/:code": intakeRoute.anybody({
    summary: "Unsubscribe the recipient of an e-mail destination with one click (RFC 8058)",
    answer: destinations.AgreeAnswer,
  }),
  "GET /api/webhooks": keyRoute.read({
    summary: "Webhooks, and how their bodies are read",
    answer: sourceSettings.WebhooksAnswer,
  }),
  "POST /api/webhooks": intakeRoute.manage({
    summary:
      "Add a webhook with a mapping, or with the preset of a billing tool; its address is /v1/webhooks/NAME/TOKEN",
    body: sourceSettings.WebhookCreateBody,
    status: 201,
    answer: sourceSettings.WebhookAnswer,
  }),
  "POST /api/webhooks/try": intakeRoute.manage({
    summary: "Try a mapping or a preset on a body; nothing is stored",
    body: sourceSettings.WebhookTryBody,
    maxBodyBytes: sourceSettings.sourceSettingLimits.tryBytes,
    answer: sourceSettings.WebhookTryAnswer,
  }),
  "PATCH /api/webhooks/:id": intakeRoute.manage({
    summary: "Change how a webhook's bodies are read, or the secret of its preset",
    body: sourceSettings.WebhookChangeBody,
    answer: sourceSettings.WebhookAnswer,
  }),
  "DELETE /api/webhooks/:id": intakeRoute.manage({
    summary: "Delete a webhook; requests to it are refused from now on",
    status: 204,
  }),
  "GET /api/stripe": keyRoute.read({
    summary: "Settings for Stripe's events; Stripe sends them to /v1/webhooks/stripe/TOKEN",
    answer: sourceSettings.StripeSettingsAnswer,
  }),
  "PATCH /api/stripe": intakeRoute.manage({
    summary: "Change the settings for Stripe's events",
    body: sourceSettings.StripeSettingsChangeBody,
    answer: sourceSettings.StripeSettingsAnswer,
  }),
} as const;
