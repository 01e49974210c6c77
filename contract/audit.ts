/** The audit log of an organization as JSON Schema: what was changed by whom. */
import Type from "typebox";
import { instant, nullable } from "./api.ts";

export const auditLimits = {
  entriesPerPage: 200,
  keptDays: 730,
  entriesPerOrganization: 100_000,
} as const;

/** What changes are called in the audit log. */
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
  "invitation.created",
  "invitation.revoked",
  "token.created",
  "token.revoked",
  "read_key.created",
  "read_key.revoked",
  "settings.changed",
  "exclusion.added",
  "exclusion.removed",
  "dead_letters.retried",
  "dead_letters.dropped",
  "user.erased",
] as const;
export type AuditAction = (typeof auditActions)[number];

export const AuditLogParameters = Type.Object(
  {
    limit: Type.Integer({
      minimum: 1,
      maximum: auditLimits.entriesPerPage,
      default: 50,
      description: "At most this many entries.",
    }),
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Older than the entry with this id.",
      }),
    ),
  },
  { additionalProperties: false },
);
export const AuditLogAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      id: Type.Integer({ minimum: 1 }),
      at: instant("When it was changed."),
      person: nullable(Type.Object({ id: Type.Integer({ minimum: 1 }), name: Type.String() }), {
        description: "Null: the command line, a read key or the service itself; `detail.by` says which.",
      }),
      action: Type.Enum([...auditActions]),
      summary: Type.String({ description: "In words." }),
      detail: Type.Record(Type.String(), Type.Unknown(), {
        description: "What it was about; `from` and `to` where something was changed.",
      }),
    }),
    { description: "The newest first." },
  ),
});
