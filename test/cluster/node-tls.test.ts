/** Nodes call each other by https where NODE_URL says so. They trust only certificates that they were
 * configured with. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { serveNode } from "../../server/cluster/serve-node.ts";
import { freePort } from "../deploy/running.ts";
import { run } from "../server.ts";

const certFile = join(import.meta.dir, "certificate", "cert.pem");
const keyFile = join(import.meta.dir, "certificate", "key.pem");
const control = join(import.meta.dir, "..", "..", "server", "process", "control.ts");
const host = { host: "127.0.0.1" };
const key = { key: "key-of-the-nodes", id: "one" };
const failed = (error: Error) => new Response(error.message, { status: 500 });

let nodeUrl: string;
let server: Bun.Server<undefined>;
beforeAll(async () => {
  nodeUrl = `https://localhost:${await freePort()}`;
  server = serveNode(
    { nodeUrl, nodeTls: { certFile, keyFile } },
    host,
    key,
    () => new Response("well"),
    failed,
  );
});
afterAll(() => server.stop(true));

/** The answer that another node, a process of its own, receives. */
async function asked(secret: string, env: Record<string, string>): Promise<string> {
  const program = `
    const { nodePeer } = await import(${JSON.stringify(control)});
    const peer = nodePeer(${JSON.stringify(nodeUrl)}, ${JSON.stringify(secret)});
    const said = await peer.fetch("/status").then((answer) => answer.text(), (error) => error.name);
    process.stdout.write(said);`;
  const { stdout } = await run([process.execPath, "-e", program], { env: { ...process.env, ...env } });
  return stdout;
}

test("a node that trusts the certificate is answered, with the key", async () => {
  expect(await asked(key.key, { NODE_EXTRA_CA_CERTS: certFile })).toBe("well");
  expect(await asked("another", { NODE_EXTRA_CA_CERTS: certFile })).toBe("no key");
});

test("a node that does not trust it sends nothing", async () => {
  expect(await asked(key.key, {})).toBe("Unreachable");
});

test("a certificate that cannot be read names the variable", () => {
  const nodeTls = { certFile: "/nowhere/cert.pem", keyFile };
  const start = () => serveNode({ nodeUrl, nodeTls }, host, key, () => new Response(""), failed);
  expect(start).toThrow('NODE_TLS_CERT is "/nowhere/cert.pem", which cannot be read (ENOENT)');
});
