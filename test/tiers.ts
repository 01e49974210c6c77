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

/** The same reason for several files. */
function because(reason: string, names: string): [string, string][] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => [name, reason]);
}

const pages = because(
  "npm test opens every page once: this file proves one page or one part in every detail",
  `account-attributes account-members alert-rules avatars both-labels canceling churned controls currencies
  departures destinations details entities entity-ids events events-live exclusions first-day
  health-traits inbox list-order lists long-lists model overview overview-links pages palette revenue
  revenue-segments retention retention-choices segments segments-of-scores set-ups settings settings-people
  settings-together sign-in slow-figures sources statements subscriptions typing webhooks work`,
).map(([name, reason]): [string, string] => [`dashboard/${name}`, reason]);

/** Files that take ten seconds of processor time, by what npm test has in their place. */
const fullLength = [
  ...because(
    "it asks by HTTP what npm test asks of the modules, and what the end-to-end test of the pages shows",
    `actions/controls-over-http actions/destinations actions/segments-over-http analytics/departures
    analytics/entities analytics/hostile analytics/people analytics/contacts analytics/retention-comparison
    scoring/scores-over-http sources/presets/requests specification/export specification/limits
    specification/read-keys specification/retention specification/retries specification/revenue
    specification/settings-command`,
  ),
  ...because(
    "it compares random histories with a reference; the rules by themselves are in npm test",
    `actions/decisions-of-runs actions/segments-in-past analytics/revenue analytics/revenue-segments
    analytics/revenue-splits revenue/at-risk-beside-lists
    analytics/owners analytics/revenue-at-risk ledger/inbox-model ledger/message-ids scoring/account-attributes
    scoring/base-rate scoring/change-of-models scoring/kept-groups scoring/snapshot-upkeep scoring/stored-fits simulation/billing
    warehouse/exclusions warehouse/export`,
  ),
  ...because(
    "it starts servers of its own; people/every-route and people/tenants prove who may do what",
    `people/command people/expiry people/figures people/guards people/headers people/hosts people/limits
    people/live people/organization people/outlived people/pacing people/sessions people/strangers
    people/views`,
  ),
  ...because(
    "it erases in every store, which writes the engine's parts anew; the ledger's contract has erasures on both engines",
    "erasure/",
  ),
  ...because(
    "it sends published lists of bad texts and formats; the specification has rules of each",
    "suites/",
  ),
  ...because(
    "it imports whole files; import/mapping has the translation of rows",
    "import/exports import/hostile import/waiting",
  ),
  ...because(
    "it starts processes, and waits for them; npm test has their rules",
    `actions/commands-without-server analytics/crowd ledger/postgres-audit sources/browser sources/unknown-tokens
    deploy/image specification/account-attributes specification/command-line specification/metrics`,
  ),
];

const vendorClients =
  "a vendor's own client delivers over errors and a restart; the translation of its messages is tested without it";

/** Slow tests, each with the reason why `npm test` can do without it. A name is a path under test/ without
 * `.test.ts`, or a folder with a slash. */
