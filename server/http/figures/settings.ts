/** Handlers of the JSON API about an organization's settings. */
import type { Static } from "typebox";
import type { NoParameters } from "../../../contract/api/api.ts";
import type {
  SettingsAnswer,
  SettingsChangeBody,
  SettingsHistoryAnswer,
  SettingsHistoryParameters,
} from "../../../contract/settings.ts";
import type { SettingsVersion } from "../../ledger/ledger.ts";
import type { ApiContext } from "../api/route.ts";

/** GET /api/settings */
export async function presentSettings({
  ledger,
  organization,
}: ApiContext<typeof NoParameters, "">): Promise<Static<typeof SettingsAnswer>> {
  return settingsAnswer(await ledger.settings.get(organization.id));
}

/** PATCH /api/settings */
export async function changeSettings({
  ledger,
  organization,
  body,
  actor,
  nowMs,
}: ApiContext<typeof NoParameters, "", typeof SettingsChangeBody>): Promise<Static<typeof SettingsAnswer>> {
  return settingsAnswer(await ledger.settings.change(organization.id, body, actor, nowMs()));
}

/** GET /api/settings/history */
export async function settingsHistory({
  ledger,
  organization,
  query: { limit, before },
}: ApiContext<typeof SettingsHistoryParameters, "">): Promise<Static<typeof SettingsHistoryAnswer>> {
  const page = { limit, ...(before !== undefined && { beforeVersion: before }) };
  const records = await ledger.settings.history(organization.id, page);
  return {
    versions: records.map(({ version, changedAtMs, changedBy, changes }) => ({
      version,
      changedAt: new Date(changedAtMs).toISOString(),
      changedBy,
      changes: changes.map((change) => ({ ...change })),
    })),
  };
}

function settingsAnswer({
  version,
  changedAtMs,
  changedBy,
  settings,
}: SettingsVersion): Static<typeof SettingsAnswer> {
  const changedAt = changedAtMs === null ? null : new Date(changedAtMs).toISOString();
  return { version, changedAt, changedBy, settings };
}
