/** Destinations of messages, and the log of what was sent to them. Owners look after them. */
import { randomBytes } from "node:crypto";
import { type DestinationKind, isOwnDigestName } from "../../../contract/destinations/destinations.ts";
import { isMailAddress } from "../../../contract/names.ts";
import { ApiError, noSuch, Refusal } from "../../../contract/refusal.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import { isEmailAddress } from "../../intake/admission/admit-event.ts";
import { loginEmail } from "../../ledger/stores/logins.ts";
import { newCode } from "../../ledger/stores/members.ts";
import { savedAddress } from "../../sending/allowed-address.ts";
import type { Delivery } from "../../sending/deliveries.ts";
import { type DestinationChange, type DestinationWithCounts, notAgreed } from "../../sending/destinations.ts";
import { failureOfMail } from "../../sending/mail.ts";
import { plainMail } from "../../sending/message-body.ts";
import type { Outbox } from "../../sending/outbox.ts";
import { newSecret } from "../../sending/signature.ts";
import { testMessage } from "../../sending/test-message.ts";

export const destinationHandlers = {
  "GET /api/destinations": async ({ ledger, place }) => ({
    answer: {
      destinations: (await ledger.destinations.list(place.organization.id)).map((destination) =>
        destinationAnswer(destination, place.role === "owner"),
      ),
    },
  }),

  "POST /api/destinations": async ({ ledger, outbox, place, address: service, body, nowMs }) => {
    const { kind, notices = [], sendsEmails = false } = body;
    const address = addressIn(kind, body.address, outbox);
    refuseOwnDigestName(body.name.trim());
    const secrets = secretsOf(kind);
    const { organization, actor } = place;
    const wanted = { kind, name: body.name.trim(), address, secrets, notices, sendsEmails };
    const destination = await ledger.destinations.add(organization.id, wanted, actor, nowMs);
    if (kind === "email") await askToAgree(outbox, organization.name, destination, service());
    const secret = kind === "webhook" ? (secrets[0] ?? null) : null;
    return { answer: { destination: destinationAnswer(destination, true), secret } };
  },

  "PATCH /api/destinations/:id": async ({ ledger, outbox, place, path, address: service, body, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "destination");
    const before = await ledger.destinations.find(organization.id, id);
    if (before === undefined) throw noSuch("destination");
    refuseAnothersDigest(before, body);
    const change: DestinationChange = {
      ...body,
      ...(body.name !== undefined && { name: body.name.trim() }),
      ...(body.address !== undefined && { address: addressIn(before.kind, body.address, outbox) }),
    };
    const destination = await ledger.destinations.change(organization.id, id, change, actor, nowMs);
    if (destination === undefined) throw noSuch("destination");
    if (destination.mustAgree) await askToAgree(outbox, organization.name, destination, service());
    return { answer: destinationAnswer(destination, true) };
  },

  "POST /api/destinations/agree": async ({ ledger, body, nowMs }) => {
    const destination = await ledger.destinations.agree(body.destination, body.code, nowMs);
    if (destination === undefined) throw linkNotValid();
    return { answer: { address: destination.address, state: destination.state } };
  },

  "POST /api/unsubscribe/:id/:code": async ({ ledger, path, nowMs }) => {
    const destination = await ledger.destinations.unsubscribe(idIn(path.id, "destination"), path.code, nowMs);
    if (destination === undefined) throw linkNotValid();
    return { answer: { address: destination.address, state: destination.state } };
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
    const secret = newSecret(randomBytes);
    const isThere = await ledger.destinations.addSecret(organization.id, id, secret, actor, nowMs);
    if (!isThere) throw noSuch("destination");
    return { answer: { secret } };
  },

  "POST /api/destinations/:id/test": async ({ ledger, outbox, place, path, address, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "destination");
    const destination = await ledger.destinations.find(organization.id, id);
    if (destination === undefined) throw noSuch("destination");
    if (destination.state === "unconfirmed") throw notAgreed();
    const message = testMessage(organization.name, actor.person?.name ?? actor.by, address(), nowMs);
    await ledger.deliveries.add(organization.id, id, message, nowMs);
    await outbox.sendDue();
    const { messageId } = message;
    const [delivery] = await ledger.deliveries.list(organization.id, {
      destination: id,
      messageId,
      limit: 1,
    });
    if (delivery === undefined) {
      throw new ApiError("conflict", "The destination is disabled. Resume it before you send a test.");
    }
    return { answer: deliveryAnswer(delivery, true) };
  },

  "POST /api/destinations/:id/held": async ({ ledger, outbox, place, path, body, nowMs }) => {
    const id = idIn(path.id, "destination");
    const { organization, actor } = place;
    if ((await ledger.destinations.find(organization.id, id)) === undefined) throw noSuch("destination");
    const messages = await ledger.deliveries.settleHeld(organization.id, id, body.held, actor, nowMs);
    await outbox.sendDue();
    return { answer: { messages } };
  },

  "GET /api/deliveries": async ({ ledger, place, query }) => {
    const deliveries = await ledger.deliveries.list(place.organization.id, query);
    const isOwner = place.role === "owner";
    return { answer: { deliveries: deliveries.map((delivery) => deliveryAnswer(delivery, isOwner)) } };
  },

  "POST /api/deliveries/:id/again": async ({ ledger, outbox, place, path, nowMs }) => {
    const id = idIn(path.id, "delivery");
    const { organization, actor } = place;
    if (!(await ledger.deliveries.again(organization.id, id, actor, nowMs))) throw noSuch("delivery");
    await outbox.sendDue();
    return {};
  },
} satisfies Partial<IntakeHandlers>;