const long: ReadonlyMap<string, string> = new Map([
  ["long/", "each file takes minutes"],
  ...because(
    restarts,
    `actions/kill actions/copies client/kill deploy/private-files deploy/restore
    durability/full-disk scoring/changed-settings scoring/run-kill scoring/snapshot-kill scoring/thin-kill
    sources/erased-subscriptions specification/backup specification/broken-organization
    specification/rejected-events specification/exclusions specification/operation
    specification/sources warehouse/backup warehouse/crash`,
  ),
  ...because(
    "it waits for looks of ten seconds; actions/alert-run, rule-decisions, segments-of-rules and segment-keeper have the rules",
    `actions/alerts-over-http actions/segment-history-over-http
    actions/segment-rules-over-http`,
  ),
  [
    "actions/digest-over-http",
    "it waits for looks of ten seconds; actions/digest and actions/digest-reader have the content",
  ],
  [
    "actions/rule-preview-over-http",
    "it scores 17 days; actions/readings and actions/preview-figures prove the figures",
  ],
  ["analytics/figures-by-rules", "analytics/figures asks the same of an organization with all rules"],
  ["client/failures", "the client against a server that fails in every way, and waits between tries"],
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
  ["import/report", "it kills imports of 60,000 rows; import/mapping has the translation of rows"],
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
  ["regression/command-line", "it starts forty processes"],
  ["regression/exit-codes", "it starts processes"],
  ["regression/slow-bodies", "bodies that come slowly while a token or a timezone changes"],
  ["releases/", "it opens the installations of all releases on both engines"],
  ["scoring/activity-order", "it scores four organizations for an order; scoring/verdict has the verdicts"],
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
  ["scoring/horizon-preview", "it trains three times for a preview; scoring/ladder has the rules"],
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
  ["scoring/stopped", "a service whose data has stopped; scoring/rhythm has the rules"],
  ["scoring/thinned-history", "it scores a year of days; scoring/thin-scores has the rule"],
  ["scoring/turns", "it scores many organizations at once"],
  ["sources/customerio", vendorClients],
  ["sources/large-requests", "requests of many thousand items"],
  ["sources/many-held-events", "it holds events up to the limits; sources/held-events proves the rules"],
  ["sources/posthog-node", vendorClients],
  ["sources/rudderstack", vendorClients],
  ["sources/segment-node", vendorClients],
  [
    "specification/demo",
    "it makes the demonstration several times; the end-to-end test of the pages makes one",
  ],
  [
    "specification/health",
    "it lives through a night and cuts off rebuilds; doctor and metrics have tests of their own",
  ],
  ["warehouse/clickhouse", "the long tier runs the whole warehouse by HTTP"],
  ["warehouse/spilled-joins", "it asks about a million users"],
  [
    "warehouse/spilling",
    "it groups and sorts millions of rows; warehouse/embedded proves where they are written",
  ],
  ["warehouse/erase", "it erases in the engine; the ledger's contract has erasures on both engines"],
  ["warehouse/erase-account", "it counts what an erased account leaves in the engine"],
  ["actions/notices-over-http", "it waits for notices of a service; actions/notices has the messages"],
  ["actions/win-back-reasons", "as actions/win-back"],
  ["actions/win-back", "it scores histories for one list; revenue/history has what was paid before"],
  [
    "analytics/isolation",
    "it asks every figure of two organizations; specification/tenants has reads and writes of each",
  ],
  ["analytics/lists", "it asks every filter and order of scored rows; the end-to-end test opens the lists"],
  ["analytics/overview", "it recounts every figure of a scored week; the end-to-end test opens the overview"],
  ["import/formats", "it imports and exports each format; import/mapping has the translation of rows"],
  ["revenue/payers-over-http", "analytics/payers-now has the same figures without a server"],
  [
    "scoring/few-data-over-http",
    "it scores an organization for its lack of data; scoring/ladder has the gates",
  ],
  [
    "scoring/score-query",
    "it compares every score of random logs with pure functions; scoring/runs scores on the engine",
  ],
  [
    "scoring/stored-snapshots",
    "it computes snapshots again after each kind of change; scoring/snapshots has their rows, scoring/runs what scores again",
  ],
  [
    "scoring/subscription-churn-over-http",
    "sources/stripe-churn has churn of subscriptions from the webhook to a score",
  ],
  [
    "scoring/subscription-target",
    "it compares random logs with a reference; sources/stripe-churn has a subscription's churn",
  ],
  [
    "scoring/target-query",
    "it compares labels of random logs with a reference; scoring/churn-changes has the changes",
  ],
  [
    "warehouse/check-while-loading",
    "it loads for seconds beside a check; warehouse/counts-of-events has what the check compares",
  ],
  ["warehouse/events-by-name", "it asks a year of events; analytics/figures has the same figures"],
  [
    "warehouse/rollups",
    "it rebuilds and checks random histories; warehouse/warehouse has the rollups of a batch",
  ],
  [
    "warehouse/subscriptions",
    "it harms subscriptions in every way; sources/subscriptions has them from the front door",
  ],
  ["actions/digest-reader", "it scores two days; actions/digest has what follows from the figures"],
  [
    "actions/organization-now",
    "it scores a day three times; actions/notices has what follows from the state",
  ],
  ["analytics/whole-csv", "it reads tables of a scored organization; pure/csv has the format"],
  ["client/batches", "it sends megabytes with trouble on the way; client/sending has the requests"],
  ["import/exports-hostile", "it imports broken exports; import/mapping has the translation of rows"],
  [
    "import/exports-stripe",
    "it imports Stripe's exports twice; sources/stripe-year has the same objects by webhook",
  ],
  [
    "scoring/feature-query",
    "it asks every cut-off of random logs; scoring/snapshots compares features with the reference",
  ],
  ["scoring/frequent-values", "it counts the traits of many users; scoring/rungs has models with traits"],
  ["scoring/realised", "it scores past days and their outcomes; scoring/runs has the scores of a day"],
  ["scoring/returns", "it trains models of returns; scoring/rungs has the models"],
  [
    "simulation/contracts",
    "only back-tests use simulated contracts; simulation/simulation has the rules of the other logs",
  ],
  [
    "specification/generated",
    "it makes a thousand requests from the schemas; the files beside it have each rule",
  ],
  [
    "specification/slow",
    "it waits for the port's limits of time; specification/raw-socket has broken connections",
  ],
  ["warehouse/high-numbers", "it asks each figure of numbers beyond 2^24; analytics/figures has small ones"],
  ...pages,
  ...fullLength,
]);

