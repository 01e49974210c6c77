/** An assistant's request: whose key it has, and the routes of the JSON API that its tools ask. */

import type { RouteAnswer, RouteName } from "../../../contract/api/routes.ts";
import type { AssistantWriteKind } from "../../../contract/assistants/assistants.ts";
import type { SentTo } from "../../http/api/asked.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";

/** A change of an assistant. */
export interface AskedWrite<Name extends RouteName> {
  readonly what: AssistantWriteKind;
  readonly route: Name;
  readonly sent: SentTo<Name>;
  /** Chosen by the assistant: with one key a change is done once. */
  readonly idempotencyKey: string;
  /** Of an alert that is handled, which is known before. Otherwise the answer has an id. */
  readonly target?: number;
}

/** What was written. */
export interface Written {
  readonly id: number;
  readonly author: string;
  /** Whether an earlier call with this idempotency key did it. */
  readonly isRepeated: boolean;
}

export interface Asking {
  readonly organization: Organization;
  /** Whether the key may write. */
  readonly mayWrite: boolean;
  /** The public address of the service, without a slash at its end. */
  readonly address: string;
  /** Asks a route by the key of the assistant. @throws ApiError with the message of the route */
  ask<Name extends RouteName>(name: Name, sent?: SentTo<Name>): Promise<RouteAnswer<Name>>;
  /** Writes by a route, within the limit of the key. @throws ApiError */
  write<Name extends RouteName>(write: AskedWrite<Name>): Promise<Written>;
}
