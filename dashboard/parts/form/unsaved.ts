/** Asks before something is lost with the page. */
import { useBlocker } from "@tanstack/react-router";
import { useConfirm } from "./confirm.tsx";
import type { Question } from "./confirm-dialog.tsx";

/** Asks the question before another page is opened, and lets the browser ask before the tab is closed. */
export function useUnsaved(isUnsaved: boolean, question: Question): void {
  const confirm = useConfirm();
  useBlocker({
    disabled: !isUnsaved,
    enableBeforeUnload: isUnsaved,
    shouldBlockFn: async ({ current, next }) =>
      current.pathname !== next.pathname && !(await confirm(question)),
  });
}
