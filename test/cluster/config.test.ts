/** The settings of a node: PostgreSQL, ClickHouse and the other nodes. */
import { expect, test } from "bun:test";
import { ConfigError, readConfig } from "../../server/config.ts";
import { parseClickHouseUrl } from "../../server/warehouse/engine/clickhouse-http.ts";

const databases = {
  DATABASE_URL: "postgres://rekindle:hunter2@db:5432/rekindle",
  CLICKHOUSE_URL: "http://rekindle:hunter2@clickhouse:8123/rekindle",
};

function refused(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

test("without addresses the engines are embedded", () => {
  expect(readConfig({}).cluster).toBeNull();
  expect(readConfig({ DATABASE_URL: "", CLICKHOUSE_URL: "" }).cluster).toBeNull();
});

test("both addresses make a node of a cluster", () => {
  expect(readConfig(databases).cluster).toEqual({
    databaseUrl: databases.DATABASE_URL,
    clickhouseUrl: databases.CLICKHOUSE_URL,
    databaseConnections: 8,
    clickhouseCluster: null,
    nodeUrl: null,
    nodeTls: null,
  });
  const more = {
    NODE_URL: "http://analysis-1:8081/",
    CLICKHOUSE_CLUSTER: "main",
    DATABASE_CONNECTIONS: "20",
  };
  expect(readConfig({ ...databases, ...more }).cluster).toMatchObject({
    databaseConnections: 20,
    clickhouseCluster: "main",
    nodeUrl: "http://analysis-1:8081",
  });
});

test.each(["DATABASE_URL", "CLICKHOUSE_URL"] as const)(
  "%s alone is refused, and says what is missing",
  (name) => {
    const message = refused({ [name]: databases[name] });
    expect(message).toContain(`${name} is set`);
    expect(message).toContain(name === "DATABASE_URL" ? "CLICKHOUSE_URL is not" : "DATABASE_URL is not");
  },
);

test.each([
  ["DATABASE_URL", "mysql://root:hunter2@db/x"],
  ["DATABASE_URL", "hunter2"],
  ["CLICKHOUSE_URL", "tcp://root:hunter2@clickhouse:9000"],
  ["CLICKHOUSE_URL", "hunter2"],
  ["DATABASE_URL", "postgres://root:hunter2@db:port/x"],
  ["CLICKHOUSE_URL", "http://root:hunter2@clickhouse:port/x"],
])("a %s that is no address is refused, and no password is repeated", (name, value) => {
  const message = refused({ ...databases, [name]: value });
  expect(message).toContain(name);
  expect(message).not.toContain("hunter2");
});

test.each(["hunter2%", "12#34", "a/b", "a?b", "p@ss", "p:ss", "100%41", "a b[c]\\d^ü", "%zz#"])(
  "a password %j is taken as it is",
  (secret) => {
    const cluster = readConfig({
      DATABASE_URL: `postgres://root:${secret}@db:5432/x`,
      CLICKHOUSE_URL: `http://root:${secret}@clickhouse:8123/x`,
    }).cluster;
    const database = new URL(cluster?.databaseUrl ?? "");
    const expected = secret === "100%41" ? "100A" : secret;
    expect([database.host, database.username, decodeURIComponent(database.password)]).toEqual([
      "db:5432",
      "root",
      expected,
    ]);
    expect(parseClickHouseUrl(cluster?.clickhouseUrl ?? "")).toMatchObject({
      origin: "http://clickhouse:8123",
      user: "root",
      password: expected,
    });
  },
);

test.each([
  ["DATABASE_CONNECTIONS", "3"],
  ["DATABASE_CONNECTIONS", "many"],
  ["CLICKHOUSE_CLUSTER", "a'b"],
  ["NODE_URL", "analysis-1:8081"],
  ["NODE_URL", "http://analysis-1"],
  ["NODE_URL", "ftp://analysis-1:8081"],
  ["NODE_TLS_KEY", "/etc/rekindle/key.pem"],
  ["NODE_URL", "http://analysis-1:8081/path"],
])("%s=%s is refused", (name, value) => {
  expect(refused({ ...databases, [name]: value })).toContain(name);
});

test("a NODE_URL of https needs both files of a certificate, and one of http takes none", () => {
  const https = { ...databases, NODE_URL: "https://analysis-1:8081" };
  const files = { NODE_TLS_CERT: "cert.pem", NODE_TLS_KEY: "key.pem" };
  expect(readConfig({ ...https, ...files }).cluster).toMatchObject({
    nodeUrl: "https://analysis-1:8081",
    nodeTls: { certFile: "cert.pem", keyFile: "key.pem" },
  });
  expect(refused(https)).toContain("NODE_TLS_CERT is not set: set NODE_TLS_CERT and NODE_TLS_KEY");
  expect(refused({ ...https, NODE_TLS_CERT: "cert.pem" })).toContain("NODE_TLS_KEY is not set");
  expect(refused({ ...databases, ...files })).toContain("NODE_TLS_CERT is set, which is for a NODE_URL");
});

test("in a cluster more may wait for the warehouse, and INBOX_MAX_BYTES says how much", () => {
  expect(readConfig({}).inboxMaxBytes).toBe(1024 ** 3);
  expect(readConfig(databases).inboxMaxBytes).toBe(8 * 1024 ** 3);
  expect(readConfig({ ...databases, INBOX_MAX_BYTES: "50000000000" }).inboxMaxBytes).toBe(50_000_000_000);
  expect(readConfig({ INBOX_MAX_BYTES: "2000000" }).inboxMaxBytes).toBe(2_000_000);
  for (const value of ["8G", "1000", "1e15"]) {
    expect(refused({ INBOX_MAX_BYTES: value })).toContain("INBOX_MAX_BYTES is");
  }
});

test("256 MiB of bodies may be held at once, and BODIES_MAX_BYTES says how much", () => {
  expect(readConfig({}).bodiesMaxBytes).toBe(256 * 1024 ** 2);
  expect(readConfig({ BODIES_MAX_BYTES: "50000000" }).bodiesMaxBytes).toBe(50_000_000);
  for (const value of ["1G", "1000", "1e15"]) {
    expect(refused({ BODIES_MAX_BYTES: value })).toContain("BODIES_MAX_BYTES is");
  }
});

test.each(["NODE_URL", "CLICKHOUSE_CLUSTER", "DATABASE_CONNECTIONS"])(
  "%s without a cluster is refused, because it would have no effect",
  (name) => {
    expect(refused({ [name]: "9" })).toContain("DATABASE_URL and CLICKHOUSE_URL");
  },
);
