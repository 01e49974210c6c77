/** A server with ClickHouse's HTTP interface, in a process of its own. It prints the address without a
 * database, and ends with its standard input. */
import { ClickHouseTestServer } from "./clickhouse-server.ts";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("usage: clickhouse-process.ts FOLDER");
const server = await new ClickHouseTestServer({ folder, cluster: null, keepsQueries: false }).listen();
console.log(server.url(""));
for await (const _ of process.stdin);
await server.close();
process.exit(0);
