/** The only reader of the environment. A wrong value stops the start with the variable's name and the
 * mend. */
import { BlockList, isIP, isIPv6 } from "node:net";
import { resolve } from "node:path";

export interface Config {
  readonly port: number;
  readonly host: string;
  /** The address under which users reach the service, without a slash at its end. */
  readonly publicUrl: string;
  /** Whether PUBLIC_URL says so; else the address is made of HOST and PORT. */
  readonly isPublicUrlSet: boolean;
  /** The path in `publicUrl` below which everything is served, `/rekindle` say; empty for none. */
  readonly basePath: string;
  /** Addresses and networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** With it /metrics is read from other machines, as `Authorization: Bearer`; null: from this machine
   * only. */
  readonly metricsToken: string | null;
  /** Whether pages load pictures of users and accounts from other hosts, which then see who looks at what
   * when. */
  readonly remoteImages: boolean;
  /** Private services that owners may send messages to. */
  readonly privateDestinations: readonly PrivateDestination[];
  /** The server by which e-mail is sent; null: none is. */
  readonly mail: MailConfig | null;
  /** The highest rate that owners may set for their organization's tokens; the command line may set more. */
  readonly maxRequestsPerSecond: number;
  /** Bytes that may wait for the warehouse; past them senders get 429 until it has caught up. */
  readonly inboxMaxBytes: number;
  /** Bytes of requests' bodies that are held at once; past them senders get 429. */
  readonly bodiesMaxBytes: number;
  /** Of many nodes, only sockets, locks and temporary files are in it. */
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  /** The servers on which many nodes share what they store; null for one machine with its embedded
   * engines. */
  readonly cluster: ClusterConfig | null;
}

/** A private service, by exactly this name and port, at this address. */
export interface PrivateDestination {
  readonly name: string;
  readonly port: number;
  readonly address: string;
}

export interface MailConfig {
  /** `smtp://` or `smtps://`, with user and password encoded. It may hold a password, so it is never
   * shown. */
  readonly smtpUrl: string;
  /** The sender: `Rekindle <rekindle@example.com>` */
  readonly from: string;
}

export interface ClusterConfig {
  /** Of PostgreSQL. It may hold a password, so it is never shown. */
  readonly databaseUrl: string;
  /** Connections of one process at most. */
  readonly databaseConnections: number;
  /** Of ClickHouse's HTTP interface. It may hold a password, so it is never shown. */
  readonly clickhouseUrl: string;
  /** The name of ClickHouse's own cluster, on which tables are replicated; null for a single server. */
  readonly clickhouseCluster: string | null;
  /** Where other nodes reach this node's analysis; null when only this machine asks it. */
  readonly nodeUrl: string | null;
  /** The files with which it answers there by https; null by http. */
  readonly nodeTls: { readonly certFile: string; readonly keyFile: string } | null;
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
  const port = readPort(environment);
  const host = environment.HOST || "127.0.0.1";
  const cluster = readCluster(environment);
  const publicUrl = readPublicUrl(environment);
  const urlHost = host.includes(":") ? `[${host}]` : host;
  return {
    port,
    host,
    publicUrl: publicUrl ?? `http://${urlHost}:${port}`,
    isPublicUrlSet: publicUrl !== undefined,
    basePath: publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/^\/$/, ""),
    trustedProxies: readTrustedProxies(environment),
    metricsToken: readSecret(environment, "METRICS_TOKEN"),
    remoteImages: readRemoteImages(environment),
    privateDestinations: readPrivateDestinations(environment),
    mail: readMail(environment),
    maxRequestsPerSecond: readMaxRate(environment),
    inboxMaxBytes: readInboxMax(
      environment,
      cluster === null ? inboxMaxBytes.embedded : inboxMaxBytes.cluster,
    ),
    bodiesMaxBytes: readBodiesMax(environment),
    dataDir: resolve(environment.DATA_DIR || "./data"),
    logLevel: readLogLevel(environment),
    cluster,
  };
}

function readPort({ PORT }: Environment): number {
  const port = Number(PORT || 8080);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ConfigError(`PORT is ${JSON.stringify(PORT)}: set it to a number from 0 to 65535.`);
}

