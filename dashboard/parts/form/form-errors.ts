/** Which field an error is about. */
import { errorOfField, errorSentence } from "../../text/error-sentences.ts";

/** Puts an error of the server beside the field that its message begins with: `timezone is not known …`.
 * @param fields names of the fields that there are
 * @returns the message for a field, and the error when it is about none of them */
export function fieldErrors<Name extends string>(
  error: Error | null,
  fields: readonly Name[],
): { readonly of: (name: Name) => string | undefined; readonly rest: Error | null } {
  const message = error?.message ?? "";
  const about = fields.find((name) => isAbout(message, name));
  return {
    // The field says its name itself, and better than the API's.
    of: (name) => (name === about ? withoutName(message, name) : undefined),
    rest: about === undefined ? error : null,
  };
}

function isAbout(message: string, name: string): boolean {
  return message.startsWith(name) && !/^\w/.test(message.slice(name.length));
}

function withoutName(message: string, name: string): string {
  return message.startsWith(`${name} `)
    ? errorOfField(message.slice(name.length + 1))
    : errorSentence(message);
}
