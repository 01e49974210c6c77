/** The settings of an organization, one page for each kind. */
import { Outlet, useLocation } from "@tanstack/react-router";
import { type ReactElement, useEffect, useRef } from "react";
import { PageLink } from "../../app/page-link.ts";
import { useRights } from "../../app/session.ts";
import { settingsPages } from "../../app/settings-pages.ts";
import { useFadingEdges } from "../../parts/list/fading-edges.ts";

export default function SettingsFrame(): ReactElement {
  const { pathname } = useLocation();
  const nav = useRef<HTMLElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useFadingEdges(nav);
  // On a narrow screen the pages are in one line, which scrolls: the present one has to be in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another page is gone to
  useEffect(() => {
    const present = list.current?.querySelector('[aria-current="page"]');
    present?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname]);
  const may = useRights();
  return (
    <div className="xl:grid xl:grid-cols-[11rem_minmax(0,62rem)] xl:gap-10">
      <nav
        ref={nav}
        aria-label="Settings"
        className="fading-edges mb-6 overflow-x-auto border-b border-line xl:sticky xl:top-7 xl:self-start xl:overflow-visible xl:border-b-0 xl:border-l"
      >
        <ul ref={list} className="flex gap-5 xl:grid xl:gap-0.5">
          {settingsPages
            .filter(({ least }) => may[least])
            .map(({ to, label }) => (
              <li key={to}>
                <PageLink
                  to={to}
                  className="block border-b-2 py-2 whitespace-nowrap no-underline focus-visible:-outline-offset-2 xl:-ml-px xl:border-b-0 xl:border-l-2 xl:px-3 xl:py-1.5"
                  activeProps={{ className: "border-ember font-medium text-ink" }}
                  inactiveProps={{ className: "border-transparent text-soft hover:text-ink" }}
                >
                  {label}
                </PageLink>
              </li>
            ))}
        </ul>
      </nav>
      <div className="min-w-0">
        <Outlet />
      </div>
    </div>
  );
}
