/** A name server that answers as a test says, and keeps the names that it was asked for. */
import { createSocket, type RemoteInfo } from "node:dgram";

export interface Addresses {
  /** `127.0.0.1`: answers to A. */
  readonly ipv4: readonly string[];
  /** 32 hexadecimal digits: answers to AAAA. */
  readonly ipv6: readonly string[];
}

export interface NameServer {
  /** For `setServers` of `node:dns`. */
  readonly address: string;
  /** Names in the order of their first question. */
  readonly asked: ReadonlySet<string>;
  /** Answers all questions that wait: the names do not exist. */
  release(): void;
  stop(): void;
}

const typeA = 1;
const typeAaaa = 28;

/** Starts a name server. @param addressesOf the addresses of a name for the next answer; undefined: no answer
 * until `release` */
export async function startNameServer(
  addressesOf: (name: string) => Addresses | undefined,
): Promise<NameServer> {
  const asked = new Set<string>();
  const waiting: { readonly question: Buffer; readonly from: RemoteInfo }[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (packet, from) => {
    const { name, type, question } = questionOf(packet);
    asked.add(name);
    const found = addressesOf(name);
    if (found === undefined) waiting.push({ question, from });
    else socket.send(answerTo(question, type, found), from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    release: () => {
      for (const { question, from } of waiting.splice(0)) {
        socket.send(withHead(question, { code: 3, answers: 0 }), from.port, from.address);
      }
    },
    stop: () => socket.close(),
  };
}

/** The question of a packet: its head and its first question, without what follows. */
function questionOf(packet: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet.readUInt8(at); length > 0; length = packet.readUInt8(at)) {
    labels.push(packet.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: packet.readUInt16BE(at + 1), question: packet.subarray(0, at + 5) };
}

function withHead(question: Buffer, { code, answers }: { code: number; answers: number }): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 + code, 2);
  head.writeUInt16BE(answers, 6);
  head.writeUInt32BE(0, 8);
  return head;
}

/** Answers are valid for 0 s, so that the next look-up asks again. */
function answerTo(question: Buffer, type: number, { ipv4, ipv6 }: Addresses): Buffer {
  const data = [
    ...(type === typeA ? ipv4.map((one) => Buffer.from(one.split(".").map(Number))) : []),
    ...(type === typeAaaa ? ipv6.map((one) => Buffer.from(one, "hex")) : []),
  ];
  const answers = data.map((bytes) => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([withHead(question, { code: 0, answers: answers.length }), ...answers]);
}
