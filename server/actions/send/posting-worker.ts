/** The thread of `posting-thread.ts`: it posts messages and answers with what came of each. */
import type { PrivateDestination } from "../../config.ts";
import { type Message, post, type Sent, usualRules } from "./post.ts";

/** A message to post, by a number that the answer has, too. */
export interface Posting {
  readonly number: number;
  readonly message: Message;
  readonly exceptions: readonly PrivateDestination[];
}

export interface Posted {
  readonly number: number;
  readonly sent: Sent;
}

declare const self: Worker;

self.onmessage = async ({ data: { number, message, exceptions } }: MessageEvent<Posting>) => {
  const posted: Posted = { number, sent: await post(message, { ...usualRules, exceptions }) };
  self.postMessage(posted);
};
