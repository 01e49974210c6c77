/** Puts together what serves people: who is signed in, and the routes that intake answers itself. */
import type { Config } from "./config.ts";
import { SignIn } from "./dashboard/sign-in.ts";
import { ClientAddresses } from "./http/client-address.ts";
import { PeopleApi } from "./http/people-api.ts";
import { PeopleGate } from "./http/people-gate.ts";
import { peopleRoutes } from "./http/people-routes.ts";
import type { LiveView } from "./intake/live.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Logger } from "./process/log.ts";

/** What serving people needs of intake. */
export interface PeopleNeeds {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly live: LiveView;
  readonly log: Logger;
  /** Of tokens and keys. */
  readonly memory: { forget(): void; recordUse(): Promise<void> };
  /** The service's address as people reach it. */
  readonly address: () => string;
  /** By which sessions and links expire. */
  readonly nowMs: () => number;
}

/** The gate and the routes behind it. */
export function startPeople({ config, ledger, live, log, memory, address, nowMs }: PeopleNeeds) {
  const signIn = new SignIn(ledger, nowMs);
  const addresses = new ClientAddresses(config.trustedProxies);
  const { publicUrl, maxRequestsPerSecond } = config;
  const gate = new PeopleGate({ people: ledger.people, signIn, addresses, publicUrl, nowMs });
  const people = new PeopleApi(peopleRoutes, {
    ...{ gate, signIn, ledger, live, address, nowMs, log, maxRequestsPerSecond },
    forget: () => memory.forget(),
    recordUse: () => memory.recordUse(),
  });
  return { gate, people };
}
