/** The invented product that is sold by contract: its features, its plans and the kinds of its customers. */
import type { Group } from "../../../simulation/catalogue.ts";

/** Something that users do with the product, by the name of its event. */
export interface Feature {
  readonly name: string;
  /** How often it is chosen by an average member. */
  readonly weight: number;
  /** Whether an account's owner does it five times as often as other members. */
  readonly isForOwners: boolean;
}

const feature = (name: string, weight: number, isForOwners = false): Feature => ({
  name,
  weight,
  isForOwners,
});

/** Every feature, by the name of its event. The order is the same everywhere. */
export const features: readonly Feature[] = [
  feature("board_opened", 9),
  feature("task_completed", 8),
  feature("comment_added", 6),
  feature("search_run", 4),
  feature("report_viewed", 4),
  feature("integration_synced", 4),
  feature("automation_run", 4),
  feature("report_created", 3),
  feature("dashboard_shared", 3),
  feature("export_downloaded", 3),
  feature("help_opened", 3),
  feature("api_called", 3),
  feature("settings_changed", 1, true),
  feature("invoice_viewed", 0.8, true),
  feature("teammate_invited", 0.6, true),
  feature("ticket_opened", 0.5),
];

/** Features that some accounts use more in the last days of a month. */
export const monthEndFeatures: ReadonlySet<string> = new Set([
  "report_created",
  "report_viewed",
  "export_downloaded",
]);

/** A plan with its price a seat and month, in cents. */
export interface PricedPlan {
  readonly name: string;
  readonly weight: number;
  readonly centsPerSeat: number;
}

/** From the cheapest. */
export const pricedPlans: readonly PricedPlan[] = [
  { name: "team", weight: 45, centsPerSeat: 900 },
  { name: "business", weight: 40, centsPerSeat: 1_900 },
  { name: "scale", weight: 15, centsPerSeat: 3_900 },
];

/** An account's first seats, and its risk against the average. */
export interface CompanySize extends Group {
  readonly fewestSeats: number;
  readonly mostSeats: number;
}

export const companySizes: readonly CompanySize[] = [
  { name: "1-10", weight: 30, risk: 1.2, fewestSeats: 2, mostSeats: 4 },
  { name: "11-50", weight: 40, risk: 1, fewestSeats: 4, mostSeats: 9 },
  { name: "51-200", weight: 22, risk: 0.85, fewestSeats: 8, mostSeats: 18 },
  { name: "201-1000", weight: 8, risk: 0.7, fewestSeats: 16, mostSeats: 32 },
];

/** Names of billing events. None of them is activity of a user. */
export const billingEvents: ReadonlySet<string> = new Set([
  "subscription_started",
  "subscription_changed",
  "payment_succeeded",
  "payment_failed",
  "cancellation_scheduled",
  "cancellation_withdrawn",
  "subscription_canceled",
]);

/** The event with which a contract ends. */
export const endEvent = "subscription_canceled";
