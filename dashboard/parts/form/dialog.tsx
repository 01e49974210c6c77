/** Dialogs and drawers. Their overlay is our own, because Radix's locks scrolling with a style element. The
 * security policy forbids that element. app.css locks scrolling instead. */
import { Dialog as Radix } from "radix-ui";
import { type ReactElement, type ReactNode, useRef } from "react";
import { classes } from "../../text/classes.ts";
import { IconButton } from "./button.tsx";

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** The dialog's purpose, in a sentence. Screen readers read it with the title. */
  readonly description?: string;
  readonly children: ReactNode;
  /** As high as the window: from the left edge and narrow, or from the right edge and wide, for details of
   * the page. */
  readonly isDrawer?: boolean | "right";
  /** For what has long lines. */
  readonly isWide?: boolean;
  /** The title is only for screen readers: the content shows it by itself. */
  readonly isTitleHidden?: boolean;
  /** Neither Escape nor a click beside the dialog closes it, and it has no cross: its content closes it. */
  readonly isHeld?: boolean;
  readonly className?: string;
}

export const veil = "fade-in fixed inset-0 z-40 bg-veil";
export const box =
  "fade-in fixed z-50 max-h-[calc(100dvh-2rem)] overflow-y-auto border border-line bg-raised shadow-float focus:outline-none";
const centredWide =
  "top-4 left-1/2 w-[min(48rem,calc(100vw-2rem))] -translate-x-1/2 rounded sm:top-[7dvh] sm:max-h-[86dvh]";
export const centred = "top-[12dvh] left-1/2 w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 rounded";

const drawers = {
  left: "inset-y-0 left-0 max-h-none w-72 max-w-[85vw] border-y-0 border-l-0",
  right: "inset-y-0 right-0 max-h-none w-[30rem] max-w-full border-y-0 border-r-0",
} as const;

/** A dialog over the page: focus stays in it, Escape closes it, and focus goes back to where it came from. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  children,
  isDrawer = false,
  isWide = false,
  isTitleHidden = false,
  isHeld = false,
  className,
}: DialogProps): ReactElement {
  // Radix gives the focus back to a trigger of its own, which ours have none of.
  const cameFrom = useRef<Element>(null);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && !isHeld && onClose()}>
      <Radix.Portal>
        <div className={veil} data-modal={isHeld ? "held" : ""} aria-hidden="true" />
        <Radix.Content
          {...(description === undefined && { "aria-describedby": undefined })}
          onOpenAutoFocus={() => {
            cameFrom.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus();
          }}
          className={classes(
            box,
            isDrawer ? drawers[isDrawer === "right" ? "right" : "left"] : isWide ? centredWide : centred,
            className,
          )}
        >
          {isTitleHidden ? (
            <Radix.Title className="sr-only">{title}</Radix.Title>
          ) : (
            <Radix.Title className="px-5 pt-4 pr-14 text-lg [overflow-wrap:anywhere]">{title}</Radix.Title>
          )}
          {description !== undefined && (
            <Radix.Description className="px-5 text-soft">{description}</Radix.Description>
          )}
          {isTitleHidden ? children : <div className="px-5 pt-3 pb-5">{children}</div>}
          {/* The last to be reached: focus begins with what the dialog is about. */}
          {!isTitleHidden && !isHeld && (
            <IconButton
              label="Close"
              icon="close"
              isSmall
              hasHint={false}
              onClick={onClose}
              className="absolute top-4 right-4"
            />
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
