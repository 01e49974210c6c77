/** Sends one message to the address of a destination, and reads as much of the answer as the log of
 * deliveries keeps. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { PrivateDestination } from "../config.ts";
import { messageOf } from "../process/message-of.ts";
import { systemTime } from "../process/time.ts";
import { agentFor } from "./allowed-address.ts";
import { lookUpBy } from "./look-up.ts";
import { retryAfterMs } from "./retry-times.ts";

export interface Message {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of an attempt. */
export interface Sent {
  /** Null when no answer came. */
  readonly status: number | null;
  /** The beginning of the answer's body, or why no answer came. */
  readonly said: string;
  readonly retryAfterMs: number | null;
}

export interface PostRules {
  /** Private services that the installation allows. */
  readonly exceptions: readonly PrivateDestination[];
  /** From the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  readonly answerBytes: number;
  /** Resolves names: for each connection once. */
  readonly lookup: LookupFunction;
}

export const usualRules: PostRules = {
  exceptions: [],
  timeoutMs: 15_000,
  answerBytes: 4_096,
  lookup: lookUpBy("/etc/resolv.conf"),
};

/** Posts a message. It never throws: an address that is not allowed, a connection that is refused and an
 * answer that does not come are reasons in `said`. The status decides: a receiver that has answered has the
 * message, also when the body of its answer does not end. Redirects are not followed. */
export async function post(message: Message, rules: PostRules): Promise<Sent> {
  const { timeoutMs, answerBytes } = rules;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await answerOf(message, rules, signal);
    const said = await beginningOf(answer, answerBytes);
    const { statusCode = null, headers } = answer;
    // The receiver's date is of the real world, whatever clock the service was given.
    const nowMs = systemTime.nowMs();
    return { status: statusCode, said, retryAfterMs: retryAfterMs(headers["retry-after"], nowMs) };
  } catch (error) {
    const why = signal.aborted ? `No answer within ${timeoutMs / 1_000} s.` : whyNot(messageOf(error));
    return { status: null, said: why, retryAfterMs: null };
  }
}

/** Interim answers before the answer: a receiver may say that it works on it, or hint at what comes. */
const maxInterim = 20;

/** Why there is no connection. The agent's own words about an address that is not allowed name its library's
 * settings. */
function whyNot(message: string): string {
  const [, address] = /^DNS lookup (\S+?)\(family:.* is not allowed\./.exec(message) ?? [];
  return address === undefined
    ? message
    : `The address ${address} is not allowed: messages go to public addresses, and to those of ALLOW_PRIVATE_DESTINATIONS.`;
}

function answerOf(
  { address, headers, body }: Message,
  rules: PostRules,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const agent = agentFor(address, rules);
  const bytes = Buffer.from(body);
  const send = address.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((done, failed) => {
    const options = {
      method: "POST",
      agent,
      signal,
      headers: { ...headers, "content-length": bytes.length },
    };
    const request = send(address, options, done);
    const giveUp = (why: string) => {
      request.destroy();
      failed(new Error(why));
    };
    let interim = 0;
    request
      .on("error", failed)
      .on("information", () => {
        interim += 1;
        if (interim > maxInterim) giveUp("The receiver sends interim answers (1xx) without end.");
      })
      .on("upgrade", (_answer, socket) => {
        socket.destroy();
        giveUp("The receiver changes the protocol (101): a webhook has to answer.");
      })
      .end(bytes);
    // In some states of a connection the client reports neither.
    signal.addEventListener("abort", () => giveUp("aborted"), { once: true });
  });
}

/** The first bytes of an answer as text, or fewer when the connection fails before them. The rest is not
 * read. */
async function beginningOf(answer: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= most) break;
    }
  } catch {
    // The bytes before the failure are kept.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, most));
}
