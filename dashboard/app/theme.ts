/** Light, dark, or as the system has it. public/theme.js sets the choice before the first paint. */
import { useSyncExternalStore } from "react";
import { recall, remember } from "./memory.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
export const themeLabels = { system: "As the system", light: "Light", dark: "Dark" } as const;

const name = "rekindle.theme";
const listeners = new Set<() => void>();
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
systemIsDark.addEventListener("change", tell);

function tell(): void {
  for (const listener of listeners) listener();
}

/** Chooses a theme and remembers it. */
export function setTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  remember(name, theme === "system" ? undefined : theme);
  tell();
}

function present(): Theme {
  return themes.find((theme) => theme === recall(name)) ?? "system";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The theme that was chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, present);
}

/** The colours that are shown: charts, which are drawn and not styled, change with it. */
export function useShownTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, () => {
    const theme = document.documentElement.dataset.theme;
    return theme === "dark" || (theme === undefined && systemIsDark.matches) ? "dark" : "light";
  });
}
