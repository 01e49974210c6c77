/** Sends e-mail by the installation's own server. */
import type { MailConfig } from "../config.ts";
import { messageOf } from "../process/message-of.ts";
import type { Sent } from "./post.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The address of a POST request by which the recipient unsubscribes (RFC 8058); null for a mail that a
   * person requested. */
  readonly unsubscribe: string | null;
}

/** Time limits: `step` for connecting, for the greeting and for each reply; `whole` for the mail, shorter
 * than the claim of a delivery (60 s). */
const timeoutsMs = { step: 15_000, whole: 50_000 };
const saidCharacters = 4_096;

/** The outcome of every mail in an installation without e-mail. */
export const mailIsOff: Sent = {
  status: null,
  said: "This installation sends no e-mail: SMTP_URL and MAIL_FROM are not set.",
  retryAfterMs: null,
};

/** Sends a mail. `status` is the reply code of SMTP (RFC 5321) about the recipient or the message. It is null
 * after all other failures, which are faults of the installation: no connection, a refused password or a
 * refused sender. It never throws. */
export async function sendMail(
  config: MailConfig | null,
  mail: Mail,
  { step, whole } = timeoutsMs,
): Promise<Sent> {
  if (config === null) return mailIsOff;
  const { smtpUrl, from } = config;
  const { username } = new URL(smtpUrl);
  // Most processes send no mail.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: step,
    greetingTimeout: step,
    socketTimeout: step,
    // A password is not sent before the connection is encrypted.
    requireTLS: username !== "",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { to, subject, text, html, unsubscribe } = mail;
  const signal = AbortSignal.timeout(whole);
  try {
    const { response } = await transport.sendMail({
      signal,
      from,
      to: { name: "", address: to },
      subject,
      text,
      html,
      headers: { "Auto-Submitted": "auto-generated", ...(unsubscribe !== null && oneClick(unsubscribe)) },
    });
    return { status: 250, said: response.slice(0, saidCharacters), retryAfterMs: null };
  } catch (error) {
    const said = signal.aborted ? `Not sent within ${whole / 1_000} s.` : messageOf(error);
    return { status: replyCodeOf(error), said: said.slice(0, saidCharacters), retryAfterMs: null };
  } finally {
    transport.close();
  }
}

/** Why a mail was not sent; null when it was. */
export function failureOfMail({ status, said }: Sent): string | null {
  return status !== null && status < 300 ? null : said;
}

function oneClick(unsubscribe: string) {
  return { "List-Unsubscribe": `<${unsubscribe}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

/** The commands of SMTP whose replies are about the recipient and the message. */
const commandsOfMessage: readonly unknown[] = ["RCPT TO", "DATA"];

function replyCodeOf(error: unknown): number | null {
  if (!(error instanceof Error && "responseCode" in error && "command" in error)) return null;
  const { responseCode: code, command } = error;
  return typeof code === "number" && commandsOfMessage.includes(command) ? code : null;
}
