/** The routes of intake about destinations of messages, and their deliveries. */
import { intakeRoute, keyRoute } from "../api/route.ts";
import * as destinations from "./schemas.ts";

export const destinationRoutes = {
  "GET /api/destinations": keyRoute.read({
    summary: "Destinations: webhooks, Slack channels and e-mail addresses",
    answer: destinations.DestinationsAnswer,
  }),
  "POST /api/destinations": intakeRoute.own({
    summary: "Add a destination; its secret is shown only once",
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
      "Make a new secret, shown only once; messages are also signed with the previous secret until the next change",
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
    summary: "The log of deliveries: messages that were sent, and messages that wait",
    query: destinations.DeliveriesParameters,
    answer: destinations.DeliveriesAnswer,
  }),
  "POST /api/deliveries/:id/again": intakeRoute.own({
    summary: "Send a failed or delivered message again, with the same message id",
    status: 204,
  }),
} as const;
