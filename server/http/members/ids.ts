/** Numbers in the paths of people's routes. */
import { notThere } from "../../members/members.ts";

/** A number in a path. @throws Denied, as for a number that nothing has */
export function idIn(text: string, what: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw notThere(what);
}
