/** The routes of intake about destinations of messages, and their deliveries. */
import { intakeRoute, keyRoute } from "../api/route.ts";
import * as destinations from "./destination-schemas.ts";

export const destinationRoutes = {
  "GET /api/destinations": keyRoute.read({
    summary: "Destinations: webhooks, Slack channels and e-mail addresses",
    answer: destinations.DestinationsAnswer,
  }),
  "POST /api/destinations": intakeRoute.own({
    summary: "Add a destination; its secret is shown this once",
    body: destinations.DestinationCreateBody,
    status: 201,
    answer: destinations.DestinationCreateAnswer,
  }),
  "PATCH /api/destinations/:id": intakeRoute.own({
    summary: "Change a destination, pause it, or start it again",
    body: destinations.DestinationChangeBody,
    answer: destinations.DestinationAnswer,
  }),
  "DELETE /api/destinations/:id": intakeRoute.own({
    summary: "Delete a destination with the log of its deliveries",
    status: 204,
  }),
  "POST /api/destinations/:id/secret": intakeRoute.own({
    summary:
      "Make a new secret, shown this once; messages are signed with the one before as well until the next one is made",
    status: 201,
    answer: destinations.SecretChangeAnswer,
  }),
  "POST /api/destinations/:id/test": intakeRoute.own({
    summary: "Send a test message; GET /api/deliveries has the result",
    status: 201,
    answer: destinations.DeliveryAnswer,
  }),
  "POST /api/destinations/:id/held": intakeRoute.own({
    summary: "Send or drop the messages that are held",
    body: destinations.HeldBody,
    answer: destinations.HeldAnswer,
  }),
  "GET /api/deliveries": keyRoute.read({
    summary: "Messages that were sent, and those that wait",
    query: destinations.DeliveriesParameters,
    answer: destinations.DeliveriesAnswer,
  }),
  "POST /api/deliveries/:id/again": intakeRoute.own({
    summary: "Send a message again that failed or was delivered, with the same id",
    status: 204,
  }),
} as const;
