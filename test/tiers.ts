/**
 * Says when each file of tests runs. `npm run check` runs the files that only read the code. `npm test` runs every file that
 * is not listed here. `npm run test:long` runs the long files, and the files that run again on a cluster's engines.
 * test/named-paths.test.ts fails when a name here matches no file.
 */

export type Tier = "check" | "test" | "long";

/** Paths under test/ without `.test.ts`. */
const check = ["tidy", "imports", "named-paths", "regular-expressions"];

const cluster = "it needs several nodes and PostgreSQL";
const postgresParts =
  "npm test runs the ledger's contract on PostgreSQL: this file proves one part of it under faults";
const restarts = "it kills, restarts or restores whole installations";

const onePage = "npm test opens every page once: this file proves one page or one part in every detail";
const pageDetails = [
  ...[
    "account-attributes",
    "account-members",
    "avatars",
    "canceling",
    "churned",
    "controls",
    "currencies",
    "departures",
    "destinations",
    "details",
    "entities",
    "entity-ids",
  ],
  ...[
    "events",
    "events-live",
    "exclusions",
    "first-day",
    "health-traits",
    "list-order",
    "lists",
    "long-lists",
    "model",
  ],
  ...[
    "overview",
    "overview-links",
    "pages",
    "palette",
    "revenue",
    "retention",
    "retention-choices",
    "set-ups",
  ],
  ...[
    "settings",
    "settings-people",
    "settings-together",
    "sign-in",
    "slow-figures",
    "sources",
    "statements",
    "subscriptions",
    "typing",
  ],
  ...["webhooks", "work"],
];

const vendorClients =
  "a vendor's own client delivers over errors and a restart; the translation of its messages is tested without it";

/** Slow tests, each with the reason why `npm test` can do without it. A name is a path under test/ without
 * `.test.ts`, or a folder with a slash. */
