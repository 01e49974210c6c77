/**
 * What can be asked of the server, by method and path, with the contract's types: a wrong path, parameter or body does
 * not compile. Only types, so that no schema is carried to the browser; test/dashboard/contract.test.ts holds every line
 * against the server's own table of routes.
 */
import type { Static, TSchema } from "typebox";
import type * as contract from "../../contract/api/api.ts";
import type * as departures from "../../contract/api/departures.ts";
import type * as entities from "../../contract/api/entities.ts";
import type * as figures from "../../contract/api/figures.ts";
import type * as lists from "../../contract/api/lists.ts";
import type * as movers from "../../contract/api/movers.ts";
import type * as overview from "../../contract/api/overview.ts";
import type * as retention from "../../contract/api/retention.ts";
import type * as scores from "../../contract/api/scores.ts";
import type * as traits from "../../contract/api/traits.ts";
import type * as people from "../../contract/members.ts";
import type { OrganizationDeletionParameters } from "../../contract/members.ts";
import type * as settings from "../../contract/settings.ts";
import type * as sourceSettings from "../../contract/source-settings.ts";
import type * as sources from "../../contract/sources.ts";
import type * as views from "../../contract/views.ts";

/** How far a figure is to be trusted at this moment. */
export type Freshness = Static<typeof contract.FreshnessAnswer>;

/** A figure of an organization: its answer says how fresh it is. Parameters that have a default may be left out. */
interface Figure<Query extends TSchema, Answer extends TSchema> {
  readonly query: Partial<Static<Query>>;
  readonly answer: Static<Answer> & { readonly freshness: Freshness };
}

/** What is read without being a figure. */
interface Read<Query extends TSchema, Answer extends TSchema> {
  readonly query: Partial<Static<Query>>;
  readonly answer: Static<Answer>;
}

/** What is changed. */
interface Change<Body, Answer, Query = Record<never, never>> {
  readonly body: Body;
  readonly answer: Answer;
  readonly query: Query;
}

type None = typeof contract.NoParameters;

