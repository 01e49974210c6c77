/**
 * The intake process: takes writes, and is the only writer of the ledger. Analysis may die and come back
 * without one write request noticing.
 */
import type { Registry } from "prom-client";
import { ledgerOperations } from "../between/remote/shared-ledger.ts";
import { relayLive } from "../cluster/live-relay.ts";
import type { Config } from "../config.ts";
import { armHandler } from "../features/alerts/control-groups/arm-handler.ts";
import { Assistants } from "../features/assistants/mcp-handler.ts";
import { answerCommand, type CommandParts } from "../features/command-api.ts";
import { ImportRunner } from "../features/imports/runner.ts";
import { workImporter } from "../features/notes-and-tasks/imported/import-work.ts";
import type { PeopleGate } from "../http/api/gate.ts";
import { apiHandler, readKeyRequestsPerSecond } from "../http/api/gateway.ts";
import { llmsText } from "../http/api/llms-text.ts";
import { openApiDocument } from "../http/api/openapi.ts";
import { referencePage } from "../http/api/reference-page.ts";
import { unexpected } from "../http/port/answers.ts";
import { Authorizer } from "../http/port/authorize.ts";
import { BodyBudget } from "../http/port/body-budget.ts";
import { ClientAddresses } from "../http/port/client-address.ts";
import { PageHost } from "../http/port/page-host.ts";
import { ReadKeys } from "../http/port/read-keys.ts";
import { type HttpOptions, type HttpServer, startHttp } from "../http/port/server.ts";
import { UnknownTokens } from "../http/port/unknown-tokens.ts";
import { Importer } from "../intake/importer.ts";
import { Intake } from "../intake/intake-service.ts";
import { LiveView } from "../intake/live.ts";
import { minFreeDiskBytes } from "../intake/room.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ClusterNode } from "../ledger/postgres/node.ts";
import { type Right, secretPrefix } from "../ledger/stores/credentials.ts";
import { itemsPerSecond, type Organization } from "../ledger/stores/organization-rows.ts";
import { answerCall, operationsOf } from "../process/call.ts";
import { type Peer, serveSocket } from "../process/control.ts";
import type { Logger } from "../process/log.ts";
import { AnswerCounts, createRegistry, gauge } from "../process/metrics.ts";
import { socketPath } from "../process/sockets.ts";
import type { Time } from "../process/time.ts";
import { waitUpTo } from "../process/wait-up-to.ts";
import { newOutbox, type Outbox } from "../sending/outbox.ts";
import { startChores } from "./intake-chores.ts";
import { type LedgerOptions, openStores } from "./open-stores.ts";
import { nodePatienceMs, Readiness, writesOf } from "./readiness.ts";
import { startPeople } from "./start-people.ts";

export type { LedgerOptions } from "./open-stores.ts";

export interface RunningIntake {
  readonly ledger: Ledger;
  readonly port: number;
  /** The address under which people reach it. */
  readonly address: string;
  /** Says on /readyz that no more requests should be sent here, and goes on taking those that come. */
  announceStop(): void;
  /** Stops accepting, and resolves when everything that was accepted is on disk. */
  stopServing(): Promise<void>;
  /** Closes the ledger; analysis has to be gone by then. */
  close(): Promise<void>;
}

/** Facts about the public port for the command line, as `http.address` on the control socket. */
export interface PublicPort {
  /** The address under which this machine reaches it. */
  address(): Promise<string>;
  /** The address under which people reach it. */
  publicAddress(): Promise<string>;
}

/** How long requests that are under way may take to be finished when the service stops. */
const maxFinishMs = 6_000;
/** In a cluster, for what is written down then, and for what is written of requests that were cut off. */
const maxStepMs = 1_000;

