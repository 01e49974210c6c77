/** The live view's stream: server-sent events, read by fetch. Errors of fetch have a reason, and those of
 * EventSource have none. */
import type { LiveEnd, LiveItem, LiveSkipped } from "../../contract/live.ts";
import { below } from "./base.ts";
import { ApiFailure, addressOf, failureOf, unreachable } from "./client.ts";

/** A message of the stream. */
export type LiveMessage =
  | { readonly event: "item"; readonly data: LiveItem }
  | { readonly event: "skipped"; readonly data: LiveSkipped }
  | { readonly event: "end"; readonly data: LiveEnd };

/** The service sends a sign of life every 10 seconds. After this silence it counts as gone. */
const maxSilentMs = 25_000;

interface Listening {
  /** The id of the last item that is known. Empty for none. */
  readonly after: string;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onMessage: (message: LiveMessage) => void;
}

/** Listens until the stream ends. @throws ApiFailure when it is refused or breaks, or the signal's reason
 * when aborted */
export async function listen(
  organization: number,
  { after, signal, onOpen, onMessage }: Listening,
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), maxSilentMs);
  try {
    const response = await fetch(below(addressOf("/api/live", {}, { after }, organization)), {
      headers: { Accept: "text/event-stream" },
      credentials: "same-origin",
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok) throw await failureOf(response);
    onOpen();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), maxSilentMs);
      text += read.value;
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) take(part, onMessage);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiFailure) throw error;
    throw unreachable();
  } finally {
    clearTimeout(timer);
  }
}

function take(part: string, onMessage: (message: LiveMessage) => void): void {
  const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
  if (event === undefined || data === undefined) return;
  onMessage({ event, data: JSON.parse(data) } as LiveMessage);
}
