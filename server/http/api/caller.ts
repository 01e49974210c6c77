/** The caller of a question to analysis, as intake or a command names it in headers. */
import type { Actor } from "../../ledger/audit.ts";

export const callerHeaders = {
  organization: "rekindle-organization",
  /** JSON in percent-encoding: names are no ASCII. */
  actor: "rekindle-actor",
  rights: "rekindle-rights",
} as const;

/** A caller of analysis, whom intake has authorized. */
export interface Caller {
  /** The organization's id. */
  readonly organization: number;
  readonly actor: Actor;
  readonly rights: readonly string[];
}

/** The headers that name a caller. */
export function headersOfCaller({ organization, actor, rights }: Caller): Record<string, string> {
  return {
    [callerHeaders.organization]: String(organization),
    [callerHeaders.actor]: encodeURIComponent(JSON.stringify(actor)),
    [callerHeaders.rights]: rights.join(" "),
  };
}