/** Paths that are read by GET. */
export interface Reads {
  "/api/users": Figure<typeof lists.UserListParameters, typeof lists.UserListAnswer>;
  "/api/users/:userId": Read<None, typeof contract.UserAnswer>;
  "/api/users/:userId/timeline": Read<typeof lists.TimelineParameters, typeof lists.TimelineAnswer>;
  "/api/latest-event": Figure<None, typeof lists.LatestEventAnswer>;
  "/api/traits": Figure<typeof traits.TraitsParameters, typeof traits.TraitsAnswer>;
  "/api/users/:userId/activity": Figure<
    typeof entities.ActivityParameters,
    typeof entities.UserActivityAnswer
  >;
  "/api/users/:userId/events": Figure<typeof entities.OwnEventsParameters, typeof entities.UserEventsAnswer>;
  "/api/accounts/:accountId/activity": Figure<
    typeof entities.ActivityParameters,
    typeof entities.AccountActivityAnswer
  >;
  "/api/accounts/:accountId/events": Figure<
    typeof entities.OwnEventsParameters,
    typeof entities.AccountEventsAnswer
  >;
  "/api/accounts/:accountId/members": Figure<
    typeof entities.AccountMembersParameters,
    typeof entities.AccountMembersAnswer
  >;
  "/api/model/changes": Figure<typeof entities.ModelChangesParameters, typeof entities.ModelChangesAnswer>;
  "/api/accounts": Figure<typeof lists.AccountListParameters, typeof lists.AccountListAnswer>;
  "/api/accounts/:accountId": Figure<typeof lists.AccountParameters, typeof lists.AccountAnswer>;
  "/api/accounts/:accountId/timeline": Read<
    typeof lists.TimelineParameters,
    typeof lists.AccountTimelineAnswer
  >;
  "/api/active-users": Figure<typeof figures.ActiveUsersParameters, typeof figures.ActiveUsersAnswer>;
  "/api/active-days": Figure<typeof figures.ActiveDaysParameters, typeof figures.ActiveDaysAnswer>;
  "/api/lifecycle": Figure<typeof figures.LifecycleParameters, typeof figures.LifecycleAnswer>;
  "/api/adoption": Figure<typeof figures.AdoptionParameters, typeof figures.AdoptionAnswer>;
  "/api/events": Figure<typeof figures.EventNamesParameters, typeof figures.EventNamesAnswer>;
  "/api/properties": Figure<typeof figures.PropertyNamesParameters, typeof figures.PropertyNamesAnswer>;
  "/api/events-over-time": Figure<
    typeof figures.EventsOverTimeParameters,
    typeof figures.EventsOverTimeAnswer
  >;
  "/api/usage-intervals": Figure<
    typeof figures.UsageIntervalsParameters,
    typeof figures.UsageIntervalsAnswer
  >;
  "/api/retention": Figure<typeof retention.RetentionParameters, typeof retention.RetentionAnswer>;
  "/api/retention/comparison": Figure<
    typeof retention.RetentionComparisonParameters,
    typeof retention.RetentionComparisonAnswer
  >;
  "/api/retention/people": Figure<
    typeof retention.RetentionPeopleParameters,
    typeof retention.RetentionPeopleAnswer
  >;
  "/api/users/:userId/score": Figure<typeof scores.ScoreParameters, typeof scores.ScoreAnswer>;
  "/api/users/:userId/score/history": Figure<typeof scores.HistoryParameters, typeof scores.HistoryAnswer>;
  "/api/accounts/:accountId/score": Figure<typeof scores.ScoreParameters, typeof scores.ScoreAnswer>;
  "/api/accounts/:accountId/score/history": Figure<
    typeof scores.HistoryParameters,
    typeof scores.HistoryAnswer
  >;
  "/api/scores/users": Figure<typeof scores.ScoreListParameters, typeof scores.ScoreListAnswer>;
  "/api/scores/accounts": Figure<typeof scores.ScoreListParameters, typeof scores.ScoreListAnswer>;
  "/api/movers": Figure<typeof movers.MoversParameters, typeof movers.MoversAnswer>;
  "/api/score-summary": Figure<typeof scores.SummaryParameters, typeof scores.SummaryAnswer>;
  "/api/week-summary": Figure<None, typeof overview.WeekSummaryAnswer>;
  "/api/health-by-week": Figure<typeof overview.HealthByWeekParameters, typeof overview.HealthByWeekAnswer>;
  "/api/accounts-at-risk": Figure<
    typeof overview.AccountsAtRiskParameters,
    typeof overview.AccountsAtRiskAnswer
  >;
  "/api/model": Figure<typeof scores.ModelParameters, typeof scores.ModelAnswer>;
  "/api/ingestion-warnings": Read<typeof contract.WarningsParameters, typeof contract.WarningsAnswer>;
  "/api/rejected-events": Read<
    typeof contract.RejectedEventsParameters,
    typeof contract.RejectedEventsAnswer
  >;
  "/api/exclusions": Read<None, typeof contract.ExclusionsAnswer>;
  "/api/exclusions/preview": Read<
    typeof contract.ExclusionParameters,
    typeof contract.ExclusionPreviewAnswer
  >;
  "/api/health-check": Read<None, typeof contract.HealthCheckAnswer>;
  "/api/sources": Read<None, typeof sources.SourcesAnswer>;
  "/api/departures": Read<None, typeof departures.DeparturesAnswer>;
  "/api/settings": Read<None, typeof settings.SettingsAnswer>;
  "/api/settings/history": Read<
    typeof settings.SettingsHistoryParameters,
    typeof settings.SettingsHistoryAnswer
  >;
  "/api/organization": Read<None, typeof people.OrganizationAnswer>;
  "/api/members": Read<None, typeof people.MembersAnswer>;
  "/api/views": Read<None, typeof views.ViewsAnswer>;
  "/api/webhooks": Read<None, typeof sourceSettings.WebhooksAnswer>;
  "/api/stripe": Read<None, typeof sourceSettings.StripeSettingsAnswer>;
  "/api/tokens": Read<None, typeof people.TokensAnswer>;
  "/api/read-keys": Read<None, typeof people.ReadKeysAnswer>;
  "/api/audit-log": Read<typeof people.AuditLogParameters, typeof people.AuditLogAnswer>;
}

