/** Short messages about a success or failure, which disappear after some seconds. */
import {
  createContext,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  use,
  useCallback,
  useState,
} from "react";
import type { Message } from "./toast-shelf.tsx";

const ToastShelf = lazy(() => import("./toast-shelf.tsx"));

interface Tell {
  /** @param undo takes back what was done, by a button beside the text */
  (text: string, undo?: () => void): void;
  /** Shows the server's error message. */
  readonly failed: (error: Error) => void;
}

const maxMessages = 3;
const TellContext = createContext<Tell>(Object.assign(() => undefined, { failed: () => undefined }));

/** Shows a message: `tell("Copied")`, `tell.failed(error)`. */
export function useTell(): Tell {
  return use(TellContext);
}

let nextId = 1;

/** Shows the messages. */
export function ToastProvider({ children }: { children: ReactNode }): ReactElement {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const add = useCallback((text: string, isBad: boolean, undo?: () => void) => {
    const id = nextId++;
    const message = { id, text, isBad, ...(undo !== undefined && { undo }) };
    setMessages((before) => [...before, message].slice(-maxMessages));
  }, []);
  const [tell] = useState<Tell>(() =>
    Object.assign((text: string, undo?: () => void) => add(text, false, undo), {
      failed: (error: Error) => add(error.message, true),
    }),
  );
  const remove = (id: number) => setMessages((before) => before.filter((message) => message.id !== id));
  return (
    <TellContext value={tell}>
      {children}
      {messages.length > 0 && (
        <Suspense fallback={null}>
          <ToastShelf messages={messages} onGone={remove} />
        </Suspense>
      )}
    </TellContext>
  );
}