const long: ReadonlyMap<string, string> = new Map([
  ["long/", "each file takes minutes"],
  ["actions/kill", restarts],
  ["actions/copies", restarts],
  ["analytics/figures-by-rules", "analytics/figures asks the same of an organization with all rules"],
  ["client/failures", "the client against a server that fails in every way, and waits between tries"],
  ["client/kill", restarts],
  ["client/package", "it builds and installs the package"],
  ["cluster/clocks", cluster],
  ["cluster/doctor", cluster],
  ["cluster/held-organization", cluster],
  ["cluster/inbox-room", cluster],
  ["cluster/kills", cluster],
  ["cluster/leading", cluster],
  ["cluster/nodes", cluster],
  ["cluster/outages", cluster],
  ["cluster/rolling", cluster],
  ["deploy/private-files", restarts],
  ["deploy/restore", restarts],
  ["durability/full-disk", restarts],
  ["erasure/accounts", "erasure/erasure erases users in every store; accounts take another minute"],
  ["erasure/keep-events", "it deletes events by age, a mutation of the engine at a time"],
  ["erasure/organizations", "it deletes whole organizations and restarts the server"],
  ["import/report", "it kills imports of 60,000 rows; import/hostile has the report of a whole one"],
  ["ledger/move-in", postgresParts],
  ["ledger/older-form", postgresParts],
  ["ledger/postgres-decisions", postgresParts],
  ["ledger/postgres-leadership", postgresParts],
  ["ledger/postgres-nodes", postgresParts],
  ["ledger/postgres-operation", postgresParts],
  ["ledger/postgres-probe", postgresParts],
  ["ledger/postgres-waiting", postgresParts],
  ["ledger/sqlite-without-memory", "ledger/sqlite has the same contract with the usual caches"],
  ["readme", "it runs the commands of the README on an installation of its own"],
  ["regression/command-line", "it starts forty processes; specification/command-line proves the command"],
  ["regression/exit-codes", "it starts processes; specification/command-line proves the command"],
  ["regression/slow-bodies", "bodies that come slowly while a token or a timezone changes"],
  ["releases/", "it opens the installations of all releases on both engines"],
  ["scoring/activity-order", "it scores four organizations for an order; scoring/verdict has the verdicts"],
  ["scoring/changed-settings", restarts],
  ["scoring/cross-sections", "it trains ten models for each of two published data sets"],
  ["scoring/drift", "it trains at each cut-off of a log that drifts"],
  ["scoring/failures", "it makes each part of a run fail in turn; scoring/runs cuts a run off"],
  [
    "scoring/excluded-scores",
    "it scores with each rule; scoring/stored-snapshots has what computes scores again",
  ],
  [
    "scoring/future-traits",
    "it trains on two years of events; scoring/runs proves that later events and traits are unknown",
  ],
  ["scoring/gate-power", "it judges models of thousands of random histories; scoring/ladder has the gates"],
  ["scoring/many-plans", "it trains a model for many plans; scoring/rungs has the models"],
  [
    "scoring/models",
    "it back-tests three published logs; scoring/backtest has the back-test, scoring/rungs the models",
  ],
  ["scoring/outage-runs", "it trains on a year of events three times; scoring/backtest has the cut-offs"],
  ["scoring/outages-over-http", "it scores around outages; scoring/outages has the rules"],
  ["scoring/rungs-of-kinds", "it trains three organizations; scoring/rungs has the rules"],
  ["scoring/schedule", "it scores nine histories day by day; scoring/runs scores one"],
  ["scoring/settings-preview", "it scores under each setting; scoring/scores has the formulas"],
  ["scoring/snapshot-kill", restarts],
  ["scoring/stopped", "a service whose data has stopped; scoring/rhythm has the rules"],
  ["scoring/thin-kill", restarts],
  ["scoring/thinned-history", "it scores a year of days; scoring/thin-scores has the rule"],
  ["scoring/turns", "it scores many organizations at once"],
  ["sources/customerio", vendorClients],
  ["sources/large-requests", "requests of many thousand items"],
  ["sources/many-held-events", "it holds events up to the limits; sources/held-events proves the rules"],
  ["sources/posthog-node", vendorClients],
  ["sources/rudderstack", vendorClients],
  ["sources/segment-node", vendorClients],
  ["sources/erased-subscriptions", restarts],
  ["specification/backup", restarts],
  ["specification/broken-organization", restarts],
  ["specification/rejected-events", restarts],
  [
    "specification/demo",
    "it makes the demonstration several times; the end-to-end test of the pages makes one",
  ],
  ["specification/exclusions", restarts],
  [
    "specification/health",
    "it lives through a night and cuts off rebuilds; doctor and metrics have tests of their own",
  ],
  ["specification/operation", restarts],
  ["specification/sources", restarts],
  ["warehouse/backup", restarts],
  ["warehouse/clickhouse", "the long tier runs the whole warehouse by HTTP"],
  ["warehouse/crash", restarts],
  ["warehouse/spilled-joins", "it asks about a million users"],
  [
    "warehouse/spilling",
    "it groups and sorts millions of rows; warehouse/embedded proves where they are written",
  ],
  ["warehouse/erase", "erasure/erasure erases in every store"],
  [
    "warehouse/erase-account",
    "erasure/erasure erases in every store; this file counts what an account leaves",
  ],
  ...pageDetails.map((name) => [`dashboard/${name}`, onePage] as const),
]);

/** The folders of which every file runs again on PostgreSQL, or is listed below, and files that ask stores of the ledger
 * which no other file asks. */
const onPostgres = ["specification/", "sources/", "suites/", "actions/work", "erasure/everything"];

const noLedger = "it translates or verifies messages of a source and asks no ledger";
/** Not on PostgreSQL, and why. */
const notOnPostgres: ReadonlyMap<string, string> = new Map([
  ["specification/backup", "the embedded engines' backup: a cluster's engines have tools of their own"],
  ["sources/posthog-body", noLedger],
  ["sources/posthog-translate", noLedger],
  ["sources/parse", noLedger],
  ["sources/segment", noLedger],
  ["sources/stripe", noLedger],
  ["sources/stripe-people", noLedger],
  ["sources/stripe-price", noLedger],
  ["sources/stripe-signature", noLedger],
  ["sources/webhook", noLedger],
]);

