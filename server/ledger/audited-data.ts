/** Changes of what an organization sets and of its data, each with its entry in the audit log: see changing.ts. */
import type { SettingsChange } from "../../contract/settings.ts";
import type { SenderName } from "../../contract/sources.ts";
import type { Actor, AuditNote } from "./audit.ts";
import { type Changing, note } from "./changing.ts";
import type { DeadLetterSelection } from "./dead-letters.ts";
import type { ExclusionRule, StoredExclusionRule } from "./exclusions.ts";
import type { SharedLedger } from "./ledger.ts";
import { type SettingsVersion, settingDifferences } from "./settings.ts";

/** Changes settings. @throws Refusal as `SettingsStore.change` does */
export async function changeSettings(
  changing: Changing<"settings">,
  change: SettingsChange,
): Promise<SettingsVersion> {
  const { ledger, organization, by, nowMs } = changing;
  const before = await ledger.settings.get(organization);
  const after = await ledger.settings.change(organization, change, by.by, nowMs);
  if (after.version === before.version) return after;
  const differences = settingDifferences(before.settings, after.settings);
  const values = (side: "from" | "to") =>
    Object.fromEntries(differences.map((one) => [one.setting, one[side]]));
  await note(changing, {
    action: "settings.changed",
    summary: `Changed the settings ${differences.map(({ setting }) => setting).join(", ")}`,
    detail: { version: after.version, from: values("from"), to: values("to") },
  });
  return after;
}

/** Adds a rule. @throws Refusal as `ExclusionStore.add` does */
export async function addExclusion(
  changing: Changing<"exclusions">,
  rule: ExclusionRule,
): Promise<StoredExclusionRule> {
  const { ledger, organization, nowMs } = changing;
  const known = await ledger.exclusions.list(organization);
  const added = await ledger.exclusions.add(organization, rule, nowMs);
  if (known.some(({ id }) => id === added.id)) return added;
  await note(changing, {
    action: "exclusion.added",
    summary: `Left out of figures: ${ruleInWords(added)}`,
    detail: ruleDetail(added),
  });
  return added;
}

/** Removes a rule. @throws Refusal when the organization has no rule with this id */
export async function removeExclusion(changing: Changing<"exclusions">, id: number): Promise<void> {
  const { ledger, organization } = changing;
  const rule = (await ledger.exclusions.list(organization)).find((one) => one.id === id);
  await ledger.exclusions.remove(organization, id);
  if (rule === undefined) return;
  await note(changing, {
    action: "exclusion.removed",
    summary: `No longer left out of figures: ${ruleInWords(rule)}`,
    detail: ruleDetail(rule),
  });
}

/** Rules that may name one user are told without the name: the log outlives an erasure. */
const namesPeople: ReadonlySet<string> = new Set(["user", "email"]);

function ruleInWords({ id, kind, key, value }: StoredExclusionRule): string {
  if (namesPeople.has(kind)) return `${kind}, rule ${id}`;
  // The value may be a name, too.
  return kind === "trait" ? `trait ${key}, rule ${id}` : `${kind} ${value}`;
}

function ruleDetail({ id, kind, key, value }: StoredExclusionRule) {
  if (namesPeople.has(kind)) return { id, kind };
  return kind === "trait" ? { id, kind, key } : { id, kind, key, value };
}

/** Sends dead letters to the warehouse again, or drops them. @returns how many.
 * @throws Refusal for an id that is none of the organization's */
export async function changeDeadLetters(
  what: "retry" | "drop",
  changing: Changing<"deadLetters">,
  ids: readonly number[] | undefined,
): Promise<number> {
  const { ledger, organization } = changing;
  const selection: DeadLetterSelection = { organization, ids };
  const rows = await ledger.deadLetters[what](selection);
  if (rows === 0) return rows;
  await note(changing, deadLettersNote(what, rows, ids));
  return rows;
}

/** As `changeDeadLetters`, of one organization or of everybody: each organization's log has its own. */
export async function changeDeadLettersOf(
  what: "retry" | "drop",
  ledger: Pick<SharedLedger, "deadLetters" | "organizations" | "audit">,
  { organization, ids }: DeadLetterSelection,
  by: Actor,
  nowMs: number,
): Promise<number> {
  if (organization !== undefined) return changeDeadLetters(what, { ledger, organization, by, nowMs }, ids);
  const organizations = await ledger.organizations.list();
  const counts = () =>
    Promise.all(organizations.map(({ id }) => ledger.deadLetters.count({ organization: id })));
  const before = await counts();
  const rows = await ledger.deadLetters[what]({ ids });
  const after = await counts();
  for (const [index, { id }] of organizations.entries()) {
    const gone = (before[index] ?? 0) - (after[index] ?? 0);
    if (gone > 0) await note({ ledger, organization: id, by, nowMs }, deadLettersNote(what, gone, undefined));
  }
  return rows;
}

function deadLettersNote(
  what: "retry" | "drop",
  rows: number,
  ids: readonly number[] | undefined,
): AuditNote {
  return {
    action: what === "retry" ? "dead_letters.retried" : "dead_letters.dropped",
    summary: `${what === "retry" ? "Sent again" : "Dropped"}: ${rows} dead letter${rows === 1 ? "" : "s"}`,
    detail: { rows, ...(ids !== undefined && { ids: ids.slice(0, maxIdsTold) }) },
  };
}

const maxIdsTold = 100;

/** Says that a source was removed, so that nobody waits for it. @returns since when; undefined when it never sent */
export async function retireSource(
  changing: Changing<"sources">,
  source: SenderName,
): Promise<number | undefined> {
  const { ledger, organization, nowMs } = changing;
  const retiredAtMs = await ledger.sources.retire(organization, source, nowMs);
  // Retiring again changes nothing; the time is that of the first.
  if (retiredAtMs !== nowMs) return retiredAtMs;
  await note(changing, {
    action: "source.retired",
    summary: `Retired the source ${source}: nobody waits for it until it sends again`,
    detail: { source },
  });
  return retiredAtMs;
}
