/** The types of what answers requests on the public port. */

/** The connection of a request: its address, and how long it may be silent. */
export interface Connection {
  timeout(request: Request, seconds: number): void;
  requestIP(request: Request): { readonly address: string } | null;
}

/** Answers a request. */
export type Handler = (request: Request, connection: Connection) => Response | Promise<Response>;
