/** An application on Node that uses the package by its name: `node in-node.mjs HOST TOKEN MODE LIMIT_MS`. */
import { Rekindle } from "rekindle-client";

const [host, token, mode, limit] = process.argv.slice(2);
const limitMs = Number(limit);
let fail = () => undefined;
const failed = new Promise((resolve) => {
  fail = resolve;
});
const onError = ({ name }) => {
  console.log(name);
  fail();
};
const client = new Rekindle({ host, token, maxWaitMs: 200, timeoutMs: 150_000, onError });
client.identify({ userId: "node", email: "ada@example.com" });
client.track({ userId: "node", event: mode });
// "forgotten": the application ends without a word to the client.
if (mode === "refused") await failed;
if (mode === "flushed" || mode === "refused") console.log(await client.flush(limitMs));
if (mode === "closed") console.log(await client.close(limitMs));
