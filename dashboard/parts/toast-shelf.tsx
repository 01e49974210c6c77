/** The messages that are shown. The module is loaded with the first of them. */
import { Toast } from "radix-ui";
import type { ReactElement } from "react";
import { classes } from "../text/classes.ts";
import { errorSentence } from "../text/error-sentences.ts";
import { Button, IconButton } from "./form/button.tsx";
import { Icon } from "./icons.tsx";

const shownMs = 6_000;

export interface Message {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  readonly undo?: () => void;
}

export default function ToastShelf({
  messages,
  onGone,
}: {
  messages: readonly Message[];
  onGone: (id: number) => void;
}): ReactElement {
  return (
    <Toast.Provider duration={shownMs} label="Message">
      {messages.map(({ id, text, isBad, undo }) => (
        <Toast.Root
          key={id}
          type={isBad ? "foreground" : "background"}
          onOpenChange={(open) => !open && onGone(id)}
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
            {isBad ? errorSentence(text) : text}
          </Toast.Description>
          {undo !== undefined && (
            <Toast.Action asChild altText="Undo">
              <Button isSmall onClick={undo}>
                Undo
              </Button>
            </Toast.Action>
          )}
          <Toast.Close asChild>
            <IconButton label="Dismiss" icon="close" isSmall className="-my-0.5" />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-[60] grid w-[min(24rem,calc(100vw-2rem))] gap-2 outline-none" />
    </Toast.Provider>
  );
}
