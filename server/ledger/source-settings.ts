/** What an organization sets of its sources: signing secrets, and how its webhooks are read. */
import type { WebhookMapping } from "../../contract/source-settings.ts";
import type { Actor } from "./audit.ts";

export interface Webhook {
  readonly id: number;
  /** In the address to which it is sent; one webhook of an organization has it. */
  readonly name: string;
  readonly mapping: WebhookMapping;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StripeSettings {
  /** As they are: what is signed cannot be checked with a hash of them. Any of them may have signed. */
  readonly signingSecrets: readonly string[];
  readonly unknownCustomers: "create" | "wait";
  /** Null while nothing was changed. */
  readonly updatedAtMs: number | null;
}

export type StripeSettingsChange = Partial<Pick<StripeSettings, "signingSecrets" | "unknownCustomers">>;

/** Every change and its entry in the audit log are one commit; no entry has a secret. */
export interface SourceSettingsStore {
  /** By name. */
  webhooks(organization: number): Promise<readonly Webhook[]>;
  webhook(organization: number, name: string): Promise<Webhook | undefined>;
  /** @throws Refusal when another webhook has the name, or there are too many. */
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
  /** Changes what is given. */
  changeStripe(
    organization: number,
    change: StripeSettingsChange,
    by: Actor,
    nowMs: number,
  ): Promise<StripeSettings>;
}

/** Who is who, for sources that name people otherwise than by the user's id. */
export interface IdentityStore {
  /** The user to whom an id of a visitor is linked. */
  linkedTo(organization: number, anonymousId: string): Promise<string | undefined>;
  /** Users with this e-mail address, upper and lower case alike: at most `maxUsersWithEmail`. */
  withEmail(organization: number, email: string): Promise<readonly string[]>;
}

/** Enough to tell whether there is one beside a user made of a customer's id. */
export const maxUsersWithEmail = 3;
