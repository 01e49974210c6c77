/** Settings of an organization's sources. */
import type { Feature } from "../../ledger/feature.ts";
import { type SourceSettingsStore, sourceSettingsStore } from "./store.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly sourceSettings: SourceSettingsStore;
  }
  interface OwnCallsOfFeatures {
    readonly sourceSettings: keyof SourceSettingsStore;
  }
}

export const sourceSettings: Feature = {
  name: "source-settings",
  tables: [{ name: "source_settings", encoded: ["name"] }],
  // Its table is made with those of the ledger.
  migrations: [],
  stores: (engine) => ({ sourceSettings: sourceSettingsStore(engine) }),
};
