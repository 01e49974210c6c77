/** Facts of the simulated customers that would be unknown of real ones. Days count from 1970-01-01, in the
 * organization's timezone. */

/** `asleep`: inactive for weeks, and will come back. `gone`: no event from this day on. */
export type UserState = "healthy" | "fading" | "asleep" | "gone";

/** `leaving`: has decided to go, and may still be won back. */
export type AccountState = "subscribed" | "leaving" | "gone";

/** From this day on. */
export interface Change<State> {
  readonly fromDay: number;
  readonly state: State;
}

/** Only people leave; the others belong to the vendor and should be excluded from every figure. */
export type UserKind = "person" | "staff" | "test" | "bot";

export interface UserTruth {
  readonly userId: string;
  readonly accountId: string;
  readonly kind: UserKind;
  readonly signedUpMs: number;
  /** In time order; the first begins with the sign-up. */
  readonly history: readonly Change<UserState>[];
  /** The first day without them; null while they stay. */
  readonly departedDay: number | null;
  /** `faded` away over weeks, `sudden`, or `with_account`. */
  readonly departure: "faded" | "sudden" | "with_account" | null;
}

export interface AccountTruth {
  readonly accountId: string;
  readonly name: string;
  readonly createdMs: number;
  readonly history: readonly Change<AccountState>[];
  /** Names of plans. */
  readonly plans: readonly Change<string>[];
  readonly departedDay: number | null;
  /** `canceled` its subscription, with an event, or `lapsed`: all its users left. */
  readonly departure: "canceled" | "lapsed" | null;
}

export interface Truth {
  readonly users: readonly UserTruth[];
  readonly accounts: readonly AccountTruth[];
}

/** The state on a day; undefined before the first. */
export function stateOn<State>(history: readonly Change<State>[], day: number): State | undefined {
  return history.findLast(({ fromDay }) => fromDay <= day)?.state;
}
