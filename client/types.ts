/** The items that an application sends, and the answers to it. test/client/types.test.ts compares these types
 * with the contract. They are written out here because a published declaration must not need the contract's
 * library. */

/** Traits of a user: six that have a meaning, and any others. Those stored are kept; null overwrites. */
export interface Traits {
  readonly name?: string | null;
  /** An absolute http, https or data:image/ URL. */
  readonly avatar?: string | null;
  readonly plan?: string | null;
  readonly acquisitionChannel?: string | null;
  readonly companySize?: string | null;
  readonly segment?: string | null;
  readonly [trait: string]: unknown;
}

/** Attributes of an account: three that have a meaning, and any others. Those stored are kept; null
 * overwrites. */
export interface AccountAttributes {
  /** E-mail address of the team member who looks after the account. */
  readonly owner?: string | null;
  /** When the contract renews: a date, or a date-time with Z or an offset. */
  readonly renewsAt?: string | null;
  /** Value of the contract per year, from 0. */
  readonly contractValue?: number | null;
  readonly [attribute: string]: unknown;
}

/** Account or workspace that a user belongs to. */
export interface Account {
  readonly id: string | number;
  readonly name: string;
  /** An absolute http, https or data:image/ URL. */
  readonly avatar?: string | null;
  readonly properties?: AccountAttributes | null;
}

interface Message {
  /** Of the user in your system: at most 256 characters. */
  readonly userId: string | number;
  /** When it happened: a Date, an ISO 8601 date-time with Z or an offset, or a date. Default: when the method
   * is called. */
  readonly timestamp?: string | Date | null;
  /** The same one within 24 hours is stored once. Default: a random one. */
  readonly messageId?: string | null;
}

/** Registers a user, or updates the one who exists. */
export interface Identify extends Message {
  readonly email: string;
  readonly properties?: Traits | null;
  readonly isAccountOwner?: boolean | null;
  /** Null: the user leaves the account. */
  readonly account?: Account | null;
}

/** An event of a user who was identified before. */
export interface Track extends Message {
  /** 1 to 256 characters without white space. */
  readonly event: string;
  readonly properties?: object | null;
}

/** An item of a batch. */
export type Item = ({ readonly type: "identify" } & Identify) | ({ readonly type: "track" } & Track);

/** Why something was not stored, or not yet. */
export interface Failure {
  /** The service's name of the error, or ours: `invalid_item` cannot be sent at all, `unreachable` was not
   * answered in time, `unexpected_answer` did not come from the service. */
  readonly name:
    | "validation_error"
    | "invalid_write_key"
    | "not_found"
    | "rate_limit_exceeded"
    | "application_error"
    | "invalid_item"
    | "unreachable"
    | "unexpected_answer";
  /** A sentence for people. */
  readonly message: string;
  /** Of the HTTP answer; 0 when there was none. */
  readonly statusCode: number;
  /** True: the items stay queued and are sent again. False: this item is refused for good. */
  readonly willRetry: boolean;
}

/** Why an item was dropped. `full`: the queue is full. `closed`: the client is closed. `expired`: the item
 * was first sent 23 hours ago without an answer, and another try might store it twice. */
export type DropReason = "full" | "closed" | "expired";

export interface Options {
  /** The project token: `rk-…`. */
  readonly token: string;
  /** The service's address, e.g. `https://rekindle.example.com`. */
  readonly host: string;
  /** The most items of a request. So many waiting items are sent at once. Default 500, at most 2,000. */
  readonly maxBatchItems?: number;
  /** How long an item waits for others to be sent with it. Default 1,000. */
  readonly maxWaitMs?: number;
  /** How many items may wait. Default 10,000. */
  readonly maxQueueItems?: number;
  /** How many bytes of JSON may wait. Default 16 MiB. */
  readonly maxQueueBytes?: number;
  /** How long the service may take for an answer. Default 10,000. */
  readonly timeoutMs?: number;
  /** Called for each refused item, and without an item for each attempt that failed. Default: warns on the
   * console, at most once a minute. */
  readonly onError?: (failure: Failure, item?: Item) => void;
  /** Called for each item that is dropped. Default: warns on the console, at most once a minute. */
  readonly onDrop?: (item: Item, reason: DropReason) => void;
}
