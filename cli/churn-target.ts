/** Churn targets as the command line takes them. */
import type { ChurnTarget } from "../contract/api/churn-targets.ts";

/** The forms that `churnTargetIn` takes. */
export const churnTargetForms =
  'silence, "event NAME", "event NAME undone by NAME", "trait NAME = VALUE, VALUE", or subscription';

/** A churn target; undefined for a text of another form. Names of events have no white space. */
export function churnTargetIn(text: string): ChurnTarget | undefined {
  if (text === "silence" || text === "subscription") return { by: text };
  const [, event, undoneBy = null] = /^event +(\S+)(?: +undone +by +(\S+))?$/.exec(text) ?? [];
  if (event !== undefined) return { by: "event", event, undoneBy };
  const equals = text.indexOf("=");
  if (!text.startsWith("trait ") || equals < 0) return undefined;
  const values = text.slice(equals + 1).split(",");
  const trait = text.slice("trait ".length, equals).trim();
  return { by: "trait", trait, values: values.map((value) => value.trim()) };
}
