/** The messages that arrive in the present organization: the latest ones, and the state of the connection. */
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiFailure } from "../../api/client.ts";
import { type LiveMessage, listen } from "../../api/live.ts";
import { useOrganization } from "../../app/session.ts";

/** A message that is shown: an item, or how many were not. */
export type LiveEntry = Exclude<LiveMessage, { readonly event: "end" }> & { readonly key: string };

export interface LiveFeed {
  readonly status: "connecting" | "live" | "over";
  /** Why it is over, or what stands between the page and the service while it connects again. */
  readonly error: Error | undefined;
  /** The newest first. */
  readonly entries: readonly LiveEntry[];
  /** Items that came since the page was opened, also those that are not held any more. */
  readonly received: number;
  readonly clear: () => void;
  readonly retry: () => void;
}

/** More rows would make the page slow. */
const maxEntries = 500;
/** The screen is drawn at most this often. */
const drawEveryMs = 150;
const minWaitMs = 1_000;
const maxWaitMs = 15_000;

const nothing = { entries: [] as readonly LiveEntry[], received: 0 };

/** Listens as long as the page is shown, and comes back by itself. */
export function useLive(): LiveFeed {
  const { id } = useOrganization();
  const [held, setHeld] = useState(nothing);
  const [status, setStatus] = useState<LiveFeed["status"]>("connecting");
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  const last = useRef("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt begins anew
  useEffect(() => {
    const stopping = new AbortController();
    const drawer = new Drawer((fresh) =>
      setHeld(({ entries, received }) => ({
        entries: [...fresh.toReversed(), ...entries].slice(0, maxEntries),
        received: received + fresh.filter(({ event }) => event === "item").length,
      })),
    );
    const take = (message: LiveMessage) => {
      if (message.event === "item") last.current = message.data.id;
      if (message.event !== "end") drawer.add(message);
      else if (message.data.isFinal) throw new ApiFailure("invalid_write_key", message.data.message, 401);
    };
    const onOpen = () => {
      setStatus("live");
      setError(undefined);
    };
    void (async () => {
      for (let waitMs = minWaitMs; !stopping.signal.aborted; waitMs = Math.min(maxWaitMs, waitMs * 2)) {
        const { signal } = stopping;
        const failure = await listen(id, { after: last.current, signal, onOpen, onMessage: take }).catch(
          (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
        );
        if (signal.aborted) return;
        if (failure === undefined) waitMs = minWaitMs;
        else setError(failure);
        if (failure instanceof ApiFailure && [400, 401, 403, 404, 429].includes(failure.status)) {
          setStatus("over");
          return;
        }
        setStatus("connecting");
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    })();
    return () => {
      stopping.abort();
      drawer.stop();
    };
  }, [id, attempt]);
  const clear = useCallback(() => setHeld(nothing), []);
  const retry = useCallback(() => {
    setStatus("connecting");
    setError(undefined);
    setAttempt((before) => before + 1);
  }, []);
  return { ...held, status, error, clear, retry };
}

/** Gathers messages, so that a screen is drawn for many of them. */
class Drawer {
  readonly #draw: (fresh: readonly LiveEntry[]) => void;
  #fresh: LiveEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #skipped = 0;

  constructor(draw: (fresh: readonly LiveEntry[]) => void) {
    this.#draw = draw;
  }

  add(message: Exclude<LiveMessage, { event: "end" }>): void {
    this.#skipped += 1;
    const key = message.event === "item" ? message.data.id : `${message.data.at} ${this.#skipped}`;
    this.#fresh.push({ ...message, key });
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const fresh = this.#fresh;
      this.#fresh = [];
      this.#draw(fresh);
    }, drawEveryMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
