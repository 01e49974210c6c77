/** The only reader of the environment. A wrong value stops the start with the variable's name and the mend. */
import { isIP } from "node:net";
import { resolve } from "node:path";

export interface Config {
  readonly port: number;
  readonly host: string;
  /** The address under which users reach the service, without a slash at its end. */
  readonly publicUrl: string;
  /** Addresses and networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** What owners may set at most as the rate of their organization's tokens; the command line may set more. */
  readonly maxRequestsPerSecond: number;
  readonly dataDir: string;
  readonly logLevel: LogLevel;
}

const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A variable whose value cannot be used; the message names it and says what to set. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration, with defaults for what is not set.
 * @throws ConfigError */
export function readConfig(environment: Environment = process.env): Config {
  refuseUnsupported(environment);
  const port = readPort(environment);
  const host = environment.HOST || "127.0.0.1";
  const urlHost = host.includes(":") ? `[${host}]` : host;
  return {
    port,
    host,
    publicUrl: readPublicUrl(environment) ?? `http://${urlHost}:${port}`,
    trustedProxies: readTrustedProxies(environment),
    maxRequestsPerSecond: readMaxRate(environment),
    dataDir: resolve(environment.DATA_DIR || "./data"),
    logLevel: readLogLevel(environment),
  };
}

function readPort({ PORT }: Environment): number {
  const port = Number(PORT || 8080);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ConfigError(`PORT is ${JSON.stringify(PORT)}: set it to a number from 0 to 65535.`);
}

function readPublicUrl({ PUBLIC_URL }: Environment): string | undefined {
  if (!PUBLIC_URL) return undefined;
  if (/^https?:\/\//.test(PUBLIC_URL) && URL.canParse(PUBLIC_URL)) return PUBLIC_URL.replace(/\/+$/, "");
  throw new ConfigError(
    `PUBLIC_URL is ${JSON.stringify(PUBLIC_URL)}: set it to the service's address, https://rekindle.example.com say.`,
  );
}

function readTrustedProxies({ TRUSTED_PROXY }: Environment): readonly string[] {
  const proxies = (TRUSTED_PROXY ?? "").split(",").map((text) => text.trim());
  const given = proxies.filter((text) => text !== "");
  if (given.every(isAddressOrNetwork)) return given;
  throw new ConfigError(
    `TRUSTED_PROXY is ${JSON.stringify(TRUSTED_PROXY)}: set it to addresses or networks with commas between, 127.0.0.1,10.0.0.0/8 say.`,
  );
}

function isAddressOrNetwork(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

function readMaxRate({ MAX_REQUESTS_PER_SECOND: text }: Environment): number {
  const rate = Number(text || 10_000);
  if (Number.isInteger(rate) && rate >= 1 && rate <= 1_000_000) return rate;
  throw new ConfigError(
    `MAX_REQUESTS_PER_SECOND is ${JSON.stringify(text)}: set it to a whole number from 1 to 1000000.`,
  );
}

function readLogLevel({ LOG_LEVEL }: Environment): LogLevel {
  const level = logLevels.find((known) => known === (LOG_LEVEL || "info"));
  if (level !== undefined) return level;
  throw new ConfigError(
    `LOG_LEVEL is ${JSON.stringify(LOG_LEVEL)}: set it to one of ${logLevels.join(", ")}.`,
  );
}

/** Silence would be worse: somebody who sets these believes that the data is in another place. */
function refuseUnsupported(environment: Environment): void {
  for (const name of ["DATABASE_URL", "CLICKHOUSE_URL"]) {
    if (environment[name]) {
      throw new ConfigError(`${name} is set, but this version runs on its embedded engines only: unset it.`);
    }
  }
}
