/** The settings of an organization, one page for each kind. */
import { Link, Outlet } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useOrganization } from "../../app/session.ts";

const pages = [
  { to: "/o/$organization/settings/organization", label: "Organization" },
  { to: "/o/$organization/settings/tokens", label: "Project tokens" },
  { to: "/o/$organization/settings/keys", label: "Read keys" },
  { to: "/o/$organization/settings/members", label: "Members" },
  { to: "/o/$organization/settings/audit", label: "Audit log" },
  { to: "/o/$organization/settings/account", label: "Your account" },
] as const;

export function SettingsFrame(): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <>
      <nav aria-label="Settings" className="mb-6 overflow-x-auto border-b border-line">
        <ul className="flex gap-5">
          {pages.map(({ to, label }) => (
            <li key={to}>
              <Link
                to={to}
                params={{ organization }}
                className="block border-b-2 py-2 whitespace-nowrap no-underline focus-visible:-outline-offset-2"
                activeProps={{ className: "border-ember font-medium text-ink" }}
                inactiveProps={{ className: "border-transparent text-soft hover:text-ink" }}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Outlet />
    </>
  );
}
