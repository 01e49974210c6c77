/** Alert rules: when an alert opens, and where it is told. */
import { type ReactElement, useState } from "react";
import { useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, FigurePanel } from "../../parts/states.tsx";
import { RuleForm } from "./rule-form.tsx";
import { RuleRow } from "./rule-row.tsx";

export default function AlertRules(): ReactElement {
  const asked = useRead("/api/alert-rules");
  // Rules are shown without analysis. Their figures come when it answers.
  const figures = useRead("/api/alert-rules/figures");
  const mayChange = useMayAs("member");
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHeader
        title="Alert rules"
        actions={
          mayChange &&
          !isAdding && (
            <Button icon="plus" onClick={() => setAdding(true)}>
              Add rule
            </Button>
          )
        }
      >
        A rule opens an alert when a user or an account meets its condition. Most are decided once a day.
        {!mayChange && " Only members and owners can change them."}
      </PageHeader>
      <div className="grid gap-5">
        {isAdding && (
          <Panel title="New rule">
            <RuleForm rule={undefined} onDone={() => setAdding(false)} />
          </Panel>
        )}
        <FigurePanel
          title="All rules"
          isFlush
          asked={asked}
          empty={({ rules }) =>
            rules.length === 0 && (
              <Empty title="No rule yet">
                {mayChange
                  ? "Add one from a template, and see what it would have done."
                  : "Members and owners can add one."}
              </Empty>
            )
          }
        >
          {({ rules }) => (
            <ul aria-label="Alert rules">
              {rules.map((rule) => (
                <RuleRow key={rule.id} rule={rule} figures={figures.data} />
              ))}
            </ul>
          )}
        </FigurePanel>
      </div>
    </>
  );
}
