/** Terms that an assistant has to know to read figures. */
export const glossary: readonly (readonly [term: string, meaning: string])[] = [
  ["user, account", "A person who uses the product; the company this person belongs to."],
  [
    "engagement event, passive event",
    "Something a user did; an event that is no activity, such as a mail that was sent.",
  ],
  [
    "churn target",
    "What counts as churn: silence for a churn horizon, an event, a trait, or the end of all subscriptions.",
  ],
  ["churn horizon", "The days of a prediction, and of silence after which a user or account is inactive."],
  [
    "churn risk",
    "The probability of churn within the churn horizon, 0 to 1. Null where no model is good enough.",
  ],
  [
    "health",
    "0 to 100. Healthy from 70, watch from 40, at risk below. At most 39 with a high risk or a scheduled end.",
  ],
  [
    "engagement, momentum",
    "0 to 100: how much somebody uses the product; 50 means as much as four weeks ago.",
  ],
  ["state", "no_data, new, active, inactive, canceling or churned."],
  ["risk band", "low, medium or high, by the base rate or the settings."],
  ["base rate", "The share that churned in the back-test: what happens without looking at anything."],
  ["interval", "low and high: the range in which the true value lies 95 times of 100."],
  ["MRR, NRR, GRR", "Monthly recurring revenue; what payers kept of it, with and without growth."],
  ["expected loss", "MRR that is scheduled to end, plus churn risk × the other MRR."],
  ["call list", "Whom to call first. The order is that of the pages, the digest and messages."],
  [
    "control group",
    "Customers of an alert rule who get no message and no call, to compare with. Never call them.",
  ],
  ["alert", "A rule fired for a user or account. It is open until it is handled or its condition ends."],
  ["outcome", "What came of the work on an alert: saved, lost, noAnswer, wrongAlarm, other."],
  ["segment", "A saved filter over users or accounts, or a fixed list of them."],
];
