/** Destinations of messages, and the log of what was sent to them. Owners look after them. */
import { randomBytes, randomUUID } from "node:crypto";
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { destinationUrl, type MessageBody, newSecret } from "../../actions/actions.ts";
import type { Delivery, DestinationChange, DestinationWithCounts } from "../../ledger/ledger.ts";
import { idIn } from "../api/request.ts";
import { instant, instantOrNull } from "../figures/rows.ts";
import type { IntakeHandlers } from "./intake-api.ts";

export const destinationHandlers = {
  "GET /api/destinations": async ({ ledger, place }) => ({
    answer: {
      destinations: (await ledger.destinations.list(place.organization.id)).map(destinationAnswer),
    },
  }),

  "POST /api/destinations": async ({ ledger, outbox, place, body, nowMs }) => {
    const { kind, notices = [] } = body;
    const address = destinationUrl(body.address, outbox.exceptions).href;
    const secret = kind === "webhook" ? newSecret(randomBytes) : null;
    const secrets = secret === null ? [] : [secret];
    const destination = await ledger.destinations.add(
      place.organization.id,
      { kind, name: body.name.trim(), address, secrets, notices },
      place.actor,
      nowMs,
    );
    return { answer: { destination: destinationAnswer(destination), secret } };
  },

  "PATCH /api/destinations/:id": async ({ ledger, outbox, place, path, body, nowMs }) => {
    const change: DestinationChange = {
      ...body,
      ...(body.name !== undefined && { name: body.name.trim() }),
      ...(body.address !== undefined && { address: destinationUrl(body.address, outbox.exceptions).href }),
    };
    const { organization, actor } = place;
    const id = idIn(path.id, "destination");
    const destination = await ledger.destinations.change(organization.id, id, change, actor, nowMs);
    if (destination === undefined) throw noSuch("destination");
    return { answer: destinationAnswer(destination) };
  },

  "DELETE /api/destinations/:id": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "destination");
    if (!(await ledger.destinations.remove(organization.id, id, actor, nowMs))) throw noSuch("destination");
    return {};
  },

  "POST /api/destinations/:id/secret": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "destination");
    const before = await ledger.destinations.find(organization.id, id);
    if (before === undefined) throw noSuch("destination");
    if (before.kind !== "webhook") return { answer: { secret: null } };
    const secret = newSecret(randomBytes);
    const secrets = [secret, ...before.secrets.slice(0, 1)];
    await ledger.destinations.change(organization.id, id, { secrets }, actor, nowMs);
    return { answer: { secret } };
  },

  "POST /api/destinations/:id/test": async ({ ledger, outbox, place, path, address, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "destination");
    if ((await ledger.destinations.find(organization.id, id)) === undefined) throw noSuch("destination");
    const body: MessageBody = {
      type: "test",
      timestamp: instant(nowMs),
      data: { text: `A test message from ${organization.name}, sent by ${actor.by}.`, link: address() },
    };
    const messageId = `msg_${randomUUID()}`;
    await ledger.deliveries.add(
      organization.id,
      id,
      { messageId, type: "test", body: JSON.stringify(body) },
      nowMs,
    );
    await outbox.work();
    const sent = await ledger.deliveries.list(organization.id, { destination: id, limit: 50 });
    const delivery = sent.find((one) => one.messageId === messageId);
    if (delivery === undefined) {
      throw new ApiError("conflict", "The destination is disabled: start it again before you send a test.");
    }
    return { answer: deliveryAnswer(delivery, true) };
  },

  "POST /api/destinations/:id/held": async ({ ledger, outbox, place, path, body, nowMs }) => {
    const id = idIn(path.id, "destination");
    const { organization } = place;
    if ((await ledger.destinations.find(organization.id, id)) === undefined) throw noSuch("destination");
    const messages = await ledger.deliveries.settleHeld(organization.id, id, body.held, nowMs);
    await outbox.work();
    return { answer: { messages } };
  },

  "GET /api/deliveries": async ({ ledger, place, query }) => {
    const deliveries = await ledger.deliveries.list(place.organization.id, query);
    const isOwner = place.role === "owner";
    return { answer: { deliveries: deliveries.map((delivery) => deliveryAnswer(delivery, isOwner)) } };
  },

  "POST /api/deliveries/:id/again": async ({ ledger, outbox, place, path, nowMs }) => {
    const id = idIn(path.id, "delivery");
    if (!(await ledger.deliveries.again(place.organization.id, id, nowMs))) throw noSuch("delivery");
    await outbox.work();
    return {};
  },
} satisfies Partial<IntakeHandlers>;

function destinationAnswer(destination: DestinationWithCounts) {
  const { id, kind, name, address, notices, state, disabledBecause, pending, held } = destination;
  return {
    ...{ id, kind, name, host: new URL(address).host, address: kind === "slack" ? null : address },
    ...{ notices: [...notices], state, disabledBecause, pending, held },
    failingSince: instantOrNull(destination.failingSinceMs),
    lastDeliveredAt: instantOrNull(destination.deliveredAtMs),
    createdAt: instant(destination.createdAtMs),
    updatedAt: instant(destination.updatedAtMs),
  };
}

function deliveryAnswer(delivery: Delivery, isOwner: boolean) {
  const { id, destination, messageId, type, state, tries, status, said } = delivery;
  return {
    ...{ id, destination, messageId, type, state, tries, status, said: isOwner ? said : null },
    dueAt: state === "pending" ? instant(delivery.dueAtMs) : null,
    triedAt: instantOrNull(delivery.triedAtMs),
    createdAt: instant(delivery.createdAtMs),
  };
}
