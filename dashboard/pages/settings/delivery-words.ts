/** Names of kinds and states on the page. */
import type {
  DeliveryState,
  DestinationKind,
  DestinationState,
  NoticeType,
} from "../../../contract/destinations/destinations.ts";

export const kindWords: Readonly<Record<DestinationKind, string>> = {
  webhook: "Webhook",
  slack: "Slack",
  email: "E-mail",
};

export const stateWords: Readonly<Record<DestinationState, string>> = {
  unconfirmed: "waits for the recipient to agree",
  active: "active",
  paused: "paused",
  disabled: "disabled",
};

export const deliveryWords: Readonly<Record<DeliveryState, string>> = {
  pending: "pending",
  held: "held",
  delivered: "delivered",
  failed: "failed",
  canceled: "canceled",
};

/** Messages about the whole organization, as the form offers them. */
export const noticeWords: Readonly<Record<NoticeType, string>> = {
  "scores.completed": "The day's scores are ready",
  "model.changed": "Another model gives the churn risks",
  "digest.daily": "The digest of each day at 07:00",
  "digest.weekly": "The digest of the week on Mondays at 07:00",
  "source.silent": "A source is silent, and when it sends again",
};
