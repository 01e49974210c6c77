/** Before any billing data: how to connect it. */
import type { ReactElement, ReactNode } from "react";
import { below } from "../../api/base.ts";
import { PageLink } from "../../app/page-link.ts";
import { serviceAddress } from "../../app/service-address.ts";
import { Code } from "../../parts/copy.tsx";
import { Panel } from "../../parts/panel.tsx";

const event = {
  userId: "u1",
  event: "subscription_started",
  properties: {
    subscriptionId: "sub_1",
    plan: "Team",
    amount: 4900,
    currency: "USD",
    interval: "month",
  },
};

/** A billing event as a command that runs once a token and a user are put in. */
function billingCommand(address: string): string {
  return `curl -X POST ${address}/track \\
  -H 'Authorization: Basic YOUR_TOKEN' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(event)}'
`;
}

const importCommand = `npx rekindle import subscriptions.csv invoices.csv --from stripe --organization default
`;

const tools = [
  { source: "stripe", name: "Stripe" },
  { source: "paddle", name: "Paddle" },
  { source: "chargebee", name: "Chargebee" },
  { source: "revenuecat", name: "RevenueCat" },
  { source: "lemonsqueezy", name: "LemonSqueezy" },
  { source: "polar", name: "Polar" },
] as const;

/** @param note what the page shows once subscriptions are known */
export function Connect({ note }: { note: string }): ReactElement {
  return (
    <Panel title="Connect your billing data" note={note}>
      <div className="grid items-start gap-x-10 gap-y-6 xl:grid-cols-2">
        <div className="grid gap-5">
          <Way title="Your billing tool">
            <p>It sends its events to an address here. The page of sources says how to set it up.</p>
            <ul className="flex flex-wrap gap-x-5 gap-y-1">
              {tools.map(({ source, name }) => (
                <li key={source}>
                  <PageLink to="/o/$organization/sources" search={{ open: source }} className="underline">
                    Set up {name}
                  </PageLink>
                </li>
              ))}
            </ul>
          </Way>
          <Way title="History from Stripe">
            <p>Exports of Stripe’s subscriptions and invoices fill the months before.</p>
            <Code label="Import an export of Stripe" text={importCommand} />
          </Way>
        </div>
        <Way title="Your own events">
          <p>
            Your application sends billing events by <code className="font-mono text-sm">/track</code>. The
            amount is in minor units: 4900 are $49.00. Send{" "}
            <code className="font-mono text-sm">subscription_changed</code> with each new price, and{" "}
            <code className="font-mono text-sm">subscription_canceled</code> at the end.
          </p>
          <Code label="A billing event in curl" text={billingCommand(serviceAddress())} />
          <p className="text-sm text-soft">
            Replace YOUR_TOKEN, and name a user that you have identified.{" "}
            <a href={below("/reference")}>All billing events and their fields</a>
          </p>
        </Way>
      </div>
    </Panel>
  );
}

function Way({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <section aria-label={title} className="grid min-w-0 gap-2">
      <h3 className="text-base font-medium">{title}</h3>
      {children}
    </section>
  );
}
