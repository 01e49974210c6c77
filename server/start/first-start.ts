/** The message of the first start: a token, once, and how to use it; and, until
 * somebody has an account, a link to make one. */

import { Refusal } from "../../contract/refusal.ts";
import type { Config } from "../config.ts";
import { settingUp } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { createProjectToken } from "../ledger/stores/credentials.ts";
import { newCode } from "../ledger/stores/members.ts";

const firstOrganization = "default";

/** Creates an organization and a project token when there is none yet, and prints the token with a request
 * that works as it stands. Until the first account exists, every start prints a link that creates the owner.
 * @param address the service's, as people reach it */
export async function announceStart(
  ledger: Ledger,
  config: Config,
  address: string,
  nowMs: number,
): Promise<void> {
  const link = await claimLink(ledger, address, nowMs);
  if ((await ledger.organizations.list()).length === 0) {
    const isFirst = await announceFirst(ledger, config, { address, link, nowMs });
    if (isFirst) return;
  }
  if (link === undefined) return;
  process.stdout.write(`
Nobody has an account yet. Make the owner's, once, at

  ${link}

`);
}

async function claimLink(
  { members: people }: Ledger,
  address: string,
  nowMs: number,
): Promise<string | undefined> {
  if (await people.isClaimed()) return undefined;
  const { code, sha256 } = newCode();
  await people.addClaimLink(sha256, nowMs);
  return `${address}/claim#${code}`;
}

/** @returns false when another node that was started at the same time has said it */
async function announceFirst(
  ledger: Ledger,
  config: Config,
  {
    address,
    link,
    nowMs,
  }: { readonly address: string; readonly link: string | undefined; readonly nowMs: number },
): Promise<boolean> {
  const organization = await ledger.organizations
    .create({ name: firstOrganization, timezone: "UTC", nowMs }, settingUp)
    .catch((error: unknown) => {
      if (error instanceof Refusal) return undefined;
      throw error;
    });
  if (organization === undefined) return false;
  const wanted = { organization: organization.id, name: "first", nowMs };
  const { secret } = await createProjectToken(ledger.tokens, wanted, settingUp);
  process.stdout.write(`
Rekindle is running for the first time.

  Address        ${address}
  Dashboard      ${link ?? address} (the link works once: it makes the owner's account)
  Reference      ${address}/reference
  Data           ${config.dataDir}
  Organization   ${organization.name} (timezone ${organization.timezone}; change it with: npx rekindle organization change --timezone Europe/Paris)
  Project token  ${secret}

The token is shown this once. Identify your first user:

  curl -X POST ${address}/identify -H 'Authorization: Basic ${secret}' -H 'Content-Type: application/json' -d '{"userId":"u1","email":"ada@example.com","properties":{"name":"Ada","plan":"pro"}}'

and record what the user does:

  curl -X POST ${address}/track -H 'Authorization: Basic ${secret}' -H 'Content-Type: application/json' -d '{"userId":"u1","event":"report_created"}'

`);
  return true;
}