/** The folders of which every file runs again on PostgreSQL, or is listed below, and files that ask stores of the ledger
 * which no other file asks. */
const onPostgres =
  "specification/ sources/ suites/ actions/work actions/work-commands actions/segment-history-over-http erasure/everything".split(
    " ",
  );

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

/** Their temporary files lie on the disk: they fill it, or they are gigabytes. Those of all others lie in memory. */
const onDisk = ["long/", "durability/full-disk", "warehouse/spilled-joins", "warehouse/spilling"];

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

/** Each has a browser, and keeps three quarters of a core busy. Other files run beside them. */
const processesOfPages = 2;

/** Puts files that share a process into few runs, and leaves the others as they are: the long files of pages share a server with
 * the scored demonstration and a browser in each of so many processes. Files without an engine begin faster in one. */
export function withSharedProcesses(runs: readonly Run[]): Run[] {
  const pagesTogether = shared(
    runs,
    ({ file, nodes }) => nodes === 0 && tierOf(file) === "long" && isNamed(file, "dashboard/"),
    processesOfPages,
  );
  return shared(pagesTogether, ({ file }) => isNamed(file, "pure/"), 1);
}

function shared(runs: readonly Run[], isSharing: (run: Run) => boolean, processes: number): Run[] {
  const sharing = runs.filter((run) => run.beside === undefined && isSharing(run)).map(({ file }) => file);
  const dealt = Array.from({ length: processes }, (_, at) => sharing.filter((_, n) => n % processes === at));
  const together = dealt.flatMap(([file, ...beside]): Run[] =>
    file === undefined ? [] : [{ name: [file, ...beside].join(" "), file, beside, nodes: 0 }],
  );
  return [...together, ...runs.filter((run) => run.beside !== undefined || !isSharing(run))];
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
  const names = [
    ...check,
    ...long.keys(),
    ...onPostgres,
    ...notOnPostgres.keys(),
    ...onThreeNodes,
    ...onDisk,
  ];
  return names.filter((name) => !files.some((file) => isNamed(file, name)));
}

/** Whether the temporary files of a file of tests lie on the disk. */
export function isOnDisk(file: string): boolean {
  return onDisk.some((name) => isNamed(file, name));
}

function isNamed(file: string, name: string): boolean {
  return name.endsWith("/") ? file.startsWith(`test/${name}`) : file === `test/${name}.test.ts`;
}
