/**
 * Takes placeholder ids out of requests. The write API and files refuse them. A connected tool's sender
 * cannot: its item stays the visitor's, and is rejected only if it names no visitor. An id that is stored
 * already keeps working. Pure.
 */
import type { AdmittedPersonItem } from "../admission/admit-sourced.ts";
import type { Invalid } from "../admission/json.ts";
import { isPlaceholderId, placeholderProblem } from "../admission/placeholder-ids.ts";
import type { Decidable } from "./requests.ts";

/** What is stored, as far as earlier requests of the group have left it. */
interface Stored {
  isUser(organization: number, userId: string): boolean;
  isAccount(organization: number, accountId: string): boolean;
}

/** The request without placeholders, or its problem. Nearly every request is returned as it is. */
export function withoutPlaceholders(entry: Decidable, stored: Stored): Decidable | Invalid {
  const { organization } = entry;
  const isNoUser = (id: string | undefined) =>
    id !== undefined && isPlaceholderId(id) && !stored.isUser(organization, id);
  const isNoAccount = (id: string | undefined) =>
    id !== undefined && isPlaceholderId(id) && !stored.isAccount(organization, id);
  if (entry.kind === "person") return ofPerson(entry, isNoUser, isNoAccount);
  const ids =
    entry.kind === "alias"
      ? [entry.previousId, entry.userId]
      : entry.kind === "account"
        ? []
        : [entry.userId];
  const user = ids.find(isNoUser);
  if (user !== undefined) return { invalid: placeholderProblem("userId", user) };
  const account = entry.kind === "alias" ? undefined : entry.account?.accountId;
  if (account === undefined || !isNoAccount(account)) return entry;
  return { invalid: placeholderProblem("account.id", account) };
}

function ofPerson(
  entry: AdmittedPersonItem,
  isNoUser: (id: string | undefined) => boolean,
  isNoAccount: (id: string | undefined) => boolean,
): AdmittedPersonItem | Invalid {
  const { userId, anonymousId, previousId, content } = entry;
  const isWithoutUser = isNoUser(userId);
  const isWithoutAccount = isNoAccount(content.account?.accountId);
  if (!isWithoutUser && !isWithoutAccount && !isNoUser(previousId)) return entry;
  if (isWithoutUser && anonymousId === undefined) {
    return { invalid: placeholderProblem("userId", userId ?? "") };
  }
  return {
    ...entry,
    userId: isWithoutUser ? undefined : userId,
    previousId: isWithoutUser || isNoUser(previousId) ? undefined : previousId,
    content: isWithoutAccount ? { ...content, account: undefined } : content,
  };
}
