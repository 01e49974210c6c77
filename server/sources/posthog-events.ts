/** Maps PostHog's events, properties and groups, by tables. */

/** The meaning of an event: a fact about a person, an activity, a passive event, or nothing. */
export type Meaning = "identify" | "alias" | "group" | "activity" | "passive" | "ignored";

/** PostHog's own events by name, with a readable name for those that have none. */
const ownEvents: Readonly<Record<string, { readonly meaning: Meaning; readonly name?: string }>> = {
  $identify: { meaning: "identify" },
  $set: { meaning: "identify" },
  $create_alias: { meaning: "alias" },
  $merge_dangerously: { meaning: "alias" },
  $groupidentify: { meaning: "group" },

  $pageview: { meaning: "activity", name: "page_viewed" },
  $screen: { meaning: "activity", name: "screen_viewed" },

  // A click on any element is not a valuable action, and its page counts already.
  $autocapture: { meaning: "passive", name: "clicked" },
  $rageclick: { meaning: "passive", name: "rage_clicked" },
  $dead_click: { meaning: "passive", name: "dead_clicked" },
  $exception: { meaning: "passive", name: "error_seen" },
  "survey shown": { meaning: "passive" },
  "survey dismissed": { meaning: "passive" },
  "Application Installed": { meaning: "passive" },
  "Application Updated": { meaning: "passive" },
  "Application Backgrounded": { meaning: "passive" },

  // About the page, the browser or PostHog itself, not about a user's action.
  $pageleave: { meaning: "ignored" },
  $bot_pageview: { meaning: "ignored" },
  $web_vitals: { meaning: "ignored" },
  $performance_event: { meaning: "ignored" },
  $feature_flag_called: { meaning: "ignored" },
  $feature_view: { meaning: "ignored" },
  $feature_interaction: { meaning: "ignored" },
  $experiment_started: { meaning: "ignored" },
  $snapshot: { meaning: "ignored" },
  $snapshot_items: { meaning: "ignored" },
  $opt_in: { meaning: "ignored" },
  $csp_violation: { meaning: "ignored" },
  $$heatmap: { meaning: "ignored" },
  $$client_ingestion_warning: { meaning: "ignored" },
};

/** The meaning and name of an event. PostHog's own events that the table lacks are passive. */
export function meaningOf(event: string): { readonly meaning: Meaning; readonly name: string } {
  const own = Object.hasOwn(ownEvents, event) ? ownEvents[event] : undefined;
  if (own !== undefined) return { name: event, ...own };
  return { meaning: event.startsWith("$") ? "passive" : "activity", name: event };
}

/** PostHog's own properties that describe an event, with their names here. The others, some forty an event,
 * describe the browser. */
const ownProperties: Readonly<Record<string, string>> = {
  $current_url: "url",
  $pathname: "path",
  $screen_name: "screen",
  $referrer: "referrer",
  $device_type: "device_type",
  $browser: "browser",
  $os: "os",
  $event_type: "event_type",
  $el_text: "text",
  $exception_type: "error_type",
  $exception_message: "error_message",
};

/**
 * Where a visit comes from, by parameters of its address. posthog-js sends all of these with every person,
 * null for those that the address lacks: 26 traits without a value.
 * https://posthog.com/docs/data/utm-segmentation
 */
const campaignParameters: ReadonlySet<string> = new Set(
  "utm_source utm_medium utm_campaign utm_content utm_term gad_source mc_cid gclid gclsrc dclid gbraid wbraid fbclid msclkid"
    .concat(" twclid li_fat_id igshid ttclid rdt_cid epik qclid sccid oppref bfcid irclid _kx")
    .split(" "),
);

/** Whether a property says only that the page's address lacks a parameter. */
export function isAbsentParameter([name, value]: readonly [string, unknown]): boolean {
  return value === null && campaignParameters.has(name);
}

/** Never stored: the project's token, and the event's own id. */
const envelopeProperties: ReadonlySet<string> = new Set(["token", "api_key", "distinct_id"]);

/** An event's properties under their names here. A property that the company named itself wins. */
export function propertiesOf(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(properties)) {
    if (isAbsentParameter([key, value])) continue;
    const name = Object.hasOwn(ownProperties, key) ? ownProperties[key] : undefined;
    if (name !== undefined && !Object.hasOwn(properties, name)) kept.push([name, value]);
    else if (!key.startsWith("$") && !envelopeProperties.has(key)) kept.push([key, value]);
  }
  return Object.fromEntries(kept);
}

/** Types of groups that are accounts, the best first. Groups of other types, e.g. projects, are not
 * accounts. */
const accountGroupTypes = ["company", "organization", "organisation", "account", "workspace", "customer"];

/** Whether a group of this type is an account. */
export function isAccountGroup(type: unknown): boolean {
  return typeof type === "string" && accountGroupTypes.includes(type.toLowerCase());
}

/** The type and key of the group that is the account. */
export function accountGroup(groups: Readonly<Record<string, unknown>>): unknown {
  const keys = new Map(Object.entries(groups).map(([type, key]) => [type.toLowerCase(), key]));
  return accountGroupTypes.map((type) => keys.get(type)).find((key) => key !== undefined && key !== null);
}
