/** The DDL of a cluster's tables, read by the engine's own parser. To make replicated tables it would need a
 * Keeper. */
import { describe, expect, test } from "bun:test";
import { clusterSettings, onCluster } from "../../server/warehouse/engine/topology.ts";
import { migrationStatements } from "../../server/warehouse/schema/migrations.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
const cluster = "it's \\ main";
const alone = { cluster: null, isEmbedded: false };
const replicated = { cluster, isEmbedded: false };
/** As the engine writes it. */
const onMain = " ON CLUSTER `it's \\\\ main`";

async function formatted(statements: readonly string[]): Promise<string[]> {
  const sql = "SELECT formatQuerySingleLine({sql:String}) AS text";
  return Promise.all(
    statements.map(async (statement) => {
      const [row] = await subject.warehouse.rows<{ text: string }>(sql, { sql: statement });
      return row?.text ?? "";
    }),
  );
}

describe("the statements of all migrations", () => {
  test("differ in the engine, the tokens' window and where they are done, and in nothing else", async () => {
    const plain = await formatted(migrationStatements(alone));
    const statements = await formatted(migrationStatements(replicated));
    const inCommon = statements.map((statement) =>
      statement
        .replace(onMain, "")
        .replace(/ENGINE = Replicated(\w+)/, "ENGINE = $1")
        .replace(
          /replicated_deduplication_window = (\d+), replicated_deduplication_window_seconds = \d+/,
          "non_replicated_deduplication_window = $1",
        ),
    );
    expect(inCommon).toEqual(plain);
    expect(plain.join()).not.toContain("CLUSTER");
  });

  test("say on every replica what a replicated table does not pass on, and only that", async () => {
    const statements = await formatted(migrationStatements(replicated));
    const everywhere = statements.filter((statement) => statement.includes("ON CLUSTER"));
    const elsewhere = statements.filter((statement) => !statement.includes("ON CLUSTER"));
    for (const one of everywhere) expect(one).toMatch(/^(CREATE|DROP) |MODIFY SETTING/);
    for (const one of elsewhere) expect(one).toMatch(/^(ALTER TABLE|INSERT INTO) /);
    for (const one of elsewhere) expect(one).not.toContain("MODIFY SETTING");
    const tables = statements.filter((statement) => statement.startsWith("CREATE TABLE"));
    expect(tables.length).toBeGreaterThan(10);
    for (const table of tables) expect(table).toMatch(/ENGINE = Replicated\w*MergeTree\b/);
  });
});

test("the other statements of a cluster are the engine's, too", async () => {
  const everywhere = onCluster(replicated);
  const statements = [
    `CREATE DATABASE IF NOT EXISTS \`rekindle\`${everywhere}`,
    `CREATE TABLE user_spans_rebuilt${everywhere} AS user_spans`,
    `SYSTEM SYNC REPLICA${everywhere} user_spans_rebuilt`,
    "ALTER TABLE user_spans_rebuilt MOVE PARTITION tuple() TO TABLE user_spans",
    `DROP TABLE user_spans_rebuilt${everywhere} SYNC`,
    `KILL QUERY${everywhere} WHERE query_id = 'a' ASYNC`,
  ];
  for (const text of await formatted(statements.filter((statement) => statement.includes("CLUSTER")))) {
    expect(text).toContain(onMain);
  }
  await formatted(statements);
});

test("the engine knows the settings of a cluster", async () => {
  const names = Object.keys(clusterSettings(replicated));
  const [row] = await subject.warehouse.rows<{ known: number }>(
    "SELECT count() AS known FROM system.settings WHERE name IN {names:Array(String)}",
    { names },
  );
  expect(row?.known).toBe(names.length);
  expect(clusterSettings(alone)).toEqual({});
});
