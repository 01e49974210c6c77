/** What makes the figures yours: the rest of the first hour, each with a tick when it is done. */
import type { ReactElement } from "react";
import { pages } from "../../../contract/pages.ts";
import type { Role } from "../../../contract/roles.ts";
import { useRead } from "../../api/query.ts";
import type { NavigationEntry } from "../../app/navigation.ts";
import { PageLink } from "../../app/page-link.ts";
import { useRights } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icons.tsx";
import { classes } from "../../text/classes.ts";

interface NextStep {
  readonly to: NavigationEntry["to"];
  readonly label: string;
  readonly about: string;
  readonly least: Role;
  /** False also until it is known. */
  readonly isDone: boolean;
}

const everyMs = 10_000;
const demonstration = "npx rekindle demo --owner you@example.com";

export function NextSteps(): ReactElement {
  const may = useRights();
  const steps = useSteps().filter(({ least }) => may[least]);
  return (
    <div className="grid gap-4">
      <ul className="grid gap-px overflow-hidden rounded border border-line bg-line sm:grid-cols-2">
        {steps.map(({ to, label, about, isDone }) => (
          <li key={label} className="flex gap-3 bg-surface px-4 py-3">
            <span
              aria-hidden="true"
              className={classes(
                "mt-0.5 grid size-5 shrink-0 place-items-center rounded-full border",
                isDone ? "border-healthy bg-healthy-wash text-healthy" : "border-edge",
              )}
            >
              {isDone && <Icon name="check" size={12} />}
            </span>
            <div className="min-w-0">
              <PageLink to={to} className="font-medium">
                {label} <Icon name="right" size={13} className="inline align-[-1px] text-ember" />
              </PageLink>
              {isDone && <span className="sr-only"> (done)</span>}
              <p className="text-sm text-soft">{about}</p>
            </div>
          </li>
        ))}
      </ul>
      <div className="grid gap-2">
        <p className="text-soft">
          Look around first? This command fills an organization of its own, Demo, with 3,000 simulated users.
          An owner can delete it like any other.
        </p>
        <Code label="Load the demonstration" text={demonstration} />
      </div>
    </div>
  );
}

/** The steps in their order. Each tick looks at what it is about, every 10 seconds. */
function useSteps(): readonly NextStep[] {
  const sources = useRead("/api/sources", { everyMs }).data;
  const plans = useRead("/api/plans", { everyMs }).data?.plans ?? [];
  const targets = useRead("/api/settings", { everyMs }).data?.settings.churnTargets;
  const rules = useRead("/api/alert-rules", { everyMs }).data?.rules ?? [];
  const team = useRead("/api/members", { everyMs }).data;
  const timezone = useRead("/api/organization", { everyMs }).data?.timezone ?? "UTC";
  const exclusions = useRead("/api/exclusions", { everyMs }).data?.rules ?? [];
  const isConnected =
    sources?.sources.some(({ source, firstSentAt }) => source !== "api" && firstSentAt !== null) ?? false;
  return [
    {
      to: pages.sources,
      label: "Connect a tool",
      about: "Segment, PostHog, RudderStack, Mixpanel and others send what they know already.",
      least: "viewer",
      isDone: isConnected,
    },
    {
      to: pages.sources,
      label: "Connect billing",
      about: "Stripe, Paddle, Chargebee or others: MRR, and what of it is at risk.",
      least: "viewer",
      isDone: plans.length > 0,
    },
    {
      to: pages.sources,
      label: "Import history",
      about: "Past events and users from files: churn risk is there sooner.",
      least: "viewer",
      isDone: (sources?.imported.rows ?? 0) > 0,
    },
    {
      to: pages.scoreSettings,
      label: "Say what churn means for you",
      about: "Silence, an event, a trait, or the end of the last subscription.",
      least: "member",
      isDone: targets !== undefined && (targets.user.by !== "silence" || targets.account.by !== "silence"),
    },
    {
      to: pages.exclusionSettings,
      label: "Exclude your team",
      about: "A rule for your own e-mail domain.",
      least: "member",
      isDone: exclusions.length > 0,
    },
    {
      to: pages.alertRuleSettings,
      label: "Add the first alert rule",
      about: "From a template, with a preview of the last 90 days.",
      least: "member",
      isDone: rules.length > 0,
    },
    {
      to: pages.organizationSettings,
      label: "Set the timezone",
      about: "Days in all figures begin and end in it.",
      least: "owner",
      isDone: timezone !== "UTC",
    },
    {
      to: pages.memberSettings,
      label: "Invite colleagues",
      about: "As viewers, members or owners.",
      least: "owner",
      isDone: team !== undefined && team.members.length + team.invitations.length > 1,
    },
  ];
}