/** Their answers must not depend on the node that is asked. */
const onThreeNodes = [
  "specification/identify",
  "specification/track",
  "specification/batch",
  "specification/retries",
  "specification/tenants",
  "specification/generated",
];

/** A file of tests, and the engines that it runs on. */
export interface Run {
  /** `test/specification/track.test.ts on three nodes` */
  readonly name: string;
  readonly file: string;
  /** Further files that run in the same process, after this one. */
  readonly beside?: readonly string[];
  /** The number of nodes on PostgreSQL. 0 for the embedded engines. */
  readonly nodes: number;
}

/** The tier of a file. */
export function tierOf(file: string): Tier {
  if (check.some((name) => isNamed(file, name))) return "check";
  return [...long.keys()].some((name) => isNamed(file, name)) ? "long" : "test";
}

/** The runs of a tier. */
export function runsOf(files: readonly string[], tier: Tier): Run[] {
  const embedded = files
    .filter((file) => tierOf(file) === tier)
    .map((file): Run => ({ name: file, file, nodes: 0 }));
  return tier === "long" ? [...embedded, ...clusterRuns(files)] : embedded;
}

/** Their long files share a process, and in it a server with the scored demonstration and a browser. */
const sharingProcess = "dashboard/";

/** Puts the files that share a process into at most so many runs, and leaves the others as they are. */
export function withSharedProcesses(runs: readonly Run[], processes: number): Run[] {
  const isSharing = ({ file, nodes }: Run) =>
    nodes === 0 && tierOf(file) === "long" && isNamed(file, sharingProcess);
  const sharing = runs.filter(isSharing).map(({ file }) => file);
  const dealt = Array.from({ length: processes }, (_, at) => sharing.filter((_, n) => n % processes === at));
  const shared = dealt.flatMap(([file, ...beside]): Run[] =>
    file === undefined ? [] : [{ name: [file, ...beside].join(" "), file, beside, nodes: 0 }],
  );
  return [...shared, ...runs.filter((run) => !isSharing(run))];
}

/**
 * The runs of `npm test` or `npm run test:long`. With words, only the runs whose name has a word that begins
 * with one of them. Files of the check belong to `npm test` when a word names them.
 */
export function chosenRuns(files: readonly string[], isLong: boolean, words: readonly string[]): Run[] {
  if (words.length === 0) return runsOf(files, isLong ? "long" : "test");
  const runs = isLong ? runsOf(files, "long") : [...runsOf(files, "check"), ...runsOf(files, "test")];
  return runs.filter(({ name }) => words.some((word) => beginsAWord(name, word)));
}

/** Whether a text is in a name from the begin of a word on: `house` is not in `test/warehouse/export.test.ts`. */
function beginsAWord(name: string, text: string): boolean {
  for (let at = name.indexOf(text); at !== -1; at = name.indexOf(text, at + 1)) {
    if (at === 0 || /[^a-z0-9]/i.test(name.charAt(at - 1)) || /^[^a-z0-9]/i.test(text)) return true;
  }
  return false;
}

function clusterRuns(files: readonly string[]): Run[] {
  const excluded = [...notOnPostgres.keys()];
  const again = files.filter(
    (file) => onPostgres.some((name) => isNamed(file, name)) && !excluded.some((name) => isNamed(file, name)),
  );
  const nodes = files.filter((file) => onThreeNodes.some((name) => isNamed(file, name)));
  return [
    ...again.map((file): Run => ({ name: `${file} on PostgreSQL`, file, nodes: 1 })),
    ...nodes.map((file): Run => ({ name: `${file} on three nodes`, file, nodes: 3 })),
  ];
}

/** The names in the lists of this file that match no file. */
export function namesWithoutFiles(files: readonly string[]): string[] {
  const names = [...check, ...long.keys(), ...onPostgres, ...notOnPostgres.keys(), ...onThreeNodes];
  return names.filter((name) => !files.some((file) => isNamed(file, name)));
}

function isNamed(file: string, name: string): boolean {
  return name.endsWith("/") ? file.startsWith(`test/${name}`) : file === `test/${name}.test.ts`;
}
