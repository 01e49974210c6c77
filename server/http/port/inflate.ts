/**
 * Compressed bodies. node:zlib's synchronous functions stop at a limit and take 6 µs for a small body, where
 * DecompressionStream takes 7 and the asynchronous ones 85; `Bun.gunzipSync` takes 2, but knows no limit.
 */
import { gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from "node:zlib";
import type { Invalid } from "../../intake/admission/json.ts";

export type Coding = "gzip" | "deflate";

const codingOf: Readonly<Record<string, Coding>> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" };

/** Each coding costs one pass over the body. Clients use one. */
const maxCodings = 4;

/** A header is as long as its sender makes it; the message shows its first characters. */
const maxShownCharacters = 50;

/** The codings that a Content-Encoding header names, in the order in which they were applied. */
export function readCodings(header: string): readonly Coding[] | Invalid {
  const names = header
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const codings: Coding[] = [];
  for (const name of names) {
    const coding = Object.hasOwn(codingOf, name) ? codingOf[name] : undefined;
    if (coding === undefined) {
      const shown = JSON.stringify(name.slice(0, maxShownCharacters));
      return {
        invalid: `Content-Encoding ${shown} is not known: send gzip, deflate or an uncompressed body.`,
      };
    }
    codings.push(coding);
  }
  if (codings.length > maxCodings) {
    return { invalid: `Content-Encoding names more than ${maxCodings} codings: send one.` };
  }
  return codings;
}

/** How much is inflated at a time. Large steps halve the time of large bodies, small bodies would pay 10 µs
 * for the room. */
const stepBytes = { small: 16 * 1024, large: 256 * 1024 };
const largeFromBytes = 8 * 1024;

/** 8 kB of gzip can be 8 MiB of JSON, which takes intake up to half a second. What applications send shrinks
 * to a thirtieth, as a rule, and 512 KiB are read in 25 ms. Events that share 10 kB of properties shrink to a
 * 75th. */
const [mostTimes, freeBytes] = [100, 512 * 1024];

/** Most bytes that a body may inflate to, on all its codings together. @param maxBytes however much was
 * sent */
export function mostInflated(sentBytes: number, maxBytes: number): number {
  return Math.min(maxBytes, Math.max(freeBytes, mostTimes * sentBytes));
}

/** Undoes one coding. It stops as soon as there are more than `maxBytes`, so that a bomb costs no more
 * memory than a body of that size. */
export function inflate(bytes: Uint8Array, coding: Coding, maxBytes: number): Uint8Array | Invalid {
  const run = inflater(bytes, coding);
  try {
    const { buffer, engine } = withEngine(run, bytes, {
      maxOutputLength: maxBytes,
      chunkSize: bytes.byteLength < largeFromBytes ? stepBytes.small : stepBytes.large,
    });
    if (engine.bytesWritten === bytes.byteLength) return buffer;
    return { invalid: `body goes on after its ${coding} data has ended: send nothing after it.` };
  } catch (error) {
    return problem(error, coding, maxBytes);
  }
}

type Inflater = typeof gunzipSync;

/** "deflate" means zlib's format (RFC 9110 8.4.1.2), but some clients send it without zlib's two bytes. Those
 * bytes cannot begin a raw stream: they would be a stored block with padding that is not zero. */
function inflater(bytes: Uint8Array, coding: Coding): Inflater {
  if (coding === "gzip") return gunzipSync;
  const [method = 0, flags = 0] = bytes;
  return method % 16 === 8 && (method * 256 + flags) % 31 === 0 ? inflateSync : inflateRawSync;
}

/** The output together with the engine, which knows how many bytes of the input it took. The types of
 * node:zlib leave out what `info` changes. */
function withEngine(run: Inflater, bytes: Uint8Array, options: ZlibOptions) {
  return run(bytes, { ...options, info: true }) as unknown as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
}

/** @throws the error itself when it is none that the input can cause. */
function problem(error: unknown, coding: Coding, maxBytes: number): Invalid {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ERR_BUFFER_TOO_LARGE":
      return {
        invalid: `body inflates to more than ${maxBytes} bytes: send less, or compress it less.`,
        isTooLarge: true,
      };
    case "Z_BUF_ERROR":
      return { invalid: `body ends before its ${coding} data does: send all of it.` };
    case "Z_DATA_ERROR":
    case "Z_NEED_DICT":
      return {
        invalid: `body is not valid ${coding} data: send what a compressor wrote, or no Content-Encoding.`,
      };
    default:
      throw error;
  }
}
