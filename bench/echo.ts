/** How fast a bare JSON echo is on Bun and on Node, on this machine: `cli/with-bun bench/echo.ts [seconds]`.
 * A third server, which only reads lengths, shows that the load generator does not limit the other two. */
import { join } from "node:path";
import { alternate, formatTable } from "./load/alternate.ts";
import { runLoad } from "./load/load.ts";
import { startServer } from "./load/start-server.ts";

const seconds = Number(process.argv[2] ?? 2);

const body = (n: number) =>
  `{"userId":"user-${n % 100_000}","event":"page_viewed","messageId":"m-${n}","properties":{"path":"/pricing","seconds":${n % 60}}}`;

const file = (name: string) => join(import.meta.dir, "load", name);
const servers = {
  "Bun.serve": await startServer(process.execPath, file("echo-bun.ts")),
  "node:http": await startServer("node", file("echo-node.mjs")),
  "static answer": await startServer(process.execPath, file("echo-static.ts")),
};
try {
  const variants = Object.entries(servers).map(([name, { port }]) => ({
    name,
    measure: () => runLoad({ port, path: "/", request: body, warmUpSeconds: 0.3, seconds }),
  }));
  console.log(formatTable(await alternate(variants)));
} finally {
  await Promise.all(Object.values(servers).map(({ stop }) => stop()));
}