/** Starts intake. @throws Refusal when another service holds the data folder. */
export async function startIntake(
  config: Config,
  log: Logger,
  time: Time,
  options: LedgerOptions = {},
  httpOptions: HttpOptions = {},
): Promise<RunningIntake> {
  const { nowMs } = time;
  const stores = await openStores(config, log, time, options);
  const { ledger, node, analysis } = stores;
  const room = { maxBacklogBytes: config.inboxMaxBytes, minFreeDiskBytes };
  const intake = new Intake(ledger, config.dataDir, room, nowMs);
  const live = new LiveView(nowMs);
  const authorizers = authorizersOf(ledger, node?.isFresh);
  const importer = new Importer(
    ledger,
    () => intake.closedBecause,
    nowMs,
    intake.warnings,
    workImporter(ledger),
  );
  const registry = createRegistry("intake");
  await intake.room.check();
  await pauseCopies(ledger, log, nowMs());
  const address = (): string => publicAddress(config, http.port);
  let isLeaving = false;
  const readiness = new Readiness(analysis, node === undefined ? {} : { patienceMs: nodePatienceMs });
  const host = new PageHost(config);
  const { addresses, bodies, unknownTokens, keys } = limitsOf(config, registry, authorizers, ledger, nowMs);
  const outbox = newOutbox(
    ledger,
    { exceptions: config.privateDestinations, mail: config.mail },
    address,
    log,
    nowMs,
  );
  addGauges(registry, intake, outbox, nowMs);
  const imports = new ImportRunner({
    ledger,
    importer,
    dataDir: config.dataDir,
    isCluster: config.cluster !== null,
    log,
    nowMs,
  });
  const ofPeople = { config, host, ledger, live, intake, outbox, analysis, addresses, bodies, log, registry };
  const serving = startPeople({ ...ofPeople, imports, address, nowMs, keys, memory: authorizers });
  const counts = new AnswerCounts(registry);
  const api = apiHandler({ ...serving, keys, bodies, analysis });
  const { maxRequestsPerSecond } = config;
  const { forget, recordUse } = authorizers;
  const ofWrites = { ...ofPeople, address, nowMs, forget, recordUse, maxRequestsPerSecond };
  const assistants = new Assistants({ api, keys, gate: serving.gate, host, bodies, parts: ofWrites, log });
  const http: HttpServer = startHttp(
    config,
    {
      authorizer: authorizers.tokens,
      intake,
      ledger,
      live,
      bodies,
      unknownTokens,
      nowMs,
      log,
      counts,
    },
    {
      host,
      ofFeatures: {
        "POST /mcp": assistants.handler,
        "GET /mcp": assistants.handler,
        "DELETE /mcp": assistants.handler,
        "POST /arm": armHandler({
          ledger,
          authorizer: authorizers.arms,
          closedFor: (organization) => intake.closedFor(organization),
          bodies,
          unknownTokens,
          counts,
          nowMs,
          log,
        }),
      },
      basePath: config.basePath,
      // Built at the first request, which takes 7 ms, and kept: 0.9 MB.
      openapi: once(() => JSON.stringify(openApiDocument(config.publicUrl))),
      reference: once(() => referencePage(config.publicUrl)),
      llms: once(() => llmsText(config.publicUrl)),
      readiness: () => readiness.of(isLeaving ? "stopping" : writesOf(intake, node)),
      metricsToken: config.metricsToken,
      metrics: async () => (await registry.metrics()) + (await metricsOf(stores.metered)),
    },
    api,
    httpOptions,
  );
  const remembering = { ledger, authorizers, intake, importer, live };
  const control = serveControl(config, http.port, remembering, { ...ofPeople, address, nowMs });
  if (node !== undefined) joinNodes(node, { ...remembering, gate: serving.gate, unknownTokens, assistants });
  const stopRelay = node === undefined ? () => undefined : relayLive(node, live, log);
  imports.start(time.intervals.choresMs);
  const chores = startChores({ ledger, intake, outbox, time }, authorizers.recordUse, log);
  // SQLite: wait for the flush. PostgreSQL: give up after 1 s, so that shutdown is not blocked.
  const inTime = (work: Promise<unknown>) => (node === undefined ? work : waitUpTo(maxStepMs, work));
  const close = async () => {
    chores.stop();
    await inTime(imports.stop());
    stopRelay();
    await inTime(outbox.stop());
    const counted = [authorizers.recordUse(), intake.recordWarnings(), intake.recordSources()];
    await inTime(Promise.all(counted.map((recorded) => recorded.catch(chores.failed))));
    await control.stop(true);
    await stores.close();
  };
  return {
    ledger,
    port: http.port,
    address: address(),
    close,
    announceStop: () => {
      isLeaving = true;
    },
    stopServing: async () => {
      await stopServing(http, live);
      await inTime(intake.settled());
    },
  };
}

