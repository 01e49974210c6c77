/** Project tokens: `rk-` and 32 random characters. The ledger keeps a hash and the last four characters. */
import { createHash, randomBytes } from "node:crypto";
import type { ProjectToken, Tokens } from "./ledger.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const randomCharacters = 32;

/** Creates a token for an organization. The token itself is returned here and nowhere else, ever. */
export async function createProjectToken(
  tokens: Pick<Tokens, "create">,
  { organization, name, nowMs }: { organization: number; name: string; nowMs: number },
): Promise<{ readonly secret: string; readonly token: ProjectToken }> {
  const secret = `rk-${randomText()}`;
  const token = await tokens.create({
    organization,
    name,
    sha256: hashToken(secret),
    lastFour: secret.slice(-4),
    nowMs,
  });
  return { secret, token };
}

/** How a token is stored and found: SHA-256, in hexadecimal digits. A token has 190 random bits, so a slow
 * hash would add nothing but a way to overload the service. */
export function hashToken(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function randomText(): string {
  let text = "";
  while (text.length < randomCharacters) {
    for (const byte of randomBytes(randomCharacters)) {
      // 248 is the largest multiple of 62 in a byte: bytes above it would favour some characters.
      if (byte < 248 && text.length < randomCharacters) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}
