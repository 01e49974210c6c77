/** The methods of the ledger about destinations and deliveries, with their kinds. */
import { commandLine as by } from "../../server/ledger/audit.ts";
import { type Kinds, read, service } from "./change-kinds.ts";
import { changesOf, rowStores } from "./rows-of-stores.ts";

const destination = {
  kind: "webhook" as const,
  name: "ours",
  address: "https://example.com/",
  secrets: [],
  notices: [],
} as const;

const mailbox = { ...destination, kind: "email", address: "ada@example.com", secrets: ["code"] } as const;

/** Those of destinations. */
export const destinations: Kinds["destinations"] = {
  list: read,
  find: read,
  asking: read,
  claimUntold: service,
  told: service,
  ...changesOf(rowStores.destinations),
  agree: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.destinations.add(organization, mailbox, by, nowMs);
    return { action: "destination.agreed", make: () => ledger.destinations.agree(id, "code", nowMs) };
  },
  unsubscribe: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.destinations.add(organization, mailbox, by, nowMs);
    return { action: "destination.disabled", make: () => ledger.destinations.unsubscribe(id, "code", nowMs) };
  },
};

/** A ledger that is elsewhere. */
export const copies: Kinds["copies"] = {
  pauseElsewhere: async ({ ledger, id: organization, nowMs }) => {
    await ledger.destinations.add(organization, destination, by, nowMs);
    return {
      action: "destination.paused",
      make: () => ledger.copies.pauseElsewhere("elsewhere", nowMs),
    };
  },
};

const message = { messageId: "msg_1", type: "test", body: "{}" } as const;

/** Those of deliveries. The service sends them. Owners settle those that are held, and send one again. */
export const deliveries: Kinds["deliveries"] = {
  list: read,
  ofUser: read,
  toRender: read,
  add: service,
  freeze: service,
  claim: service,
  tried: service,
  again: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.destinations.add(organization, destination, by, nowMs);
    await ledger.deliveries.add(organization, id, message, nowMs);
    const [waiting] = await ledger.deliveries.list(organization, { limit: 1 });
    return {
      action: "delivery.sent_again",
      // A message that waits is due at once, each time.
      repeats: true,
      of: (of) => ledger.deliveries.again(of, waiting?.id ?? 0, by, nowMs + 5),
    };
  },
  settleHeld: async ({ ledger, id: organization, nowMs }) => {
    const { id } = await ledger.destinations.add(organization, destination, by, nowMs);
    await ledger.destinations.change(organization, id, { state: "paused" }, by, nowMs);
    await ledger.deliveries.add(organization, id, message, nowMs);
    return {
      action: "destination.held_dropped",
      of: (of) => ledger.deliveries.settleHeld(of, id, "drop", by, nowMs + 5),
    };
  },
};