/** Scheme, host and port, and a path whose parts need no encoding. */
const publicUrlForm = /^https?:\/\/[^\s/?#@]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/;

function readPublicUrl({ PUBLIC_URL }: Environment): string | undefined {
  if (!PUBLIC_URL) return undefined;
  const text = PUBLIC_URL.replace(/(?<!\/)\/+$/, "");
  if (publicUrlForm.test(text) && URL.canParse(text)) return text;
  throw new ConfigError(
    `PUBLIC_URL is ${JSON.stringify(PUBLIC_URL)}: set it to the service's address, https://rekindle.example.com or https://example.com/rekindle say.`,
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

/** A secret of at least 16 characters; it is never shown. */
function readSecret(environment: Environment, name: string): string | null {
  const secret = environment[name];
  if (!secret) return null;
  if (/^[A-Za-z0-9._~+/=-]{16,200}$/.test(secret)) return secret;
  throw new ConfigError(
    `${name} is not usable: set it to 16 to 200 letters, digits and . _ ~ + / = -, as openssl rand -hex 32 prints them.`,
  );
}

function readRemoteImages({ REMOTE_IMAGES: text }: Environment): boolean {
  if (!text || text === "off") return false;
  if (text === "on") return true;
  throw new ConfigError(`REMOTE_IMAGES is ${JSON.stringify(text)}: set it to on or off.`);
}

/** Links in messages lead to PUBLIC_URL, so there is no e-mail without it. */
function readMail({ SMTP_URL, MAIL_FROM, PUBLIC_URL }: Environment): MailConfig | null {
  if (!SMTP_URL && !MAIL_FROM) return null;
  const smtpUrl = withEncodedUser(SMTP_URL ?? "");
  if (!isMailServer(smtpUrl)) {
    throw new ConfigError(
      "SMTP_URL is not usable: set it to the mail server's address, smtps://user:password@smtp.example.com:465 say. A password may have any character.",
    );
  }
  if (!MAIL_FROM || !/^(?:[^\r\n<>]*<)?[^\s@<>]+@[^\s@<>]+>?$/.test(MAIL_FROM)) {
    throw new ConfigError(
      "MAIL_FROM is not usable: set it to the sender, Rekindle <rekindle@example.com> say.",
    );
  }
  if (!PUBLIC_URL) {
    throw new ConfigError(
      "PUBLIC_URL is missing: links in e-mail lead there. Set it, or leave out SMTP_URL.",
    );
  }
  return { smtpUrl, from: MAIL_FROM };
}

function isMailServer(text: string): boolean {
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { hostname, pathname, hash } = new URL(text);
  return hostname !== "" && (pathname === "" || pathname === "/") && hash === "";
}

/** An address in which every character of user and password is encoded. They end at the last @, so that a
 * password may have any character as it is; what is encoded already stays so. A URL's own rules end the host
 * at # and /, so that `smtp://user:12#34@host` would lead to a host named `user`. */
function withEncodedUser(address: string): string {
  const start = address.indexOf("://") + 3;
  const end = address.lastIndexOf("@");
  if (start < 3 || end < start) return address;
  const user = address.slice(start, end);
  const percent = isDecodable(user) ? user : user.replaceAll("%", "%25");
  return (
    address.slice(0, start) + percent.replace(/[^\w%:.~!*'()-]/gu, encodeURIComponent) + address.slice(end)
  );
}

/** Where a cloud answers with a machine's credentials, in a public range: those in private ranges are refused
 * anyway. */
export const publicMetadataAddress = "168.63.129.16";

/** Where clouds answer with a machine's credentials: never a destination, whatever the installation
 * allows. */
const metadataAddresses = new BlockList();
metadataAddresses.addSubnet("169.254.0.0", 16, "ipv4");
for (const address of ["100.100.100.200", publicMetadataAddress, "192.0.0.192"])
  metadataAddresses.addAddress(address);
metadataAddresses.addSubnet("fe80::", 10, "ipv6");
metadataAddresses.addSubnet("fd00:ec2::", 32, "ipv6");
metadataAddresses.addAddress("fd20:ce::254", "ipv6");

function readPrivateDestinations({
  ALLOW_PRIVATE_DESTINATIONS: text = "",
}: Environment): readonly PrivateDestination[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(privateDestination);
}

function privateDestination(part: string): PrivateDestination {
  const [, name = "", port = "", address = ""] =
    /^([a-z0-9.-]{1,253}):(\d{1,5})=([0-9a-f.:]{2,45})$/i.exec(part) ?? [];
  if (name === "" || isIP(address) === 0 || Number(port) < 1 || Number(port) > 65_535) {
    throw new ConfigError(
      `ALLOW_PRIVATE_DESTINATIONS has ${JSON.stringify(part)}: set it to name:port=address with commas between, hooks.internal:8080=10.0.0.7 say.`,
    );
  }
  if (metadataAddresses.check(address, isIPv6(address) ? "ipv6" : "ipv4")) {
    throw new ConfigError(
      `ALLOW_PRIVATE_DESTINATIONS has ${address}, where a cloud gives away a machine's credentials: leave it out.`,
    );
  }
  return { name: name.toLowerCase(), port: Number(port), address };
}

function readMaxRate({ MAX_REQUESTS_PER_SECOND: text }: Environment): number {
  const rate = Number(text || 10_000);
  if (Number.isInteger(rate) && rate >= 1 && rate <= 1_000_000) return rate;
  throw new ConfigError(
    `MAX_REQUESTS_PER_SECOND is ${JSON.stringify(text)}: set it to a whole number from 1 to 1000000.`,
  );
}

/**
 * Embedded: some 7 million waiting events; at a steady 5,000 a second the loader may be away for 20 minutes.
 * In a cluster: ten minutes without ClickHouse at 50,000 events a second of some 200 bytes are 6 GB, and what
 * was loaded within the last hour takes more than that anyway (docs/scale.md).
 */
const inboxMaxBytes = { embedded: 1024 ** 3, cluster: 8 * 1024 ** 3 };

function readInboxMax({ INBOX_MAX_BYTES: text }: Environment, otherwise: number): number {
  const bytes = Number(text || otherwise);
  if (Number.isInteger(bytes) && bytes >= 1024 ** 2 && bytes <= 1024 ** 4) return bytes;
  throw new ConfigError(
    `INBOX_MAX_BYTES is ${JSON.stringify(text)}: set it to a whole number from 1048576 to 1099511627776, of bytes that may wait for the warehouse.`,
  );
}

/** 32 of the largest bodies at once. The least is room for one, compressed and inflated. */
function readBodiesMax({ BODIES_MAX_BYTES: text }: Environment): number {
  const bytes = Number(text || 256 * 1024 ** 2);
  if (Number.isInteger(bytes) && bytes >= 32 * 1024 ** 2 && bytes <= 1024 ** 4) return bytes;
  throw new ConfigError(
    `BODIES_MAX_BYTES is ${JSON.stringify(text)}: set it to a whole number from 33554432 to 1099511627776, of bytes of requests' bodies held at once.`,
  );
}

function readLogLevel({ LOG_LEVEL }: Environment): LogLevel {
  const level = logLevels.find((known) => known === (LOG_LEVEL || "info"));
  if (level !== undefined) return level;
  throw new ConfigError(
    `LOG_LEVEL is ${JSON.stringify(LOG_LEVEL)}: set it to one of ${logLevels.join(", ")}.`,
  );
}

/** Both stores are the machine's own, or both are shared: one of each would leave half of the data on one
 * node. */
function readCluster(environment: Environment): ClusterConfig | null {
  const { CLICKHOUSE_CLUSTER } = environment;
  const DATABASE_URL = withEncodedUser(environment.DATABASE_URL ?? "");
  const CLICKHOUSE_URL = withEncodedUser(environment.CLICKHOUSE_URL ?? "");
  if (!DATABASE_URL && !CLICKHOUSE_URL) {
    for (const name of ["CLICKHOUSE_CLUSTER", "NODE_URL", "DATABASE_CONNECTIONS", ...nodeTlsFiles]) {
      if (!environment[name]) continue;
      throw new ConfigError(
        `${name} is set, which is for many nodes: set DATABASE_URL and CLICKHOUSE_URL, too, or unset it.`,
      );
    }
    return null;
  }
  if (!DATABASE_URL || !CLICKHOUSE_URL) {
    const [set, missing] = DATABASE_URL
      ? ["DATABASE_URL", "CLICKHOUSE_URL"]
      : ["CLICKHOUSE_URL", "DATABASE_URL"];
    throw new ConfigError(
      `${set} is set and ${missing} is not: the ledger and the warehouse are both shared, or both embedded. Set both, or unset both.`,
    );
  }
  // Neither is repeated: it may hold a password.
  if (!isUrl(DATABASE_URL, /^postgres(ql)?:$/)) {
    throw new ConfigError(
      "DATABASE_URL is no address of PostgreSQL: set it to postgres://user:password@host:5432/database. A password may have any character.",
    );
  }
  if (!isUrl(CLICKHOUSE_URL, /^https?:$/)) {
    throw new ConfigError(
      "CLICKHOUSE_URL is no address of ClickHouse's HTTP interface: set it to http://user:password@host:8123/database. A password may have any character.",
    );
  }
  if (CLICKHOUSE_CLUSTER && !/^[A-Za-z0-9_.-]{1,100}$/.test(CLICKHOUSE_CLUSTER)) {
    throw new ConfigError(
      `CLICKHOUSE_CLUSTER is ${JSON.stringify(CLICKHOUSE_CLUSTER)}: set it to a cluster's name, which has letters, digits, _, . and -.`,
    );
  }
  return {
    databaseUrl: DATABASE_URL,
    databaseConnections: readConnections(environment),
    clickhouseUrl: CLICKHOUSE_URL,
    clickhouseCluster: CLICKHOUSE_CLUSTER || null,
    ...readNode(environment),
  };
}

function isUrl(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol) && isDecodable(text);
}

/** Whether every % in an address begins a character that is written as %25 is: a password's may stand there
 * as it is. */
export function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

function readConnections({ DATABASE_CONNECTIONS: text }: Environment): number {
  const connections = Number(text || 8);
  if (Number.isInteger(connections) && connections >= 4 && connections <= 200) return connections;
  throw new ConfigError(
    `DATABASE_CONNECTIONS is ${JSON.stringify(text)}: set it to a whole number from 4 to 200, of one process.`,
  );
}

const nodeTlsFiles = ["NODE_TLS_CERT", "NODE_TLS_KEY"] as const;

function readNode(environment: Environment): Pick<ClusterConfig, "nodeUrl" | "nodeTls"> {
  const nodeUrl = readNodeUrl(environment);
  const { NODE_TLS_CERT: certFile, NODE_TLS_KEY: keyFile } = environment;
  const isHttps = nodeUrl?.startsWith("https:") === true;
  for (const name of nodeTlsFiles) {
    if (isHttps === Boolean(environment[name])) continue;
    throw new ConfigError(
      isHttps
        ? `NODE_URL begins with https and ${name} is not set: set NODE_TLS_CERT and NODE_TLS_KEY to PEM files.`
        : `${name} is set, which is for a NODE_URL that begins with https: set that, or unset it.`,
    );
  }
  return { nodeUrl, nodeTls: certFile && keyFile ? { certFile, keyFile } : null };
}

function readNodeUrl({ NODE_URL }: Environment): string | null {
  if (!NODE_URL) return null;
  const text = NODE_URL.replace(/(?<!\/)\/+$/, "");
  // Nothing but host and port: what stands behind them, or a password, would not be understood.
  if (isUrl(text, /^https?:$/) && new URL(text).port !== "" && new URL(text).origin === text) return text;
  throw new ConfigError(
    `NODE_URL is no address with a port: set it to where other nodes reach this one, http://analysis-1:8081 say.`,
  );
}

/** Variables of `rekindle migrate-to`, because an option would show passwords in the list of processes. */
export interface MoveVariables {
  readonly databaseUrl: string | undefined;
  readonly clickhouseUrl: string | undefined;
}

/** The options of `rekindle migrate-to`, and `TARGET_DATABASE_URL` and `TARGET_CLICKHOUSE_URL` for those that
 * are not given. */
export function readMoveVariables(
  options: Partial<MoveVariables>,
  environment: Environment = process.env,
): MoveVariables {
  const encoded = (text: string | undefined) => (text ? withEncodedUser(text) : undefined);
  return {
    databaseUrl: encoded(options.databaseUrl ?? environment.TARGET_DATABASE_URL),
    clickhouseUrl: encoded(options.clickhouseUrl ?? environment.TARGET_CLICKHOUSE_URL),
  };
}

/** Where `rekindle mcp` finds the service, and its key. */
export interface AssistantVariables {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/** The option of `rekindle mcp`, and `REKINDLE_URL` and `REKINDLE_KEY`. @throws ConfigError */
export function readAssistantVariables(
  { url: given }: { readonly url: string | undefined },
  environment: Environment = process.env,
): AssistantVariables {
  const url = given ?? (environment.REKINDLE_URL || undefined);
  if (url !== undefined && !/^https?:\/\/[^\s?#]+$/.test(url)) {
    throw new ConfigError(
      "REKINDLE_URL is not valid: set it to an address such as https://rekindle.example.com.",
    );
  }
  return { url, key: environment.REKINDLE_KEY || undefined };
}
