/** What a new installation says when it starts for the first time: a token, once, and how to use it. */
import type { Config } from "./config.ts";
import { createProjectToken } from "./ledger/credentials.ts";
import type { Ledger } from "./ledger/ledger.ts";

const firstOrganization = "default";

/** Creates an organization and a project token when there is none yet, and prints the token with a request
 * that works as it stands. */
export async function announceFirstStart(ledger: Ledger, config: Config, port: number): Promise<void> {
  if ((await ledger.organizations.list()).length > 0) return;
  const nowMs = Date.now();
  const organization = await ledger.organizations.create({ name: firstOrganization, timezone: "UTC", nowMs });
  const secret = await createProjectToken(ledger.tokens, {
    organization: organization.id,
    name: "first",
    nowMs,
  });
  const address = config.port === 0 ? `http://${config.host}:${port}` : config.publicUrl;
  process.stdout.write(`
Rekindle is running for the first time.

  Address        ${address}
  Reference      ${address}/reference
  Data           ${config.dataDir}
  Organization   ${organization.name} (timezone ${organization.timezone}; change it with: npx rekindle organization set ${organization.name} --timezone Europe/Paris)
  Project token  ${secret}

The token is shown this once. Identify your first user:

  curl -X POST ${address}/identify -H 'Authorization: Basic ${secret}' -H 'Content-Type: application/json' -d '{"userId":"u1","email":"ada@example.com","properties":{"name":"Ada","plan":"pro"}}'

and record what the user does:

  curl -X POST ${address}/track -H 'Authorization: Basic ${secret}' -H 'Content-Type: application/json' -d '{"userId":"u1","event":"report_created"}'

`);
}
