/** The thread of `posting-thread.ts`: it sends messages and answers with the outcome of each. */
import type { MailConfig, PrivateDestination } from "../config.ts";
import { type Mail, sendMail } from "./mail.ts";
import { type Message, post, type Sent, usualRules } from "./post.ts";

/** The settings of the installation. */
export interface PostingSettings {
  /** Private services that are allowed as destinations. */
  readonly exceptions: readonly PrivateDestination[];
  readonly mail: MailConfig | null;
}

/** A message to send, by a number that the answer has, too. */
export interface Posting {
  readonly number: number;
  readonly message: Message | Mail;
  readonly settings: PostingSettings;
}

export interface Posted {
  readonly number: number;
  readonly sent: Sent;
}

declare const self: Worker;

self.onmessage = async ({ data: { number, message, settings } }: MessageEvent<Posting>) => {
  const posted: Posted = { number, sent: await send(message, settings) };
  self.postMessage(posted);
};

function send(message: Message | Mail, { exceptions, mail }: PostingSettings): Promise<Sent> {
  return "address" in message ? post(message, { ...usualRules, exceptions }) : sendMail(mail, message);
}
