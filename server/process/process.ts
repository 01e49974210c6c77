/** The module's interface: locks and sockets, which a process needs to run. */

export {
  AnswerBroken,
  answerCall,
  CallFailed,
  currentVersionOf,
  fetchSocket,
  nodePeer,
  type Operations,
  type Peer,
  remoteService,
  serveNodes,
  serveSocket,
  socketPeer,
  Unreachable,
} from "./control.ts";
export { warehouseFolder } from "./data-folder.ts";
export { type Asker, FairTurns, sharedPlaces } from "./fair-turns.ts";
export { syncPath, syncTree, unfinishedPath } from "./files.ts";
export { type Lock, takeLock, wasTaken } from "./lock.ts";
export { messageOf } from "./message-of.ts";
export type { Probed } from "./probed.ts";
export { Retries } from "./retries.ts";
export { setNewest } from "./set-newest.ts";
export { socketPath } from "./sockets.ts";
export { every, type Intervals, systemTime, type Time, versionAbove } from "./time.ts";
export { rekindleVersion } from "./version.ts";
export { waitUpTo } from "./wait-up-to.ts";