/** A copy of an installation sends nothing before an owner allows it. */
async function pauseCopies(ledger: Ledger, log: Logger, nowMs: number): Promise<void> {
  const paused = await ledger.copies.pauseElsewhere(await ledger.place(), nowMs);
  if (paused === 0) return;
  log.warn({ paused }, "destinations are paused: this installation was restored, copied or moved");
}

/** The limits of requests. */
function limitsOf(
  config: Config,
  registry: Registry,
  authorizers: Pick<Authorizers, "readKeys" | "tokens">,
  { members }: Pick<Ledger, "members">,
  nowMs: () => number,
) {
  const addresses = new ClientAddresses(config.trustedProxies);
  const bodies = new BodyBudget(config.bodiesMaxBytes);
  const held = "Bytes of bodies whose requests are not answered yet.";
  gauge(registry, "rekindle_body_bytes", held, () => bodies.heldBytes);
  const unknownTokens = new UnknownTokens(addresses);
  return { addresses, bodies, unknownTokens, keys: new ReadKeys(authorizers, members, unknownTokens, nowMs) };
}

function addGauges(registry: Registry, intake: Intake, outbox: Outbox, nowMs: () => number): void {
  gauge(registry, "rekindle_messages_under_way", "Messages to destinations that wait for an answer.", () => {
    return outbox.underWay.messages;
  });
  gauge(registry, "rekindle_message_wait_seconds", "For how long the oldest of them has waited.", () => {
    const { sinceMs } = outbox.underWay;
    return sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1_000;
  });
  gauge(registry, "rekindle_writes_open", "1 while writes are taken.", () =>
    intake.closedBecause === undefined ? 1 : 0,
  );
  gauge(registry, "rekindle_inbox_rows", "Rows that wait for the warehouse.", () => intake.room.waiting.rows);
  gauge(
    registry,
    "rekindle_inbox_bytes",
    "Bytes that wait for the warehouse.",
    () => intake.room.waiting.bytes,
  );
  const lag = "Seconds since which not all that was acknowledged is loaded.";
  gauge(registry, "rekindle_inbox_lag_seconds", lag, () =>
    Math.max(0, (nowMs() - intake.room.waiting.loadedUptoMs) / 1_000),
  );
}

/** The authorizers of project tokens that write, of those that ask for arms, and of read keys. */
function authorizersOf({ tokens, readKeys }: Ledger, isFresh?: () => boolean) {
  const ofToken = (organization: Organization) => ({
    requestsPerSecond: organization.requestsPerSecond,
    itemsPerSecond: itemsPerSecond(organization),
  });
  const ofKey = () => ({ requestsPerSecond: readKeyRequestsPerSecond, itemsPerSecond: 0 });
  const has = (wanted: readonly Right[]) => (rights: readonly Right[]) =>
    wanted.some((right) => rights.includes(right));
  const token = { prefix: secretPrefix.token, limits: ofToken };
  const readKey = { prefix: secretPrefix.readKey, takes: has(["read"]), limits: ofKey };
  const kinds = {
    tokens: new Authorizer(tokens, { ...token, takes: has(["write", "browser"]) }, isFresh),
    arms: new Authorizer(tokens, { ...token, takes: has(["arm"]) }, isFresh),
    readKeys: new Authorizer(readKeys, readKey, isFresh),
  };
  const all = Object.values(kinds);
  return {
    ...kinds,
    forget: () => {
      for (const authorizer of all) authorizer.forget();
    },
    shareOver: (nodes: number) => {
      for (const authorizer of all) authorizer.shareOver(nodes);
    },
    lookedUp: async () => {
      for (const authorizer of all) await authorizer.lookedUp();
    },
    recordUse: async () => {
      for (const authorizer of all) await authorizer.recordUse();
    },
  };
}

