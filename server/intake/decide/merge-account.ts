/** How a request changes an account: of two values of a field the one that was said later wins (field-times.ts). Pure. */
import type { Account } from "../../ledger/ledger.ts";
import type { SentAccount } from "../identify.ts";
import { FieldTimes, type Said } from "./field-times.ts";

/** What a request makes of an account. */
export interface MergedAccount extends Pick<Account, "name" | "avatar" | "saidAtMs" | "fieldsSaidAtMs"> {
  /** Whether the name or the picture is another than before. */
  readonly changed: boolean;
  /** Whether a field was said later than before. */
  readonly retimed: boolean;
}

/** Merges an account that was sent into what is stored of it. A new account without a name is named by its id. */
export function mergeAccount(before: Account | undefined, sent: SentAccount, request: Said): MergedAccount {
  const fields = new FieldTimes(before, request);
  const isNamed = sent.name !== undefined && fields.said("name", before !== undefined);
  const name = (isNamed ? sent.name : before?.name) ?? sent.accountId;
  if (before === undefined && sent.name === undefined) fields.madeUp("name");
  const avatar = fields.value<string | null>("avatar", sent.avatar, before?.avatar, null);
  const times = fields.times(
    avatar === null ? ["name"] : ["name", "avatar"],
    avatar === null ? ["avatar"] : [],
  );
  const changed = before === undefined || name !== before.name || avatar !== before.avatar;
  return { name, avatar, ...times, changed, retimed: fields.retimed };
}
