/** Next steps once events arrive. */
import type { ReactElement } from "react";
import { pages } from "../../../contract/pages.ts";
import type { Role } from "../../../contract/roles.ts";
import { below } from "../../api/base.ts";
import type { NavigationEntry } from "../../app/navigation.ts";
import { PageLink } from "../../app/page-link.ts";
import { useRights } from "../../app/session.ts";
import { Icon } from "../../parts/icons.tsx";

interface NextStep {
  readonly to: NavigationEntry["to"];
  readonly label: string;
  readonly about: string;
  readonly least: Role;
}

const steps: readonly NextStep[] = [
  {
    to: pages.organizationSettings,
    label: "Set the timezone",
    about: "Days in all figures begin and end in this timezone.",
    least: "owner",
  },
  {
    to: pages.exclusionSettings,
    label: "Exclude your team",
    about: "Add a rule for your own e-mail domain.",
    least: "member",
  },
  {
    to: pages.scoreSettings,
    label: "Choose what counts",
    about: "Set the churn horizon and the key events of your product.",
    least: "member",
  },
  {
    to: pages.memberSettings,
    label: "Invite colleagues",
    about: "As viewers, members or owners.",
    least: "owner",
  },
];

export function NextSteps(): ReactElement {
  const may = useRights();
  return (
    <div className="grid gap-3">
      <p className="text-soft">
        Users and accounts are scored every night. Churn risk needs some weeks of history. Past events can be{" "}
        <a href={below("/reference")}>sent with their timestamps</a>, or imported from files with{" "}
        <code className="font-mono text-sm">rekindle import</code>.
      </p>
      <ul className="grid gap-px overflow-hidden rounded border border-line bg-line sm:grid-cols-2">
        {steps
          .filter(({ least }) => may[least])
          .map(({ to, label, about }) => (
            <li key={to} className="bg-surface px-4 py-3">
              <PageLink to={to} className="font-medium">
                {label} <Icon name="right" size={13} className="inline align-[-1px] text-ember" />
              </PageLink>
              <p className="text-sm text-soft">{about}</p>
            </li>
          ))}
      </ul>
    </div>
  );
}
