/** The page of events, with its tabs. */
import { useNavigate } from "@tanstack/react-router";
import { lazy, type ReactElement, Suspense } from "react";
import { useRead } from "../../api/query.ts";
import { choiceFilter, useFilters } from "../../parts/list/filters.ts";
import { PageHeader } from "../../parts/panel.tsx";
import { Loading } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { numbers } from "../../text/format.ts";

const tabNames = ["volume", "adoption", "live", "warnings", "rejected-events"] as const;
type Tab = (typeof tabNames)[number];
const filters = { tab: choiceFilter<Tab>(tabNames, "volume") };

const Volume = lazy(() => import("./volume.tsx").then(({ Volume }) => ({ default: Volume })));
const Adoption = lazy(() => import("./adoption.tsx").then(({ Adoption }) => ({ default: Adoption })));
const Live = lazy(() => import("./live.tsx").then(({ Live }) => ({ default: Live })));
const Warnings = lazy(() => import("./warnings.tsx").then(({ Warnings }) => ({ default: Warnings })));
const RejectedEvents = lazy(() =>
  import("./rejected-events.tsx").then(({ RejectedEvents }) => ({ default: RejectedEvents })),
);

export function EventsPage(): ReactElement {
  const [{ tab }] = useFilters(filters);
  const navigate = useNavigate();
  const rejected = useRead("/api/rejected-events", { query: { limit: 1 } }).data?.total;
  // Filters of the other tabs are dropped: they have another meaning there.
  const choose = (chosen: Tab) =>
    void navigate({
      ...{ to: ".", resetScroll: false },
      search: { tab: filters.tab.write(chosen) },
    });
  return (
    <>
      <PageHeader title="Events">What your applications send, as it arrives and over time</PageHeader>
      <Tabs
        label="Events"
        value={tab}
        onChoose={choose}
        tabs={[
          { value: "volume", label: "Volume" },
          { value: "adoption", label: "Adoption" },
          { value: "live", label: "Live" },
          { value: "warnings", label: "Warnings" },
          {
            value: "rejected-events",
            label: "Rejected events",
            ...(rejected !== undefined && rejected > 0 && { count: numbers.count(rejected) }),
          },
        ]}
      >
        <Suspense fallback={<Loading rows={8} />}>
          {tab === "volume" && <Volume />}
          {tab === "adoption" && <Adoption />}
          {tab === "live" && <Live />}
          {tab === "warnings" && <Warnings />}
          {tab === "rejected-events" && <RejectedEvents />}
        </Suspense>
      </Tabs>
    </>
  );
}
