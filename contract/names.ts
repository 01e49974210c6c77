/** Rules for names: no line breaks, no other control characters, and none that turn the direction of text. */

const forbidden = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";

const namePattern = `^(?=.*\\S)[^${forbidden}]*$`;

/** A part of an e-mail address: nothing that ends the address in a header or cannot be seen. */
const mailPart = `[^\\s@<>${forbidden}\\u00ad\\u200b-\\u200f\\u2060-\\u2064\\ufeff]+`;

const mailAddressPattern = `^\\s*${mailPart}@${mailPart}\\s*$`;

/** An address in JSON Schema that mails are sent to, perhaps with spaces around it. */
export const mailAddressRules = { pattern: mailAddressPattern } as const;

/** Whether a text is an address that mails are sent to, whatever its length. */
export function isMailAddress(text: string): boolean {
  return new RegExp(mailAddressPattern, "u").test(text);
}

/** A name in JSON Schema: something that can be seen, and no control character. */
export const nameRules = { minLength: 1, pattern: namePattern } as const;

/** One control character, wherever it stands. */
export const controlCharacter = new RegExp(`[${forbidden}]`, "gu");

/** Whether a text can be a name, whatever its length. */
export function isName(text: string): boolean {
  return new RegExp(namePattern, "u").test(text);
}