type Authorizers = ReturnType<typeof authorizersOf>;

async function stopServing(http: HttpServer, live: LiveView): Promise<void> {
  live.close();
  // A body that comes byte by byte would hold the stop for ever.
  await waitUpTo(maxFinishMs, http.stop());
  await http.cutOff();
}

/** The parts of intake that remember, or have something under way. */
interface Remembering {
  readonly ledger: Ledger;
  readonly authorizers: Authorizers;
  readonly intake: Intake;
  readonly importer: Importer;
  readonly live: LiveView;
}

/** Forgets what other nodes change, and takes this node's share of the limits and of loads in bulk. */
function joinNodes(
  node: ClusterNode,
  {
    authorizers,
    intake,
    importer,
    live,
    gate,
    unknownTokens,
    assistants,
  }: Remembering & {
    readonly gate: PeopleGate;
    readonly unknownTokens: UnknownTokens;
    readonly assistants: Assistants;
  },
): void {
  node.whenChanged({
    forget: () => authorizers.forget(),
    settled: async () => {
      await authorizers.lookedUp();
      await Promise.all([intake.settled(), importer.settled()]);
      for (const { organization, kind, name } of await node.erased()) {
        live.forget(organization, name);
        if (kind === "user") await intake.forgetWarningsOf(organization, name);
      }
    },
    flushCounts: () =>
      Promise.all([authorizers.recordUse(), intake.recordWarnings(), intake.recordSources()]),
  });
  let shared = 1;
  node.whenLooked(() => {
    if (node.liveIntakes === shared) return;
    shared = node.liveIntakes;
    authorizers.shareOver(shared);
    gate.shareOver(shared);
    assistants.shareOver(shared);
    unknownTokens.shareOver(shared);
    intake.shareOver(shared);
  });
}

function serveControl(
  config: Config,
  port: number,
  { ledger, authorizers, intake, importer, live }: Remembering,
  ofPeople: Omit<CommandParts, "forget" | "recordUse"> & { readonly log: Logger },
) {
  const socket = socketPath(config.dataDir, "control");
  const memory = {
    forget: () => authorizers.forget(),
    recordUse: () => authorizers.recordUse(),
    recordWarnings: () => intake.recordWarnings(),
    recordSources: () => intake.recordSources(),
    forgetWarningsOf: (organization: number, userId: string) => {
      live.forget(organization, userId);
      return intake.forgetWarningsOf(organization, userId);
    },
    forgetAccount: (organization: number, accountId: string) => live.forget(organization, accountId),
    forgetOrganization: (organization: number) => live.endOrganization(organization),
    settled: () => intake.settled(),
  };
  const ofLedger = ledgerOperations(ledger, memory, importer);
  const ofPort = operationsOf({
    http: {
      address: async () => addressOnThisMachine(config.host, port),
      publicAddress: async () => publicAddress(config, port),
    } satisfies PublicPort,
  });
  const { forget, recordUse } = memory;
  const answer = (request: Request) =>
    new URL(request.url).pathname.startsWith("/api/")
      ? answerCommand({ ...ofPeople, forget, recordUse }, request)
      : answerCall((path) => ofPort(path) ?? ofLedger(path), request);
  return serveSocket(socket, answer, (error) => {
    ofPeople.log.error({ err: error }, "a request of the command line failed");
    return unexpected();
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** With PORT=0 the system chose the port. */
function publicAddress({ publicUrl }: Config, port: number): string {
  return publicUrl.replace(/:0$/, `:${port}`);
}

/** A server that listens on every address is reached on the loopback one. */
function addressOnThisMachine(host: string, port: number): string {
  const reached = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

async function metricsOf(analysis: Peer): Promise<string> {
  try {
    const response = await analysis.fetch("/metrics", { signal: AbortSignal.timeout(2_000) });
    return await response.text();
  } catch {
    return "";
  }
}
