/** Decides rules about silent sources, in each run. */
import { zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type {
  DecisionChunk,
  EntityStateRow,
  FiredAlert,
  RuleToDecide,
  Watermark,
} from "../store/decisions.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { chunkOf } from "./firing.ts";
import { rowOf, stateOf } from "./states.ts";
import { step, unknownEntity } from "./step.ts";

/** Rows that are read at most: more than there are sources. */
const statesOfSources = 10_000;

/** Decides a rule. A source is inside while it is silent. Its alert ends when it sends again, also within the
 * cooldown. @param only this source; undefined for every source */
export async function decideSources(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  only: string | undefined,
): Promise<Watermark> {
  const zone = zoneOf(organization.timezone);
  const day = zone.dayOf(parts.nowMs());
  const statuses = await parts.sources.statuses({ id: organization.id, zone });
  const states = await parts.rules.states(organization.id, version.rule, -1, statesOfSources);
  const cooldownDays = version.cooldownDays ?? defaultCooldownDays;
  const chunk = {
    states: [] as EntityStateRow[],
    fired: [] as FiredAlert[],
    closed: [] as DecisionChunk["closed"][number][],
  };
  for (const { source, state: status, lastHeardMs } of statuses) {
    if (only !== undefined && source !== only) continue;
    const row = states.find(({ entity }) => entity.kind === "source" && entity.source === source);
    const before = row === undefined ? unknownEntity : stateOf(row);
    const entity = { kind: "source", source } as const;
    const isInside = status === "silent";
    const { state, outcomes } = step({ cooldownDays, exitDays: 1, resolvesInCooldown: true }, before, {
      day,
      isInside,
      isInsideAsBefore: isInside,
      isOut: !isInside,
      standing: watermark.takesOver ? "adopted" : "present",
    });
    const isSame =
      state.isArmed === before.isArmed &&
      state.firedOn === before.firedOn &&
      state.restsUntil === before.restsUntil;
    if (!isSame) chunk.states.push(rowOf(entity, state, null));
    for (const outcome of outcomes) {
      if (outcome.what === "closed") {
        chunk.closed.push({ entity, day, firedOn: outcome.firedOn, why: outcome.why });
      }
      if (outcome.what === "fired") {
        const since = lastHeardMs === null ? "ever" : `since ${new Date(lastHeardMs).toISOString()}`;
        chunk.fired.push({
          entity,
          day,
          eventId: null,
          before: null,
          after: null,
          risk: null,
          expectedLoss: null,
          account: null,
          isExempt: false,
          reasons: [{ text: `No data ${since}` }],
        });
      }
    }
  }
  if (chunk.states.length === 0 && !watermark.takesOver) return watermark;
  const about = { day, horizonDays: await parts.horizonOf(organization) };
  return parts.commit(version, { ...chunkOf(version, watermark, about), ...chunk });
}

/** A source has no churn horizon, from which the other cooldowns follow. */
const defaultCooldownDays = 1;
