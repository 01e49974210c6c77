/** A server that keeps what posthog-node sends to it, so that tests read real requests and no copies of
 * some. */
import { gunzipSync } from "node:zlib";
import { PostHog } from "posthog-node";

export interface Recorded {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly bytes: Uint8Array;
}

/** The requests of posthog-node while `use` ran and the client was shut down. */
export async function recorded(token: string, use: (client: PostHog) => void): Promise<Recorded[]> {
  const requests: Recorded[] = [];
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      const isGzip = request.headers.get("content-encoding") === "gzip";
      const text = new TextDecoder().decode(isGzip ? gunzipSync(bytes) : bytes);
      const { pathname } = new URL(request.url);
      requests.push({ path: pathname, headers: request.headers, body: JSON.parse(text), bytes });
      return Response.json({ status: "Ok" });
    },
  });
  try {
    const client = new PostHog(token, { host: server.url.href });
    use(client);
    await client.shutdown();
  } finally {
    server.stop(true);
  }
  return requests;
}
