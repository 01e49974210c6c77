/**
 * The intake process: takes writes, and is the only writer of the ledger. Analysis may die and come back
 * without one write request noticing.
 */
import type { Config } from "./config.ts";
import { apiHandler, readKeyRequestsPerSecond } from "./http/api-gateway.ts";
import { Authorizer } from "./http/authorize.ts";
import { type HttpOptions, type HttpServer, startHttp } from "./http/http.ts";
import { openApiDocument } from "./http/openapi.ts";
import { referencePage } from "./http/reference-page.ts";
import { ledgerOperations } from "./http/shared-ledger.ts";
import { Importer } from "./intake/importer.ts";
import { Intake, intakeLimits } from "./intake/intake.ts";
import { LiveView } from "./intake/live.ts";
import { secretPrefix } from "./ledger/credentials.ts";
import { itemsPerSecond, type Ledger, Refusal } from "./ledger/ledger.ts";
import { ledgerFile, openSqliteLedger, type SqliteLedgerOptions } from "./ledger/sqlite/open.ts";
import { answerCall, fetchSocket, type Operations, serveSocket } from "./process/control.ts";
import { takeLock } from "./process/lock.ts";
import type { Logger } from "./process/log.ts";
import { AnswerCounts, createRegistry, gauge } from "./process/metrics.ts";
import { socketPath } from "./process/sockets.ts";
import { startPeople } from "./start-people.ts";

export interface RunningIntake {
  readonly ledger: Ledger;
  readonly port: number;
  /** The address under which people reach it. */
  readonly address: string;
  /** Stops accepting, and resolves when everything that was accepted is on disk. */
  stopServing(): Promise<void>;
  /** Closes the ledger; analysis has to be gone by then. */
  close(): Promise<void>;
}

/** What the command line may ask about the public port, as `http.address` on the control socket. */
export interface PublicPort {
  /** The address under which this machine reaches it. */
  address(): Promise<string>;
  /** The address under which people reach it. */
  publicAddress(): Promise<string>;
}

/** What may be other than the ledger's own defaults. */
export type LedgerOptions = Pick<SqliteLedgerOptions, "inboxMaxRetainedBytes">;

/** How long requests that are under way may take to be finished when the service stops. */
const maxFinishMs = 6_000;

/** Starts intake. @throws Refusal when another service holds the data folder. */
export async function startIntake(
  config: Config,
  log: Logger,
  options: LedgerOptions = {},
  httpOptions: HttpOptions = {},
  nowMs: () => number = Date.now,
): Promise<RunningIntake> {
  const lock = takeLock(config.dataDir, "ledger");
  if (lock === undefined) {
    throw new Refusal(
      `${config.dataDir} is in use by another rekindle: stop that one, or set DATA_DIR to another folder.`,
    );
  }
  const ledger = await openSqliteLedger({ file: ledgerFile(config.dataDir), ...options });
  const intake = new Intake(ledger, config.dataDir, intakeLimits, Date.now);
  const live = new LiveView(Date.now);
  const authorizers = authorizersOf(ledger);
  const registry = createRegistry("intake");
  gauge(registry, "rekindle_writes_open", "1 while writes are taken.", () =>
    intake.closedBecause === undefined ? 1 : 0,
  );
  const analysis = socketPath(config.dataDir, "analysis");
  await intake.checkRoom();
  const address = (): string => publicAddress(config, http.port);
  const serving = startPeople({ config, ledger, live, log, memory: authorizers, address, nowMs });
  const http: HttpServer = startHttp(
    config,
    { authorizer: authorizers.tokens, intake, ledger, live, counts: new AnswerCounts(registry), log },
    {
      openapi: () => openApiDocument(config.publicUrl),
      reference: () => referencePage(config.publicUrl),
      readiness: () => readiness(intake, analysis),
      metrics: async () => (await registry.metrics()) + (await metricsOf(analysis)),
    },
    apiHandler({ ...serving, authorizer: authorizers.readKeys, analysis }),
    httpOptions,
  );
  const control = serveControl(config, http.port, ledger, authorizers, intake, live);
  const chores = startChores(ledger, intake, authorizers, log);
  const close = async () => {
    chores.stop();
    await authorizers.recordUse().catch(chores.failed);
    await intake.recordWarnings().catch(chores.failed);
    await intake.recordSources().catch(chores.failed);
    await control.stop(true);
    await ledger.close();
    lock.release();
  };
  return {
    ledger,
    port: http.port,
    address: address(),
    stopServing: () => stopServing(http, intake, live),
    close,
  };
}

