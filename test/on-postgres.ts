/**
 * Which files of the specification, the sources and the suites test/run.ts runs a second time with the ledger on
 * PostgreSQL and the warehouse on a server: the core in `npm test`, the rest in `npm run test:long`, and some on three
 * nodes, each request to any of them.
 */

/** The folders of which every file runs again, or is told below why not. */
const folders = ["specification", "sources", "suites"];

/** In `npm test`: what every sender relies on, and what sources send until it is somebody's. */
const core = [
  "specification/identify",
  "specification/track",
  "specification/authorization",
  "specification/retries",
  "specification/errors",
  "specification/batch",
  "specification/rate-limit",
  "sources/parking",
  "sources/large-requests",
];

/** Their answers must not depend on the node that is asked. In `npm run test:long`. */
const onThreeNodes = [
  "specification/identify",
  "specification/track",
  "specification/batch",
  "specification/retries",
  "specification/tenants",
  "specification/generated",
];

const noLedger = "what a source says is translated or verified: no ledger is asked";
/** Not on PostgreSQL, and why. */
const leftOut: ReadonlyMap<string, string> = new Map([
  ["specification/backup", "the embedded engines' backup: a cluster's engines have tools of their own"],
  ["sources/posthog-body", noLedger],
  ["sources/posthog-translate", noLedger],
  ["sources/said", noLedger],
  ["sources/segment", noLedger],
  ["sources/stripe", noLedger],
  ["sources/stripe-people", noLedger],
  ["sources/stripe-signature", noLedger],
  ["sources/webhook", noLedger],
]);

/** A file of tests, and what runs it. */
export interface Run {
  /** `test/specification/track.test.ts on three nodes` */
  readonly name: string;
  readonly file: string;
  /** How many nodes on PostgreSQL; 0 for the embedded engines. */
  readonly nodes: number;
}

/** What is run of these files a second time.
 * @throws Error when a list names a file that is not there */
export function runsOnPostgres(files: readonly string[], isLong: boolean): Run[] {
  const named = (name: string) => `test/${name}.test.ts`;
  for (const name of [...core, ...onThreeNodes, ...leftOut.keys()]) {
    if (!files.includes(named(name)))
      throw new Error(`test/on-postgres.ts names ${name}, which is not there`);
  }
  const out = [...leftOut.keys()].map(named);
  const early = core.map(named);
  const run = (file: string): Run => ({ name: `${file} on PostgreSQL`, file, nodes: 1 });
  if (!isLong) return early.map(run);
  return [
    ...files
      .filter((file) => folders.some((folder) => file.startsWith(`test/${folder}/`)))
      .filter((file) => !out.includes(file) && !early.includes(file))
      .map(run),
    ...onThreeNodes.map((name) => ({ name: `${named(name)} on three nodes`, file: named(name), nodes: 3 })),
  ];
}
