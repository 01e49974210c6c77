/** Messages on their way out: intake's process sends them, so that they leave while analysis is away. */
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../process/log.ts";
import { type Mail, mailIsOff } from "./mail.ts";
import { tellOwners } from "./owner-mails.ts";
import type { Sent } from "./post.ts";
import { PostingThread } from "./posting-thread.ts";
import type { PostingSettings } from "./posting-worker.ts";
import { Sender } from "./sender.ts";

export interface Outbox {
  readonly settings: PostingSettings;
  readonly underWay: Sender["underWay"];
  /** Sends what is due, as far as there is room: about once a second, and when something was added. */
  sendDue(): Promise<unknown>;
  /** Tells owners by e-mail of destinations that failures have disabled. */
  tellOwners(): Promise<void>;
  /** Sends a mail that a request waits for, once. */
  mail(mail: Mail): Promise<Sent>;
  /** Ends the messages that are under way. They are sent again after the next start, and this attempt does
   * not count. */
  stop(): Promise<void>;
}

const stopped: Sent = { status: null, said: "The service stopped.", retryAfterMs: null };

/** The messages of a ledger. @param address of the service, as people reach it */
export function newOutbox(
  ledger: Pick<Ledger, "deliveries" | "destinations" | "members" | "organizations">,
  settings: PostingSettings,
  address: () => string,
  log: Logger,
  nowMs: () => number,
): Outbox {
  const poster = new PostingThread(settings);
  const sender = new Sender({ ledger, poster, address, nowMs, random: Math.random, log });
  const mail = async (one: Mail) =>
    settings.mail === null ? mailIsOff : ((await poster.post(one)) ?? stopped);
  return {
    settings,
    get underWay() {
      return sender.underWay;
    },
    sendDue: () => sender.sendDue(),
    tellOwners: async () => {
      if (settings.mail !== null) await tellOwners({ ledger, mail, address, nowMs, log });
    },
    mail,
    stop: () => {
      poster.stop();
      return sender.stop();
    },
  };
}
