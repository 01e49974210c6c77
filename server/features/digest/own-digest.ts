/** A team member's own digest by e-mail: a destination of the member's own address, which agrees and
 * unsubscribes as every other. */
import { ownDigestName } from "../../../contract/destinations/destinations.ts";
import { digestPeriods } from "../../../contract/digest/digest.ts";
import { noSuch } from "../../../contract/refusal.ts";
import type { Place } from "../../http/api/gate.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { DestinationWithCounts } from "../../sending/destinations.ts";
import { addressIn, askToAgree, secretsOf } from "../destinations/handlers.ts";

export const ownDigestHandlers = {
  "GET /api/own-digest": async ({ ledger, place }) => {
    const { address, found } = await ownDigest(ledger, place);
    return { answer: answerOf(address, found) };
  },

  "PUT /api/own-digest": async ({ ledger, outbox, place, address: service, body: { period }, nowMs }) => {
    const { organization, actor } = place;
    const { address, person, found } = await ownDigest(ledger, place);
    if (period === "off") {
      if (found !== undefined) await ledger.destinations.remove(organization.id, found.id, actor, nowMs);
      return { answer: answerOf(address, undefined) };
    }
    const notices = [`digest.${period}`] as const;
    const to = addressIn("email", address, outbox);
    if (found === undefined) {
      const wanted = { kind: "email", name: ownDigestName(person), address: to, notices } as const;
      const secrets = secretsOf("email");
      const added = await ledger.destinations.add(organization.id, { ...wanted, secrets }, actor, nowMs);
      await askToAgree(outbox, organization.name, added, service());
      return { answer: answerOf(address, added) };
    }
    // Also the address that is there already, so that a mail asks again before the member agreed.
    const change = { notices, address: to, ...(found.state === "disabled" && { state: "active" as const }) };
    const changed = await ledger.destinations.change(organization.id, found.id, change, actor, nowMs);
    if (changed === undefined) throw noSuch("destination");
    if (changed.mustAgree) await askToAgree(outbox, organization.name, changed, service());
    return { answer: answerOf(address, changed) };
  },
} satisfies Partial<IntakeHandlers>;

async function ownDigest({ members, destinations }: Ledger, { organization, actor }: Place) {
  const member = actor.person === null ? undefined : await members.find(actor.person.id);
  if (member === undefined) throw noSuch("team member");
  const name = ownDigestName(member.id);
  const all = await destinations.list(organization.id);
  const found = all.find((destination) => destination.kind === "email" && destination.name === name);
  return { address: member.email, person: member.id, found };
}

function answerOf(address: string, found: DestinationWithCounts | undefined) {
  const period = digestPeriods.find((one) => found?.notices.includes(`digest.${one}`));
  return { period: period ?? ("off" as const), address, state: found?.state ?? null };
}
