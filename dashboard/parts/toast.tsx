/** Short messages that go by themselves: what was done, or that it failed. */
import { Toast } from "radix-ui";
import { createContext, type ReactElement, type ReactNode, use, useCallback, useState } from "react";
import { classes } from "../text/classes.ts";
import { IconButton } from "./button.tsx";
import { Icon } from "./icons.tsx";

interface Message {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
}

interface Tell {
  (text: string): void;
  /** Tells that something failed, by the server's own words. */
  readonly failed: (error: Error) => void;
}

const shownMs = 6_000;
const maxMessages = 3;
const TellContext = createContext<Tell>(Object.assign(() => undefined, { failed: () => undefined }));

/** Tells the reader something in passing: `tell("Copied")`, `tell.failed(error)`. */
export function useTell(): Tell {
  return use(TellContext);
}

let nextId = 1;

/** Shows what is told. */
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
      <Toast.Provider duration={shownMs} label="Message">
        {children}
        {messages.map(({ id, text, isBad }) => (
          <Toast.Root
            key={id}
            type={isBad ? "foreground" : "background"}
            onOpenChange={(open) => !open && remove(id)}
            className={classes(
              "fade-in flex items-start gap-2 rounded border bg-raised py-2 pr-1.5 pl-3 shadow-float",
              isBad ? "border-at-risk" : "border-line",
            )}
          >
            <Icon
              name={isBad ? "warning" : "check"}
              className={classes("mt-1", isBad ? "text-at-risk" : "text-healthy")}
            />
            <Toast.Description className="min-w-0 grow py-px [overflow-wrap:anywhere]">
              {text}
            </Toast.Description>
            <Toast.Close asChild>
              <IconButton label="Dismiss" icon="close" isSmall className="-my-0.5" />
            </Toast.Close>
          </Toast.Root>
        ))}
        <Toast.Viewport className="fixed right-4 bottom-4 z-[60] grid w-[min(24rem,calc(100vw-2rem))] gap-2 outline-none" />
      </Toast.Provider>
    </TellContext>
  );
}
