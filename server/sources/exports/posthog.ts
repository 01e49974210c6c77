/** PostHog's batch exports of events: one event a row, with the person's properties at that time. */
import { type JsonObject, objectOf } from "../../../contract/json.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import { translatePosthog } from "../posthog.ts";
import type { Translated } from "../source.ts";
import { type ExportContext, objectIn, requiredTime } from "./export.ts";

const objectColumns = ["properties", "person_properties", "set", "set_once"] as const;
const empty = { properties: {}, person_properties: {}, set: {}, set_once: {} };

/** Translates an event. The person's properties are traits, as `$set` of a live event is. */
export function translatePosthogRow(row: JsonObject, { nowMs }: ExportContext): Translated {
  const timestamp = requiredTime(["timestamp", row.timestamp]);
  if (isInvalid(timestamp)) return timestamp;
  const objects: Record<(typeof objectColumns)[number], JsonObject> = { ...empty };
  for (const column of objectColumns) {
    const found = objectIn(row[column], column);
    if (isInvalid(found)) return found;
    objects[column] = found.object;
  }
  const { properties, person_properties: person } = objects;
  const set = { ...objects.set, ...objectOf(row.$set) };
  const once = { ...objects.set_once, ...objectOf(row.$set_once) };
  const event = {
    uuid: row.uuid,
    event: row.event,
    distinct_id: row.distinct_id,
    timestamp,
    properties,
    $set: { ...person, ...objectOf(properties.$set), ...set },
    $set_once: once,
  };
  const body = { batch: [event], historical_migration: true };
  const translated = translatePosthog(body, { receivedAtMs: nowMs });
  if (isInvalid(translated)) return translated;
  return translated[0]?.translated ?? { invalid: "row is no event: send one event a line." };
}
