/** Destinations and the messages to them. */
import type { Feature } from "../ledger/feature.ts";
import { messagesAbout } from "./about-user.ts";
import { type DeliveryStore, deliveryStore, forgetInMessages, tidyDeliveries } from "./delivery-store.ts";
import { type DestinationStore, destinationStore, pauseAll } from "./destination-store.ts";
import {
  aboutOfDeliveries,
  destinationsTables,
  emailsOfDestinations,
  toldOwners,
  waitingDeliveries,
} from "./tables.ts";

declare module "../ledger/feature.ts" {
  interface FeatureStores {
    readonly destinations: DestinationStore;
    readonly deliveries: DeliveryStore;
  }
  interface OwnCallsOfFeatures {
    readonly destinations: Exclude<keyof DestinationStore, "list" | "asking">;
    readonly deliveries: Exclude<keyof DeliveryStore, "add" | "list" | "toRender" | "freeze" | "ofUser">;
  }
}

export const sending: Feature = {
  name: "sending",
  tables: [
    { name: "destinations", encoded: ["name", "address", "stopped_because"] },
    { name: "deliveries", encoded: ["message_id", "body", "said"] },
    { name: "delivery_entities" },
  ],
  migrations: [
    destinationsTables,
    () => emailsOfDestinations,
    toldOwners,
    () => waitingDeliveries,
    aboutOfDeliveries,
  ],
  stores: (engine) => ({ destinations: destinationStore(engine), deliveries: deliveryStore(engine) }),
  erase: forgetInMessages,
  tidyHourly: tidyDeliveries,
  pauseElsewhere: pauseAll,
  aboutUser: { messages: messagesAbout },
};
