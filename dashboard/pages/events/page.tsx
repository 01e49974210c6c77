/** The page of events, with its tabs. */
import { useNavigate } from "@tanstack/react-router";
import { type ComponentType, lazy, type ReactElement, Suspense } from "react";
import { useRead } from "../../api/query.ts";
import { labelledFilter, useFilters, type Values } from "../../parts/list/filters.ts";
import { PageHeader } from "../../parts/panel.tsx";
import { Loading } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { numbers } from "../../text/format.ts";

const filters = {
  tab: labelledFilter(
    {
      volume: "Volume",
      adoption: "Adoption",
      live: "Live",
      warnings: "Warnings",
      "rejected-events": "Rejected events",
    },
    "volume",
  ),
};
type Tab = Values<typeof filters>["tab"];

const contents: Readonly<Record<Tab, ComponentType>> = {
  volume: lazy(() => import("./volume.tsx")),
  adoption: lazy(() => import("./adoption.tsx")),
  live: lazy(() => import("./live.tsx")),
  warnings: lazy(() => import("./warnings.tsx")),
  "rejected-events": lazy(() => import("./rejected-events.tsx")),
};

export default function EventsPage(): ReactElement {
  const [{ tab }] = useFilters(filters);
  const Content = contents[tab];
  const navigate = useNavigate();
  const rejected = useRead("/api/rejected-events", { query: { limit: 1 } }).data?.total;
  // Filters of the other tabs are dropped: they have another meaning there.
  const choose = (chosen: Tab) =>
    void navigate({
      to: ".",
      resetScroll: false,
      search: { tab: filters.tab.write(chosen) },
    });
  return (
    <>
      <PageHeader title="Events">What your applications send, as it arrives and over time</PageHeader>
      <Tabs
        label="Events"
        value={tab}
        onChoose={choose}
        tabs={filters.tab.choices.map((choice) => ({
          ...choice,
          ...(choice.value === "rejected-events" &&
            rejected !== undefined &&
            rejected > 0 && { count: numbers.count(rejected) }),
        }))}
      >
        <Suspense fallback={<Loading rows={8} />}>
          <Content />
        </Suspense>
      </Tabs>
    </>
  );
}
