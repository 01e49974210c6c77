/** The entries of an organization's audit log, and its limits. */

export const auditLimits = {
  entriesPerPage: 200,
  keptDays: 730,
  entriesPerOrganization: 100_000,
} as const;

/** Names of changes in the audit log. */
export const auditActions = [
  "installation.claimed",
  "organization.created",
  "organization.changed",
  "member.joined",
  "member.role_changed",
  "member.removed",
  "member.reset_link_created",
  "member.password_reset",
  "member.profile_changed",
  "member.sign_in_held",
  "invitation.created",
  "invitation.revoked",
  "token.created",
  "token.revoked",
  "read_key.created",
  "read_key.revoked",
  "settings.changed",
  "settings.restored",
  "exclusion.added",
  "exclusion.removed",
  "outage.added",
  "outage.removed",
  "rejected_events.retried",
  "rejected_events.dropped",
  "user.erased",
  "account.erased",
  "view.created",
  "view.changed",
  "view.deleted",
  "source.retired",
  "webhook.created",
  "webhook.changed",
  "webhook.deleted",
  "stripe.changed",
] as const;
export type AuditAction = (typeof auditActions)[number];