/** Who may write and who may read, apart: neither is ever asked about the other's secrets. */
function authorizersOf({ tokens, readKeys }: Ledger) {
  const both = {
    tokens: new Authorizer(tokens, {
      prefix: secretPrefix.token,
      limits: (organization) => ({
        requestsPerSecond: organization.requestsPerSecond,
        itemsPerSecond: itemsPerSecond(organization),
      }),
    }),
    readKeys: new Authorizer(readKeys, {
      prefix: secretPrefix.readKey,
      limits: () => ({ requestsPerSecond: readKeyRequestsPerSecond, itemsPerSecond: 0 }),
    }),
  };
  return {
    ...both,
    forget: () => {
      both.tokens.forget();
      both.readKeys.forget();
    },
    recordUse: async () => {
      await both.tokens.recordUse();
      await both.readKeys.recordUse();
    },
  };
}

type Authorizers = ReturnType<typeof authorizersOf>;

async function stopServing(http: HttpServer, intake: Intake, live: LiveView): Promise<void> {
  live.close();
  // A body that comes byte by byte would hold the stop for ever.
  await Promise.race([http.stop(), Bun.sleep(maxFinishMs)]);
  await http.cutOff();
  await intake.settled();
}

function serveControl(
  config: Config,
  port: number,
  ledger: Ledger,
  authorizers: Authorizers,
  intake: Intake,
  live: LiveView,
) {
  const socket = socketPath(config.dataDir, "control");
  const memory = {
    forget: () => authorizers.forget(),
    recordUse: () => authorizers.recordUse(),
    recordWarnings: () => intake.recordWarnings(),
    recordSources: () => intake.recordSources(),
    forgetWarningsOf: (organization: number, userId: string) => {
      live.forgetUser(organization, userId);
      return intake.forgetWarningsOf(organization, userId);
    },
    settled: () => intake.settled(),
  };
  const importer = new Importer(ledger, () => intake.closedBecause, Date.now);
  const operations: Operations = new Map([
    ...ledgerOperations(ledger, memory, importer),
    ["http.address", async () => addressOnThisMachine(config.host, port)],
    ["http.publicAddress", async () => publicAddress(config, port)],
  ]);
  return serveSocket(socket, (request) => answerCall(operations, request));
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

/** What has to be done about once a second, every few seconds, and once a minute. */
function startChores(ledger: Ledger, intake: Intake, authorizers: Authorizers, log: Logger) {
  const failed = (error: unknown) => log.warn({ err: error }, "a chore failed and will be tried again");
  let tidying = false;
  const everySecond = setInterval(() => {
    intake.checkRoom().catch(failed);
    if (tidying) return;
    tidying = true;
    ledger
      .tidy(Date.now())
      .catch(failed)
      .finally(() => {
        tidying = false;
      });
  }, 1_000);
  const everyFewSeconds = setInterval(() => {
    intake.recordWarnings().catch(failed);
    intake.recordSources().catch(failed);
  }, 5_000);
  const everyMinute = setInterval(() => authorizers.recordUse().catch(failed), 60_000);
  return {
    failed,
    stop: () => {
      clearInterval(everySecond);
      clearInterval(everyFewSeconds);
      clearInterval(everyMinute);
    },
  };
}

async function readiness(intake: Intake, analysis: string) {
  const status = await statusOf(analysis);
  const writes = intake.closedBecause ?? (intake.isFailing ? "failing, see the log" : "open");
  const ready = writes === "open" && status.state !== "starting";
  return { ready, detail: { writes, analysis: status } };
}

/** The state of the analysis process; "starting" while it cannot be reached. The engine's own words about a
 * failure stay in the log: this page is for everybody. */
async function statusOf(analysis: string): Promise<{ readonly state: string; readonly loading: string }> {
  try {
    const response = await fetchSocket(analysis, "/status", { signal: AbortSignal.timeout(2_000) });
    const { state, loader } = (await response.json()) as {
      state: string;
      loader?: { failure: object | null };
    };
    return { state, loading: loader?.failure ? "failing, will be tried again" : "ok" };
  } catch {
    return { state: "starting", loading: "waiting" };
  }
}

async function metricsOf(analysis: string): Promise<string> {
  try {
    const response = await fetchSocket(analysis, "/metrics", { signal: AbortSignal.timeout(2_000) });
    return await response.text();
  } catch {
    return "";
  }
}
