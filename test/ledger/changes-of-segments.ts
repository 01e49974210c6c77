/** The methods of the ledger about segments: see changes.ts. */
import { commandLine as by } from "../../server/ledger/ports/audit.ts";
import { type Kinds, read } from "./change-kinds.ts";

const riskySegment = { kind: "users", name: "risky", content: { filter: { riskBand: "high" } } } as const;

export const segments: Kinds["segments"] = {
  ...{ organizations: read, list: read, numbers: read, ofUser: read },
  add: async ({ ledger, nowMs }) => ({
    action: "segment.created",
    of: (organization) => ledger.segments.add(organization, riskySegment, by, nowMs),
  }),
  change: async ({ ledger, id: organization, nowMs }) => {
    const { segment } = await ledger.segments.add(organization, riskySegment, by, nowMs);
    return {
      action: "segment.changed",
      of: (of) => ledger.segments.change(of, segment.id, { name: "ours" }, by, nowMs + 1),
    };
  },
  remove: async ({ ledger, id: organization, nowMs }) => {
    const { segment } = await ledger.segments.add(organization, riskySegment, by, nowMs);
    return { action: "segment.deleted", of: (of) => ledger.segments.remove(of, segment.id, by, nowMs) };
  },
};
