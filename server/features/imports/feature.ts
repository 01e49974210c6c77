/** Files that owners import in the browser. */
import type { Feature } from "../../ledger/feature.ts";
import { deleteFilesOf, tidyUploads, type UploadStore, uploadStore, uploadsTable } from "./store.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly uploads: UploadStore;
  }
  interface OwnCallsOfFeatures {
    readonly uploads: keyof UploadStore;
  }
}

export const imports: Feature = {
  name: "imports",
  tables: [{ name: "import_uploads", encoded: ["file_name"] }],
  migrations: [uploadsTable],
  stores: (engine) => ({ uploads: uploadStore(engine) }),
  erase: deleteFilesOf,
  tidyHourly: tidyUploads,
};
