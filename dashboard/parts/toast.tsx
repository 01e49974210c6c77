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
  (text: string): void;
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
  const add = useCallback((text: string, isBad: boolean) => {
    const id = nextId++;
    setMessages((before) => [...before, { id, text, isBad }].slice(-maxMessages));
  }, []);
  const [tell] = useState<Tell>(() =>
    Object.assign((text: string) => add(text, false), { failed: (error: Error) => add(error.message, true) }),
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
