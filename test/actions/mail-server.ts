/** A mail server with STARTTLS that keeps the mails it gets. */
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  readonly isSecure: boolean;
  readonly user: unknown;
  readonly to: readonly string[];
  /** With its headers, as it was sent. */
  readonly text: string;
}

export interface MailServer {
  readonly received: readonly ReceivedMail[];
  /** For SMTP_URL, without the certificate's proof. @param user `name:password@`; the password is `right` */
  url(user?: string): string;
  stop(): Promise<void>;
}

/** Starts a mail server on a port of its own. It refuses addresses that begin with `nobody`.
 * @param settings of the server, beside the usual ones */
export async function startMailServer(settings: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    onAuth: ({ username, password }, _, done) =>
      password === "right" ? done(null, { user: username }) : done(new Error("Wrong password")),
    onRcptTo: ({ address }, _, done) =>
      address.startsWith("nobody")
        ? done(Object.assign(new Error("No such mailbox"), { responseCode: 550 }))
        : done(),
    onData: (stream, { secure, user, envelope }, done) => {
      let text = "";
      stream.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      stream.on("end", () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ isSecure: secure, user, to, text });
        done();
      });
    },
    ...settings,
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.server.address() as AddressInfo;
  return {
    received,
    url: (user = "") => `smtp://${user}127.0.0.1:${port}?tls.rejectUnauthorized=false`,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}
