/** Names of settings on the pages. */

const names: Readonly<Record<string, string>> = {
  churnHorizonDays: "Churn horizon, in days",
  passiveEvents: "Passive events",
  keyEvents: "Key events",
  "churnTargets.user": "Churn of users",
  "churnTargets.account": "Churn of accounts",
  ordinaryEvents: "Events that do not mean churn",
  weekStart: "First day of the week",
  name: "Name",
  timezone: "Timezone",
  requestsPerSecond: "Requests per second",
  itemsPerSecond: "Items per second",
  keepEventsDays: "Days that raw events are kept",
};

/** The name of one of the API's settings, or of a single weight, e.g. eventWeights.logged_in. */
export function settingName(setting: string): string {
  const [group, name] = setting.split(/\.(.*)/s);
  if (group === "eventWeights") return `Weight of ${name}`;
  return group === "healthWeights" ? `Weight of ${name} in health` : (names[setting] ?? setting);
}

/** The value of a setting as text. */
export function settingValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(settingValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
