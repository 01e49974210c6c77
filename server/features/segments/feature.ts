/** Segments: named filters over users or accounts, and fixed lists of them. */
import type { Feature } from "../../ledger/feature.ts";
import { leaveSegments } from "./fixed-members.ts";
import { type SegmentStore, segmentStore } from "./store.ts";
import { segmentBlocks, segmentTables } from "./tables.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly segments: SegmentStore;
  }
}

export const segments: Feature = {
  name: "segments",
  tables: [{ name: "segments", encoded: ["name"] }, { name: "segment_blocks" }],
  migrations: [segmentTables, segmentBlocks],
  stores: (engine) => ({ segments: segmentStore(engine) }),
  erase: leaveSegments,
  aboutUser: {
    async *segments(stores, { organization, user }) {
      yield await stores.segments.ofUser(organization, user);
    },
  },
};
