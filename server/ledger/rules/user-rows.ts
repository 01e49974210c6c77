/** Recognizes the rows of a user, and a user's id after an erasure. */
import { createHmac } from "node:crypto";

/** The beginning of every row of a user, in all tables except those of accounts (see
 * `ledger/rules/warehouse-rows.ts`). */
export function beginningOfRow(organization: number, user: number): string {
  return `[${organization},${user},`;
}

/** Counts the rows of users, or of accounts, in bodies of the inbox: each line is a row. */
export class RowsOf {
  /** By organization, then by the user's number. */
  readonly #rows = new Map<number, Map<number, number>>();

  /** @param numbers of users, or of accounts if the bodies are rows of accounts */
  constructor(numbers: readonly { readonly organization: number; readonly number: number }[]) {
    for (const { organization, number } of numbers) {
      const ofOrganization = this.#rows.get(organization) ?? new Map<number, number>();
      this.#rows.set(organization, ofOrganization.set(number, 0));
    }
  }

  /** Adds the rows of a body. */
  add(body: Buffer): void {
    for (let start = 0; start < body.length; ) {
      const end = body.indexOf(newlineCode, start);
      const [organization, next] = numberAt(body, start + 1);
      const ofOrganization = this.#rows.get(organization);
      const [number] = ofOrganization === undefined ? [-1] : numberAt(body, next + 1);
      const rows = ofOrganization?.get(number);
      if (rows !== undefined) ofOrganization?.set(number, rows + 1);
      start = end === -1 ? body.length : end + 1;
    }
  }

  /** The rows of one of the users. */
  rowsOf(organization: number, number: number): number {
    return this.#rows.get(organization)?.get(number) ?? 0;
  }
}

/** The digits from a place on as a number, and the place of the comma after them. -1 if there is none. */
function numberAt(body: Buffer, start: number): readonly [number: number, comma: number] {
  let value = 0;
  for (let at = start; at < body.length; at += 1) {
    const digit = (body[at] ?? 0) - zeroCode;
    if (digit < 0 || digit > 9) return [at > start && body[at] === commaCode ? value : -1, at];
    value = value * 10 + digit;
  }
  return [-1, body.length];
}

const newlineCode = "\n".charCodeAt(0);
const commaCode = ",".charCodeAt(0);
const zeroCode = "0".charCodeAt(0);

/** The hash that is kept of an erased user's id. Ids are short and guessable: a plain hash could be found by
 * trial.
 * @param key of the ledger, 32 bytes. @returns HMAC-SHA-256, hexadecimal */
export function tombstoneOf(key: Uint8Array, organization: number, userId: string): string {
  return createHmac("sha256", key).update(`${organization} ${userId}`).digest("hex");
}
