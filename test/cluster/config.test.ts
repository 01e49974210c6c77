/** What a node is told about PostgreSQL, ClickHouse and the other nodes. */
import { expect, test } from "bun:test";
import { ConfigError, readConfig } from "../../server/config.ts";

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
  ["DATABASE_URL", "postgres://root:hunter2%@db/x"],
  ["CLICKHOUSE_URL", "http://root:hunter2%@clickhouse:8123/x"],
])("a %s that is no address is refused, and no password is repeated", (name, value) => {
  const message = refused({ ...databases, [name]: value });
  expect(message).toContain(name);
  expect(message).not.toContain("hunter2");
});

test.each([
  ["DATABASE_CONNECTIONS", "3"],
  ["DATABASE_CONNECTIONS", "many"],
  ["CLICKHOUSE_CLUSTER", "a'b"],
  ["NODE_URL", "analysis-1:8081"],
  ["NODE_URL", "http://analysis-1"],
  ["NODE_URL", "https://analysis-1:8081"],
  ["NODE_URL", "http://analysis-1:8081/path"],
])("%s=%s is refused", (name, value) => {
  expect(refused({ ...databases, [name]: value })).toContain(name);
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

test.each(["NODE_URL", "CLICKHOUSE_CLUSTER", "DATABASE_CONNECTIONS"])(
  "%s without a cluster is refused, because nobody would hear it",
  (name) => {
    expect(refused({ [name]: "9" })).toContain("DATABASE_URL and CLICKHOUSE_URL");
  },
);
