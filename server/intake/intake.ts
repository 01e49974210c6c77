/** The module's interface: admission and storage of requests of the write API. Start reading at identify.ts
 * and track.ts. */

export { admitBilling } from "./admission/admit-billing.ts";
export type { Arrival } from "./admission/admit-event.ts";
export { identifier, isEmailAddress } from "./admission/admit-event.ts";
export { readBatch } from "./admission/batch.ts";
export {
  asObject,
  type Invalid,
  isInvalid,
  isLargerThan,
  type ParsedBody,
  type ParsedObject,
  parseBody,
  parseInTurns,
  parseJson,
  type Turn,
  whyTooDeep,
  whyUnstorable,
} from "./admission/json.ts";
export {
  type KeptValue,
  keptDetail,
  keptValue,
  mayLoseValues,
  parseKeptBody,
} from "./admission/kept-values.ts";
export { NumberTexts } from "./admission/number-texts.ts";
export { isPlaceholderId } from "./admission/placeholder-ids.ts";
export { slicesOf } from "./admission/slices.ts";
export type {
  SourcedAccount,
  SourcedIdentify,
  SourcedItem,
  SourcedPerson,
  SourcedTrack,
} from "./admission/sourced.ts";
export { changeTrait } from "./change-trait.ts";
export { minFreeDiskBytes } from "./commit/room.ts";
export { fieldsOfPages } from "./decide/page-marks.ts";
export type { Outcome, SourcedOutcome } from "./decide/requests.ts";
export { errorOf, isStored } from "./decide/requests.ts";
export type { ImportRow } from "./import-rows.ts";
export { type Appended, heldVerdict, Importer, isRejection, maxImportRows } from "./importer.ts";
export { Intake } from "./intake-service.ts";
export { addMemberEvent } from "./member-event.ts";
export { type Endpoint, LiveView } from "./watch/live.ts";
export { eventBytes, type LiveMessage, type LiveWatcher, noItems } from "./watch/live-channel.ts";
export type { Sender, WatchedRequest } from "./watch/watched-request.ts";
