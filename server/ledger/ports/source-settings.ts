/** An organization's settings of its sources: signing secrets, and the mapping of its webhooks. */

import { Refusal } from "../../../contract/refusal.ts";
import { sourceSettingLimits, type WebhookMapping } from "../../../contract/source-settings.ts";
import type { Actor, AuditNote } from "./audit.ts";

export interface Webhook {
  readonly id: number;
  /** A part of its address, unique among the organization's webhooks. */
  readonly name: string;
  readonly mapping: WebhookMapping;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StripeSettings {
  /** In plain text: a signature cannot be checked with a hash of the secret. Any of them may be used for a signature. */
  readonly signingSecrets: readonly string[];
  readonly unknownCustomers: "create" | "wait";
  /** Null before the first change. */
  readonly updatedAtMs: number | null;
}

export type StripeSettingsChange = Partial<Pick<StripeSettings, "signingSecrets" | "unknownCustomers">>;

/** Every change and its entry in the audit log are one commit. No entry has a secret. */
export interface SourceSettingsStore {
  /** Sorted by name. */
  webhooks(organization: number): Promise<readonly Webhook[]>;
  webhook(organization: number, name: string): Promise<Webhook | undefined>;
  /** @throws Refusal when another webhook has the name, there are too many, or the organization does not exist. */
  addWebhook(
    organization: number,
    webhook: Pick<Webhook, "name" | "mapping">,
    by: Actor,
    nowMs: number,
  ): Promise<Webhook>;
  /** @returns undefined when the organization has no such webhook. */
  changeWebhook(
    organization: number,
    id: number,
    mapping: WebhookMapping,
    by: Actor,
    nowMs: number,
  ): Promise<Webhook | undefined>;
  /** @returns false when the organization has no such webhook. */
  removeWebhook(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean>;

  stripe(organization: number): Promise<StripeSettings>;
  /** Changes the given fields. @throws Refusal when the organization does not exist. */
  changeStripe(
    organization: number,
    change: StripeSettingsChange,
    by: Actor,
    nowMs: number,
  ): Promise<StripeSettings>;
}

/** Look-ups of users, for sources that identify people without the user's id. */
export interface IdentityStore {
  /** The user to whom a visitor's id is linked. */
  linkedTo(organization: number, anonymousId: string): Promise<string | undefined>;
  /** Users with this e-mail address, upper and lower case alike: at most `maxUsersWithEmail`. */
  withEmail(organization: number, email: string): Promise<readonly string[]>;
}

/** Enough to find one beside a user that was made from a customer's id. */
export const maxUsersWithEmail = 3;

/** The stored settings of Stripe. */
export type StripeStored = Omit<StripeSettings, "updatedAtMs">;

/** The initial settings of Stripe. */
export const stripeInitially: StripeStored = { signingSecrets: [], unknownCustomers: "wait" };

/** The entry of a webhook that was added or deleted. */
export function webhookNote(
  action: "webhook.created" | "webhook.deleted",
  { name, mapping }: Pick<Webhook, "name" | "mapping">,
): AuditNote {
  const summary = action === "webhook.created" ? `Added the webhook ${name}` : `Deleted the webhook ${name}`;
  return { action, summary, detail: { name, mapping } };
}

/** The entry of a webhook whose mapping was changed. */
export function webhookChangedNote({ name, mapping }: Webhook, to: WebhookMapping): AuditNote {
  return {
    action: "webhook.changed",
    summary: `Changed how the webhook ${name} is read`,
    detail: { name, from: mapping, to },
  };
}

/** The entry of changed settings of Stripe. Undefined if nothing changed. It has only the last four characters of
 * secrets. */
export function stripeChangedNote(before: StripeStored, after: StripeStored): AuditNote | undefined {
  const changed = (["signingSecrets", "unknownCustomers"] as const).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  if (changed.length === 0) return undefined;
  return {
    action: "stripe.changed",
    summary: `Changed of Stripe: ${changed.map((key) => stripeWords[key]).join(", ")}`,
    detail: { from: withoutSecrets(before), to: withoutSecrets(after) },
  };
}

const stripeWords = { signingSecrets: "signing secrets", unknownCustomers: "unknown customers" } as const;

function withoutSecrets({ signingSecrets, unknownCustomers }: StripeStored) {
  return { signingSecrets: signingSecrets.map((secret) => secret.slice(-4)), unknownCustomers };
}

/** The error when another webhook of the organization has the name. */
export function webhookNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a webhook called ${name} already.`);
}

/** @param webhooks the number of the organization's webhooks
 * @throws Refusal when the limit is reached */
export function refuseTooManyWebhooks(webhooks: number): void {
  const { webhooksPerOrganization: most } = sourceSettingLimits;
  if (webhooks < most) return;
  throw new Refusal(`There are ${most} webhooks already: delete one before you add another.`);
}
