/** An application on Node that uses the package by its name: `node in-node.mjs HOST TOKEN MODE`. */
import { Rekindle } from "rekindle-client";

const [host, token, mode] = process.argv.slice(2);
const options = { host, token, maxWaitMs: 200, onError: ({ name }) => console.log(name) };
const client = new Rekindle(options);
client.identify({ userId: "node", email: "ada@example.com" });
client.track({ userId: "node", event: mode });
// "forgotten": the application ends without a word to the client.
if (mode === "flushed") console.log(await client.flush(1_500));
if (mode === "closed") console.log(await client.close(1_500));
