/** Assembles sessions and the routes that intake answers. */

import type { Registry } from "prom-client";
import { intakeRoutes } from "../../contract/api/intake-routes.ts";
import type { Config } from "../config.ts";
import type { ImportRunner } from "../features/imports/runner.ts";
import { intakeHandlers } from "../features/intake-handlers.ts";
import { PeopleGate } from "../http/api/gate.ts";
import { IntakeApi } from "../http/api/intake-api.ts";
import type { BodyBudget } from "../http/port/body-budget.ts";
import type { ClientAddresses } from "../http/port/client-address.ts";
import type { PageHost } from "../http/port/page-host.ts";
import type { ReadKeys } from "../http/port/read-keys.ts";
import type { Intake } from "../intake/intake-service.ts";
import type { LiveView } from "../intake/live.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { SignIn } from "../members/sign-in.ts";
import { SignInWatch } from "../members/sign-in-watch.ts";
import type { Peer } from "../process/control.ts";
import type { Logger } from "../process/log.ts";
import type { Outbox } from "../sending/outbox.ts";

/** Parts of intake that routes about people need. */
export interface PeopleNeeds {
  readonly config: Config;
  readonly host: PageHost;
  readonly ledger: Ledger;
  readonly live: LiveView;
  readonly imports: ImportRunner;
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly analysis: Peer;
  readonly addresses: ClientAddresses;
  readonly bodies: BodyBudget;
  readonly log: Logger;
  readonly registry: Registry;
  readonly keys: ReadKeys;
  /** Of tokens and keys. */
  readonly memory: { forget(): void; recordUse(): Promise<void> };
  /** The service's address as people reach it. */
  readonly address: () => string;
  /** By which sessions and links expire. */
  readonly nowMs: () => number;
}

/** The gate and the routes behind it. */
export function startPeople(needs: PeopleNeeds) {
  const { config, host, ledger, live, addresses, bodies, log, registry, memory, address, nowMs } = needs;
  const watch = new SignInWatch({ ledger, log }, registry, nowMs);
  const signIn = new SignIn(ledger, watch, nowMs);
  const { publicUrl, basePath, maxRequestsPerSecond, remoteImages } = config;
  const people = ledger.members;
  const gate = new PeopleGate({ people, signIn, addresses, publicUrl, basePath, host, nowMs });
  const api = new IntakeApi(intakeRoutes, intakeHandlers, {
    gate,
    keys: needs.keys,
    signIn,
    ledger,
    live,
    imports: needs.imports,
    intake: needs.intake,
    outbox: needs.outbox,
    analysis: needs.analysis,
    bodies,
    address,
    nowMs,
    log,
    maxRequestsPerSecond,
    remoteImages,
    forget: () => memory.forget(),
    recordUse: () => memory.recordUse(),
  });
  return { gate, intake: api };
}
