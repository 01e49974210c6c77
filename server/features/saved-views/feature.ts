/** Saved views: names for the filters of a list, which the members of an organization share. */

import type { Feature } from "../../ledger/feature.ts";
import type { TableTypes } from "../../ledger/tables.ts";
import { type ViewStore, viewStore } from "./store.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly views: ViewStore;
  }
}

export const savedViews: Feature = {
  name: "saved-views",
  tables: [{ name: "views", encoded: ["name", "query"] }],
  migrations: [viewsTable],
  stores: (engine) => ({ views: viewStore(engine) }),
};

function viewsTable({ id, integer, text, ordered, end }: TableTypes): string {
  return `
  CREATE TABLE views (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    page ${ordered} NOT NULL,
    name ${ordered} NOT NULL,
    query ${text} NOT NULL,
    created_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL,
    UNIQUE (organization, page, name)
  )${end};
  CREATE INDEX views_of_person ON views (created_by);
`;
}