/** What is changed in an organization, by method and path. */
export interface Changes {
  "DELETE /api/users/:userId": Change<
    undefined,
    Static<typeof contract.ErasureAnswer>,
    Partial<Static<typeof contract.EraseParameters>>
  >;
  "DELETE /api/accounts/:accountId": Change<undefined, Static<typeof contract.AccountErasureAnswer>>;
  "POST /api/rejected-events/retry": Change<
    undefined,
    Static<typeof contract.SelectedAnswer>,
    Partial<Static<typeof contract.SelectionParameters>>
  >;
  "DELETE /api/rejected-events": Change<
    undefined,
    Static<typeof contract.SelectedAnswer>,
    Partial<Static<typeof contract.SelectionParameters>>
  >;
  "POST /api/scores": Change<undefined, Static<typeof scores.ScoreNowAnswer>>;
  "POST /api/exclusions": Change<
    undefined,
    Static<typeof contract.ExclusionAnswer>,
    Partial<Static<typeof contract.ExclusionParameters>>
  >;
  "DELETE /api/exclusions/:id": Change<undefined, Static<typeof contract.DoneAnswer>>;
  "POST /api/sources/:source/retire": Change<undefined, Static<typeof sources.SourceRetiredAnswer>>;
  "PATCH /api/settings": Change<
    Static<typeof settings.SettingsChangeBody>,
    Static<typeof settings.SettingsAnswer>
  >;
  "DELETE /api/organization": Change<undefined, null, Static<typeof OrganizationDeletionParameters>>;
  "PATCH /api/organization": Change<
    Static<typeof people.OrganizationChangeBody>,
    Static<typeof people.OrganizationAnswer>
  >;
  "PATCH /api/members/:id": Change<
    Static<typeof people.MemberChangeBody>,
    Static<typeof people.MemberAnswer>
  >;
  "DELETE /api/members/:id": Change<
    undefined,
    undefined,
    Partial<Static<typeof people.MemberRemovalParameters>>
  >;
  "POST /api/invitations": Change<
    Static<typeof people.InvitationCreateBody>,
    Static<typeof people.InvitationCreateAnswer>
  >;
  "DELETE /api/invitations/:id": Change<undefined, undefined>;
  "POST /api/views": Change<Static<typeof views.ViewCreateBody>, Static<typeof views.ViewAnswer>>;
  "PATCH /api/views/:id": Change<Static<typeof views.ViewChangeBody>, Static<typeof views.ViewAnswer>>;
  "DELETE /api/views/:id": Change<undefined, undefined>;
  "POST /api/webhooks": Change<
    Static<typeof sourceSettings.WebhookCreateBody>,
    Static<typeof sourceSettings.WebhookAnswer>
  >;
  "POST /api/webhooks/try": Change<
    Static<typeof sourceSettings.WebhookTryBody>,
    Static<typeof sourceSettings.WebhookTryAnswer>
  >;
  "PATCH /api/webhooks/:id": Change<
    Static<typeof sourceSettings.WebhookChangeBody>,
    Static<typeof sourceSettings.WebhookAnswer>
  >;
  "DELETE /api/webhooks/:id": Change<undefined, undefined>;
  "PATCH /api/stripe": Change<
    sourceSettings.StripeSettingsChangeBody,
    Static<typeof sourceSettings.StripeSettingsAnswer>
  >;
  "POST /api/tokens": Change<Static<typeof people.TokenCreateBody>, Static<typeof people.TokenCreateAnswer>>;
  "DELETE /api/tokens/:id": Change<undefined, undefined>;
  "POST /api/read-keys": Change<
    Static<typeof people.ReadKeyCreateBody>,
    Static<typeof people.ReadKeyCreateAnswer>
  >;
  "DELETE /api/read-keys/:id": Change<undefined, undefined>;
}

/** What people do for themselves, in no organization. */
export interface PersonalChanges {
  "POST /api/claim": Change<Static<typeof people.ClaimBody>, people.SessionAnswer>;
  "POST /api/session": Change<Static<typeof people.SignInBody>, people.SessionAnswer>;
  "DELETE /api/session": Change<undefined, undefined>;
  "DELETE /api/sessions": Change<undefined, undefined>;
  "PATCH /api/person": Change<Static<typeof people.PersonChangeBody>, Static<typeof people.PersonAnswer>>;
  "POST /api/invitations/lookup": Change<
    Static<typeof people.InvitationLookupBody>,
    Static<typeof people.InvitationLookupAnswer>
  >;
  "POST /api/invitations/accept": Change<Static<typeof people.InvitationAcceptBody>, people.SessionAnswer>;
  "POST /api/password": Change<Static<typeof people.PasswordResetBody>, people.SessionAnswer>;
  "POST /api/organizations": Change<
    Static<typeof people.OrganizationCreateBody>,
    Static<typeof people.OrganizationCreateAnswer>
  >;
}

/** The names after colons in a path, each with its value; nothing for a path without. */
export type PathParameters<Path extends string> = Path extends `${infer Start}/${infer Rest}`
  ? PathParameters<Start> & PathParameters<Rest>
  : Path extends `:${infer Name}`
    ? { readonly [Key in Name]: string | number }
    : unknown;
