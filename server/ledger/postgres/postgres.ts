/** The interface of a cluster's ledger. */

export { openPool } from "./client/connect.ts";
export { ledgerIdentity } from "./client/migrations.ts";
export { Leadership, type Leading, type Term } from "./cluster/leadership.ts";
export type { LiveItemRow } from "./cluster/live-items.ts";
export { ClusterNode } from "./cluster/node.ts";
export { livingNodes, probePostgres } from "./cluster/probe.ts";
export { openPostgresLedger, type PostgresLedger } from "./ledger.ts";
export {
  finishMoveIn,
  isMoveInUnfinished,
  type MoveProgress,
  moveIntoPostgres,
  refuseFilledLedger,
} from "./move/move-in.ts";
