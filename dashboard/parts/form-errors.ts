/** Which field an error is about. */

/** What the server refused, told beside the field that its message begins with: `timezone is not known …`.
 * @param fields names of the fields that there are
 * @returns the message for a field, and the error when it is about none of them */
export function fieldErrors<Name extends string>(
  error: Error | null,
  fields: readonly Name[],
): { readonly of: (name: Name) => string | undefined; readonly rest: Error | null } {
  const about = fields.find((name) => error !== null && new RegExp(`^${name}\\b`).test(error.message));
  return {
    // The field says its name itself, and better than the API's.
    of: (name) => (name === about ? error?.message.replace(new RegExp(`^${name} `), "This ") : undefined),
    rest: about === undefined ? error : null,
  };
}
