/** The frame of an organization's pages: navigation beside them, or behind a button on a narrow screen. */
import { Outlet, useLocation } from "@tanstack/react-router";
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from "react";
import { IconButton } from "../parts/form/button.tsx";
import { Dialog } from "../parts/form/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { Wordmark } from "../parts/logo.tsx";
import { classes } from "../text/classes.ts";
import { navigation } from "./navigation.ts";
import { usePageFocus } from "./page-focus.ts";
import { PageLink } from "./page-link.ts";
import { OrganizationSwitcher, PersonMenu } from "./person-menu.tsx";
import { PresentContext, useLastPresent, useOrganization } from "./session.ts";
import { SlowNotice } from "./slow-notice.tsx";

const loadPalette = () => import("./palette.tsx");
const Palette = lazy(loadPalette);
/** The page itself is loaded first. */
const preloadAfterMs = 2_000;

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

export function Shell(): ReactElement {
  return (
    <PresentContext value={useLastPresent()}>
      <Frame />
    </PresentContext>
  );
}

function Frame(): ReactElement {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const typedEarly = useEarlyLetters(isPaletteOpen);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const organization = useOrganization().id;
  usePaletteKeys(setPaletteOpen);
  usePageFocus(main);
  // biome-ignore lint/correctness/useExhaustiveDependencies: going to a page closes what it was chosen in
  useEffect(() => setDrawerOpen(false), [pathname]);
  const openPalette = () => {
    setDrawerOpen(false);
    setPaletteOpen(true);
  };
  return (
    <div className="lg:grid lg:min-h-dvh lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#page"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded bg-ink px-3 py-2 text-inverse focus:translate-y-0"
      >
        Skip to the page
      </a>
      <TopBar onMenu={() => setDrawerOpen(true)} onSearch={openPalette} />
      <aside className="hidden border-r border-line bg-sunk lg:block">
        <div className="sticky top-0 h-dvh">
          <Sidebar onSearch={openPalette} />
        </div>
      </aside>
      <Dialog
        isOpen={isDrawerOpen}
        onClose={() => setDrawerOpen(false)}
        title="Menu"
        isTitleHidden
        isDrawer
        className="bg-sunk"
      >
        <Sidebar onSearch={openPalette} />
      </Dialog>
      <main
        id="page"
        ref={main}
        tabIndex={-1}
        className="min-w-0 px-4 py-5 focus:outline-none sm:px-6 lg:px-8 lg:py-7"
      >
        <div className="mx-auto max-w-[90rem]">
          <SlowNotice />
          {/* By organization: a page keeps nothing of one while another is shown. */}
          <Outlet key={organization} />
        </div>
      </main>
      {isPaletteOpen && (
        <Suspense fallback={null}>
          <Palette onClose={() => setPaletteOpen(false)} typedBefore={() => typedEarly.current} />
        </Suspense>
      )}
    </div>
  );
}

/** Ctrl or Command with K, and a slash where nothing is being typed. */
function usePaletteKeys(open: (is: boolean) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
      if (!isCommand && (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey))
        return;
      event.preventDefault();
      // Another page would take away what such a dialog shows.
      if (document.querySelector("[data-modal=held]") === null) open(true);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [open]);
}

/** Loads the palette before it is needed. Letters that are typed before its field is there are kept. */
function useEarlyLetters(isPaletteOpen: boolean): { readonly current: string } {
  const letters = useRef("");
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), preloadAfterMs);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    letters.current = "";
    if (!isPaletteOpen) return undefined;
    const onKey = (event: KeyboardEvent) => {
      const isInField = event.target instanceof HTMLElement && event.target.matches("input");
      if (isInField || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Backspace") letters.current = letters.current.slice(0, -1);
      else if (event.key.length === 1) letters.current += event.key;
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, [isPaletteOpen]);
  return letters;
}

function TopBar({ onMenu, onSearch }: { onMenu: () => void; onSearch: () => void }): ReactElement {
  const { name } = useOrganization();
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-1 border-b border-line bg-sunk px-2 lg:hidden">
      <IconButton label="Menu" icon="menu" onClick={onMenu} />
      <span className="min-w-0 grow truncate font-medium">{name}</span>
      <IconButton label="Search" icon="search" onClick={onSearch} />
    </header>
  );
}

function Sidebar({ onSearch }: { onSearch: () => void }): ReactElement {
  return (
    <div className="flex h-full flex-col gap-4 overflow-y-auto px-3 py-4">
      <div className="px-2">
        <PageLink to="/o/$organization/overview" className="inline-block rounded text-ink no-underline">
          <Wordmark />
        </PageLink>
      </div>
      <OrganizationSwitcher />
      <button
        type="button"
        onClick={onSearch}
        className="flex h-9 items-center gap-2 rounded border border-edge bg-surface px-2.5 text-soft hover:border-ink hover:text-ink"
      >
        <Icon name="search" />
        <span className="grow text-left">Find …</span>
        <kbd className="rounded border border-line px-1 font-sans text-xs">{isApple ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <nav aria-label="Pages" className="grid gap-3">
        {navigation.map((group) => (
          <ul key={group[0]?.to} className="grid gap-px border-t border-line pt-3 first:border-0 first:pt-0">
            {group.map(({ to, label, icon }) => (
              <li key={to}>
                <PageLink
                  to={to}
                  activeOptions={{ exact: false, includeSearch: false }}
                  className="relative flex h-8 items-center gap-2.5 rounded px-2.5 text-ink no-underline"
                  activeProps={{
                    className: classes(
                      "bg-surface font-medium",
                      "before:absolute before:inset-y-1.5 before:left-0 before:w-0.5 before:bg-ember",
                    ),
                  }}
                  inactiveProps={{ className: "hover:bg-surface/60" }}
                >
                  <Icon name={icon} />
                  {label}
                </PageLink>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <div className="mt-auto">
        <PersonMenu />
      </div>
    </div>
  );
}
