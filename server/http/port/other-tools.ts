/** Tells the clients of other tools, at paths that nothing answers, how they can send here. */

/** `*` is one part of a path. */
const hints: readonly (readonly [paths: readonly string[], hint: string])[] = [
  [
    ["/2/httpapi", "/httpapi", "/groupidentify"],
    "Amplitude's clients cannot send here: send by POST /batch. rekindle import --from amplitude reads its exports.",
  ],
  [
    ["/api/v1/customers/*", "/api/v1/customers/*/events", "/api/v2/entity", "/api/v2/batch"],
    "Customer.io's Track API is not read. Its clients cdp-analytics-node and cdp-analytics-browser send here.",
  ],
  [
    ["/engage", "/groups", "/import"],
    "Mixpanel's clients send here with an address that ends with /mixpanel: path or api_host.",
  ],
  [["/api/track", "/api/add_user_properties"], "Heap's API is not read: send by POST /track or /batch."],
  [
    ["/sdk/identify", "/sdk/track", "/sdk/group", "/sdk/page", "/sdk/batch"],
    "June's API is not read. Segment's clients send the same calls to /v1.",
  ],
  [
    ["/v1/projects/*/settings"],
    "Segment's settings of a source are not served: give analytics-next its cdnSettings.",
  ],
  [
    ["/sourceConfig", "/sourceConfig/v1"],
    "RudderStack's settings of a source are not served: give the SDK getSourceConfig.",
  ],
  [["/api/event"], "Plausible's API is not read: it names no users. Send by POST /track or /batch."],
  [["/api/send"], "Umami's API is not read: send by POST /track or /batch."],
  [["/matomo.php", "/piwik.php"], "Matomo's API is not read: send by POST /track or /batch."],
  [
    ["/g/collect", "/mp/collect", "/collect"],
    "Google Analytics' API is not read: send by POST /track or /batch.",
  ],
  [
    ["/com.snowplowanalytics.snowplow/tp2"],
    "Snowplow's collector is not replaced: send by POST /track or /batch.",
  ],
];

const patterns = hints.flatMap(([paths, hint]) => paths.map((path) => ({ parts: path.split("/"), hint })));

/** Where to look, for a path of another tool; undefined for all other paths. @param path without query and
 * trailing slash */
export function hintOfOtherTool(path: string): string | undefined {
  const parts = path.split("/");
  return patterns.find(
    (pattern) =>
      pattern.parts.length === parts.length &&
      pattern.parts.every((part, index) => part === "*" || part === parts[index]),
  )?.hint;
}
