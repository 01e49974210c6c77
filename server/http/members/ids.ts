/** Numbers in the paths of people's routes. */
import { noSuch } from "../../../contract/refusal.ts";

/** A number in a path. @throws ApiError, as for a number that nothing has */
export function idIn(text: string, what: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw noSuch(what);
}