/** @throws ApiError for a name that members' own digests have */
function refuseOwnDigestName(name: string): void {
  if (!isOwnDigestName(name)) return;
  throw new ApiError("validation_error", "name is not valid: members' own digests have such names.");
}

/** A member's own digest is the member's: owners start and stop it, and let the mail ask again. @throws
 * ApiError for any other change */
function refuseAnothersDigest(
  before: Pick<DestinationWithCounts, "name" | "address">,
  { name, address = before.address, notices, sendsEmails }: DestinationChange,
): void {
  if (!isOwnDigestName(before.name)) {
    if (name !== undefined) refuseOwnDigestName(name.trim());
    return;
  }
  if (name === undefined && notices === undefined && sendsEmails === undefined && address === before.address)
    return;
  throw new ApiError(
    "conflict",
    "This is the own digest of a member, who alone changes it. Owners pause, resume or delete it.",
  );
}

/** A destination's address, as its kind needs it. @throws Refusal, ApiError that name the field */
export function addressIn(
  kind: DestinationKind,
  address: string,
  { settings }: Pick<Outbox, "settings">,
): string {
  if (kind !== "email") return savedAddress(address, settings.exceptions);
  if (settings.mail === null) {
    throw new ApiError("conflict", "This installation sends no e-mail: SMTP_URL and MAIL_FROM are not set.");
  }
  const email = loginEmail(address);
  if (!isMailAddress(email) || !isEmailAddress(email))
    throw new Refusal(
      `address is not valid: ${JSON.stringify(email)} is no e-mail address. Send an address such as ada@example.com.`,
    );
  return email;
}

/** The secrets of a new destination. A webhook signs with one, and the links of e-mail have a code. */
export function secretsOf(kind: DestinationKind): readonly string[] {
  if (kind === "slack") return [];
  return [kind === "webhook" ? newSecret(randomBytes) : newCode().code];
}

function linkNotValid(): ApiError {
  return new ApiError(
    "not_found",
    "This link is not valid. It is incomplete, or it was for another address.",
  );
}

/** Sends the link by which the recipient of an e-mail destination agrees. @throws ApiError when the mail
 * cannot be sent */
export async function askToAgree(
  outbox: Pick<Outbox, "mail">,
  organization: string,
  { id, address, secrets }: DestinationWithCounts,
  service: string,
): Promise<void> {
  const link = `${service}/agree#${id}/${secrets[0] ?? ""}`;
  const text = `${organization} wants to send you messages from Rekindle. Open this link to agree. Nothing is sent unless you agree.`;
  const sent = await outbox.mail(plainMail(address, `Messages from ${organization}`, text, link));
  const failure = failureOfMail(sent);
  if (failure !== null) {
    throw new ApiError(
      "conflict",
      `The destination is kept, but the mail to it could not be sent: ${failure}`,
    );
  }
}

/** Addresses are for owners: that of a webhook may be all that a sender needs. That of Slack always is, so it
 * is never answered. */
function destinationAnswer(destination: DestinationWithCounts, isOwner: boolean) {
  const { id, kind, name, address, notices, sendsEmails, state, stoppedBecause } = destination;
  const { pending, held } = destination;
  return {
    id,
    kind,
    name,
    address: isOwner && kind !== "slack" ? address : null,
    host: kind === "email" ? address.slice(address.lastIndexOf("@") + 1) : new URL(address).host,
    notices: [...notices],
    sendsEmails,
    state,
    stoppedBecause,
    pending,
    held,
    failingSince: instantOrNull(destination.failingSinceMs),
    lastDeliveredAt: instantOrNull(destination.deliveredAtMs),
    createdAt: instant(destination.createdAtMs),
    updatedAt: instant(destination.updatedAtMs),
  };
}

function deliveryAnswer(delivery: Delivery, isOwner: boolean) {
  const { id, destination, messageId, type, state, attempts, status, said } = delivery;
  return {
    id,
    destination,
    messageId,
    type,
    state,
    attempts,
    status,
    said: isOwner ? said : null,
    // A test is due before all others, which no reader has to know.
    dueAt: state === "pending" ? instant(Math.max(delivery.dueAtMs, delivery.createdAtMs)) : null,
    attemptedAt: instantOrNull(delivery.attemptedAtMs),
    createdAt: instant(delivery.createdAtMs),
  };
}
