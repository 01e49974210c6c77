/** Tabs of a page. The chosen one is in the address, so that every tab is a link. */
import { Tabs as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";

/** Tabs with their content. The content of the other tabs is not in the page. */
export function Tabs<Value extends string>({
  label,
  value,
  onChoose,
  tabs,
  children,
}: {
  label: string;
  value: Value;
  onChoose: (value: Value) => void;
  tabs: readonly { readonly value: Value; readonly label: string; readonly count?: ReactNode }[];
  children: ReactNode;
}): ReactElement {
  return (
    <Radix.Root
      value={value}
      onValueChange={(chosen) => {
        const found = tabs.find((tab) => tab.value === chosen);
        if (found !== undefined) onChoose(found.value);
      }}
    >
      <Radix.List aria-label={label} className="mb-4 flex gap-5 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px border-b-2 border-transparent py-2 whitespace-nowrap text-soft hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-ember data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && <span className="ml-1.5 text-sm text-soft">{tab.count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} className="focus-visible:outline-offset-4">
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
