/** Menus and popovers. They are not modal, so that nothing has to lock the page's scrolling. */
import { DropdownMenu, Popover as RadixPopover } from "radix-ui";
import { type ReactElement, type ReactNode, useRef } from "react";
import { classes } from "../text/classes.ts";
import { Icon, type IconName } from "./icons.tsx";

const box = "fade-in z-50 rounded border border-line bg-raised shadow-float";
const item =
  "flex items-center gap-2 rounded px-2.5 py-1.5 outline-none data-highlighted:bg-sunk data-disabled:opacity-50 cursor-pointer no-underline text-ink";

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: "start" | "end";
  readonly side?: "top" | "bottom";
}

/** A menu of actions. It lies within the page, because what is in no landmark is hard to find for a screen
 * reader. */
export function Menu({ trigger, children, align = "end", side = "bottom" }: MenuProps): ReactElement {
  // After a choice by mouse the trigger gets no focus back: the browser would draw its ring, as for a
  // keyboard.
  const isChosenByMouse = useRef(false);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={document.getElementById("page")}>
        <DropdownMenu.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onPointerUp={({ target }) => {
            isChosenByMouse.current =
              target instanceof Element && target.closest("[role=menuitemradio]") !== null;
          }}
          onKeyDown={() => {
            isChosenByMouse.current = false;
          }}
          onCloseAutoFocus={(event) => {
            if (isChosenByMouse.current) event.preventDefault();
            isChosenByMouse.current = false;
          }}
          className={classes(box, "max-h-[70dvh] min-w-52 overflow-y-auto p-1")}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  readonly icon?: IconName;
  readonly onSelect?: () => void;
  readonly isDangerous?: boolean;
  /** A link instead of a text: it becomes the item. */
  readonly isLink?: boolean;
  readonly children: ReactNode;
}

/** An action of a menu. */
export function MenuItem({ icon, onSelect, isDangerous, isLink, children }: MenuItemProps): ReactElement {
  return (
    <DropdownMenu.Item
      asChild={isLink ?? false}
      {...(onSelect !== undefined && { onSelect })}
      className={classes(item, isDangerous && "text-at-risk")}
    >
      {isLink ? (
        children
      ) : (
        <span>
          {icon !== undefined && <Icon name={icon} className="mr-2 inline align-[-3px]" />}
          {children}
        </span>
      )}
    </DropdownMenu.Item>
  );
}

/** A choice in a menu, of which one is taken. */
export function MenuChoices<Value extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: Value;
  choices: readonly { readonly value: Value; readonly label: string }[];
  onChoose: (value: Value) => void;
}): ReactElement {
  return (
    <>
      <MenuLabel>{label}</MenuLabel>
      <DropdownMenu.RadioGroup
        value={value}
        onValueChange={(chosen) => {
          const found = choices.find((choice) => choice.value === chosen);
          if (found !== undefined) onChoose(found.value);
        }}
      >
        {choices.map((choice) => (
          <DropdownMenu.RadioItem key={choice.value} value={choice.value} className={item}>
            <span className="grid size-4 place-items-center">
              <DropdownMenu.ItemIndicator>
                <Icon name="check" />
              </DropdownMenu.ItemIndicator>
            </span>
            {choice.label}
          </DropdownMenu.RadioItem>
        ))}
      </DropdownMenu.RadioGroup>
    </>
  );
}

/** A tick in a menu. The menu stays open. */
export function MenuTick({
  isTicked,
  onTick,
  children,
}: {
  isTicked: boolean;
  onTick: (is: boolean) => void;
  children: string;
}): ReactElement {
  return (
    <DropdownMenu.CheckboxItem
      checked={isTicked}
      onCheckedChange={onTick}
      onSelect={(event) => event.preventDefault()}
      className={item}
    >
      <span className="grid size-4 place-items-center">
        <DropdownMenu.ItemIndicator>
          <Icon name="check" />
        </DropdownMenu.ItemIndicator>
      </span>
      {children}
    </DropdownMenu.CheckboxItem>
  );
}

/** The heading of the items below. */
export function MenuLabel({ children }: { children: string }): ReactElement {
  return <DropdownMenu.Label className="px-2.5 pt-1.5 pb-1 text-xs text-soft">{children}</DropdownMenu.Label>;
}

/** A line between items. */
export function MenuLine(): ReactElement {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />;
}

/** A small window beside its button. */
export function Popover({
  trigger,
  label,
  children,
  isOpen,
  onOpenChange,
}: {
  trigger: ReactNode;
  label: string;
  children: ReactNode;
  isOpen?: boolean;
  onOpenChange?: (open: boolean) => void;
}): ReactElement {
  return (
    <RadixPopover.Root
      {...(isOpen !== undefined && { open: isOpen })}
      {...(onOpenChange !== undefined && { onOpenChange })}
    >
      <RadixPopover.Trigger asChild>{trigger}</RadixPopover.Trigger>
      <RadixPopover.Portal>
        <RadixPopover.Content
          aria-label={label}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className={`${box} w-72 max-w-[calc(100vw-1rem)] p-3`}
        >
          {children}
        </RadixPopover.Content>
      </RadixPopover.Portal>
    </RadixPopover.Root>
  );
}
