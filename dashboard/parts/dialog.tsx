/** Dialogs and drawers. Their veil is ours: Radix's own locks scrolling with a style element, which the security
 * policy forbids; style/app.css does it instead. */
import { Dialog as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { classes } from "../text/classes.ts";
import { IconButton } from "./button.tsx";

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What it is about, in a sentence; screen readers hear it with the title. */
  readonly description?: string;
  readonly children: ReactNode;
  /** From the left edge, as high as the window. */
  readonly isDrawer?: boolean;
  /** Only screen readers hear the title: the content says it by itself. */
  readonly isTitleHidden?: boolean;
  readonly className?: string;
}

export const veil = "fade-in fixed inset-0 z-40 bg-veil";
export const box =
  "fade-in fixed z-50 max-h-[calc(100dvh-2rem)] overflow-y-auto border border-line bg-raised shadow-float focus:outline-none";
export const centred = "top-[12dvh] left-1/2 w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 rounded";

/** A dialog over the page: focus stays in it, Escape closes it, and focus goes back to where it came from. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  children,
  isDrawer = false,
  isTitleHidden = false,
  className,
}: DialogProps): ReactElement {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <div className={veil} data-modal="" aria-hidden="true" />
        <Radix.Content
          {...(description === undefined && { "aria-describedby": undefined })}
          className={classes(
            box,
            isDrawer ? "inset-y-0 left-0 max-h-none w-72 max-w-[85vw] border-y-0 border-l-0" : centred,
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
          {!isTitleHidden && (
            <IconButton
              label="Close"
              icon="close"
              isSmall
              onClick={onClose}
              className="absolute top-4 right-4"
            />
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
