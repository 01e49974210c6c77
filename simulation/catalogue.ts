/** The invented product: its plans, its customers' kinds, and the events that its users leave behind. */

export type Properties = Readonly<Record<string, string | number | boolean>>;

/** The meaning of an event: `passive` ones are done to the user, not by the user. */
export type EventRole = "login" | "core" | "advanced" | "key" | "passive" | "billing";

export interface EventKind {
  readonly name: string;
  readonly role: EventRole;
  /** How often it is chosen among those that a user has; 0 for those that have occasions of their own. */
  readonly weight: number;
  /** The place in `plans` of the first plan that has it. */
  readonly fromPlan: number;
  /** One of these comes with each event. */
  readonly properties: readonly Properties[];
}

const kind = (
  name: string,
  role: EventRole,
  weight: number,
  fromPlan: number,
  ...properties: readonly Properties[]
): EventKind => ({ name, role, weight, fromPlan, properties });

/** Every event there is, with its role. */
export const eventKinds: readonly EventKind[] = [
  kind("signed_in", "login", 0, 0, { device: "desktop" }, { device: "desktop" }, { device: "mobile" }),
  kind("project_opened", "core", 3, 0, { view: "board" }, { view: "list" }, { view: "calendar" }),
  kind("task_completed", "core", 3, 0, { minutes: 5 }, { minutes: 20 }, { minutes: 45 }, { minutes: 90 }),
  kind("comment_added", "core", 2, 0, { mentions: 0 }, { mentions: 1 }, { mentions: 2 }),
  kind("report_created", "key", 0.8, 0, { pages: 1 }, { pages: 3 }, { pages: 8 }),
  kind("teammate_invited", "key", 0, 0),
  kind("export_downloaded", "advanced", 0.8, 0, { format: "csv" }, { format: "pdf" }),
  kind("integration_synced", "advanced", 1.2, 1, { tool: "calendar" }, { tool: "chat" }, { tool: "mail" }),
  kind("dashboard_shared", "advanced", 0.9, 2, { audience: "team" }, { audience: "client" }),
  kind("automation_run", "advanced", 2, 2, { steps: 2 }, { steps: 4 }, { steps: 9 }),
  kind("api_called", "advanced", 2, 3, { method: "GET" }, { method: "POST" }),
  kind("email_opened", "passive", 0, 0, { campaign: "newsletter" }),
  kind("plan_changed", "billing", 0, 0),
  kind("subscription_canceled", "billing", 0, 0),
];

/** The event of this name. @throws RangeError when there is none. */
export function eventKind(name: string): EventKind {
  const found = eventKinds.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`there is no event ${name}`);
  return found;
}

/** The kinds of work that a user chooses from; the order is the same everywhere. */
export const workKinds: readonly EventKind[] = eventKinds.filter(({ weight }) => weight > 0);

/** A group of customers: how many are in it, and how much likelier than the average they are to leave. */
export interface Group {
  readonly name: string;
  readonly weight: number;
  readonly risk: number;
}

/** From the smallest. */
export const plans: readonly Group[] = [
  { name: "free", weight: 30, risk: 1.7 },
  { name: "starter", weight: 35, risk: 1.1 },
  { name: "pro", weight: 25, risk: 0.7 },
  { name: "enterprise", weight: 10, risk: 0.4 },
];

export const channels: readonly Group[] = [
  { name: "organic_search", weight: 28, risk: 1 },
  { name: "paid_ads", weight: 22, risk: 1.5 },
  { name: "referral", weight: 18, risk: 0.65 },
  { name: "partner", weight: 12, risk: 0.8 },
  { name: "outbound", weight: 12, risk: 1.2 },
  { name: "content", weight: 8, risk: 0.9 },
];

/** Seats that an account of this size has in the end. */
export interface Size extends Group {
  readonly fewestSeats: number;
  readonly mostSeats: number;
  /** Weights of `plans` for an account of this size. */
  readonly plans: readonly number[];
}

export const sizes: readonly Size[] = [
  { name: "1-10", weight: 67, risk: 1.5, fewestSeats: 1, mostSeats: 2, plans: [25, 60, 15, 0] },
  { name: "11-50", weight: 18, risk: 1, fewestSeats: 2, mostSeats: 6, plans: [20, 48, 30, 2] },
  { name: "51-200", weight: 9, risk: 0.8, fewestSeats: 4, mostSeats: 12, plans: [10, 35, 45, 10] },
  { name: "201-1000", weight: 4, risk: 0.55, fewestSeats: 8, mostSeats: 24, plans: [5, 15, 50, 30] },
  { name: "1001+", weight: 2, risk: 0.4, fewestSeats: 15, mostSeats: 45, plans: [0, 5, 40, 55] },
];

/** Segments, and the trades of their companies. */
export const segments: readonly {
  readonly name: string;
  readonly weight: number;
  readonly trades: readonly string[];
}[] = [
  { name: "agency", weight: 25, trades: ["Studio", "Creative", "Partners", "Media"] },
  { name: "ecommerce", weight: 22, trades: ["Outfitters", "Foods", "Goods", "Market"] },
  { name: "software", weight: 25, trades: ["Systems", "Labs", "Robotics", "Cloud"] },
  { name: "logistics", weight: 14, trades: ["Logistics", "Freight", "Couriers", "Harbour"] },
  { name: "education", weight: 14, trades: ["Academy", "Learning", "College", "Press"] },
];
