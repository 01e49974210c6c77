/** Churn targets in settings: a change of them, and how older versions stored them. */
import {
  type ChurnTarget,
  type ChurnTargets,
  type SentChurnTarget,
  silence,
} from "../../../contract/api/churn-targets.ts";
import { wrongField } from "../../../contract/explain.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { type SettingsChange, SettingsChangeBody } from "../../../contract/settings.ts";

/** The targets after a change. Null puts the default back, and a target that is not sent stays.
 * @throws Refusal naming the field that is wrong */
export function changedTargets(before: ChurnTargets, sent: SettingsChange["churnTargets"]): ChurnTargets {
  const changed = (kind: keyof ChurnTargets) => {
    const target = sent === null ? null : sent?.[kind];
    if (target === undefined) return before[kind];
    return target === null ? silence : targetOf(kind, target);
  };
  return { user: changed("user"), account: changed("account") };
}

const keysOf = {
  silence: [],
  event: ["event", "undoneBy"],
  trait: ["trait", "values"],
  subscription: [],
} as const satisfies Readonly<Record<ChurnTarget["by"], readonly (keyof SentChurnTarget)[]>>;

function targetOf(kind: keyof ChurnTargets, sent: SentChurnTarget): ChurnTarget {
  const known: readonly string[] = keysOf[sent.by];
  const other = Object.keys(sent).find((key) => key !== "by" && !known.includes(key));
  if (other !== undefined) {
    throw new Refusal(`churnTargets.${kind}.${other} is no part of the target ${sent.by}: leave it out.`);
  }
  const missing = (key: string) =>
    new Refusal(wrongField(SettingsChangeBody, ["churnTargets", kind, key], "is missing"));
  switch (sent.by) {
    case "event": {
      const { event, undoneBy = null } = sent;
      if (event === undefined) throw missing("event");
      if (event === undoneBy) {
        throw new Refusal(`churnTargets.${kind}.undoneBy is the event itself: send the name of another.`);
      }
      return { by: "event", event, undoneBy };
    }
    case "trait": {
      const { trait, values } = sent;
      if (trait === undefined) throw missing("trait");
      if (values === undefined) throw missing("values");
      return { by: "trait", trait, values: values.toSorted() };
    }
    default:
      return { by: sent.by };
  }
}

/** The targets of settings as any version stored them. Version 0.1.0 had one churn event, or null; it is the
 * users'. */
export function targetsOfStored({
  churnTargets,
  churnEvent,
}: {
  readonly churnTargets?: ChurnTargets;
  readonly churnEvent?: string | null;
}): ChurnTargets {
  if (churnTargets !== undefined) return churnTargets;
  const user: ChurnTarget =
    typeof churnEvent === "string" ? { by: "event", event: churnEvent, undoneBy: null } : silence;
  return { user, account: silence };
}
