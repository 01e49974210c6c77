/** Access to /metrics: for programs on this machine, and for those that have the METRICS_TOKEN. Others get
 * 404. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Connection } from "./handler.ts";

/** Headers by which proxies say that a request is not their own. */
const forwarding =
  /^(?:x-forwarded(?:-.*)?|forwarded|via|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-.*)$/;

/** `127.0.0.1`, also as IPv6 writes it, and `::1`. */
const loopbackAddress = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/i;

/** A Host header that names this machine to itself. A page of another site that points its name here sends
 * its own name. */
const loopbackHost = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** Whether a request may read the metrics. @param token METRICS_TOKEN; null where none is set */
export function mayReadMetrics(request: Request, connection: Connection, token: string | null): boolean {
  return isOfThisMachine(request, connection) || (token !== null && hasToken(request, token));
}

/** A proxy on this machine is not this machine: it adds a header, or sends the Host that it was asked for. */
function isOfThisMachine(request: Request, connection: Connection): boolean {
  const { headers } = request;
  return (
    loopbackAddress.test(connection.requestIP(request)?.address ?? "") &&
    loopbackHost.test(headers.get("host") ?? "") &&
    ![...headers.keys()].some((name) => forwarding.test(name))
  );
}

function hasToken({ headers }: Request, token: string): boolean {
  const [, sent] = /^bearer (\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  // Hashes are of one length, and comparing them takes one time.
  return sent !== undefined && timingSafeEqual(sha256(sent), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
