/** The steps of a rule: tasks and further messages while an alert is open. */
import type { ReactElement } from "react";
import { ruleLimits } from "../../../contract/alerts/rules.ts";
import { workLimits } from "../../../contract/notes-and-tasks.ts";
import { Button } from "../../parts/form/button.tsx";
import { Input, Select } from "../../parts/form/field.tsx";
import { useMemberChoices, withChoice } from "../tasks/members.ts";
import type { FieldsProps } from "./condition-fields.tsx";
import { blankStep, type DraftStep, hasScope } from "./draft.ts";

export function StepFields({ draft, onChange }: FieldsProps): ReactElement | null {
  // A source has neither tasks nor an owner.
  if (!hasScope(draft)) return null;
  const { steps } = draft;
  const tasks = steps.filter(({ kind }) => kind === "task").length;
  const set = (at: number, changed: Partial<DraftStep>) =>
    onChange({ steps: steps.map((step, index) => (index === at ? { ...step, ...changed } : step)) });
  const add = (kind: DraftStep["kind"]) => onChange({ steps: [...steps, blankStep(kind)] });
  return (
    <fieldset className="grid min-w-0 gap-3">
      <legend className="mb-1.5 font-medium">Steps while an alert is open</legend>
      {steps.map((step, at) => (
        <Step
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other name, and are added at the end
          key={at}
          number={at + 1}
          step={step}
          onChange={(changed) => set(at, changed)}
          onRemove={() => onChange({ steps: steps.filter((_, index) => index !== at) })}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button
          isSmall
          icon="plus"
          disabled={tasks >= ruleLimits.tasks || steps.length >= ruleLimits.steps}
          onClick={() => add("task")}
        >
          Add task
        </Button>
        <Button
          isSmall
          icon="plus"
          disabled={steps.length >= ruleLimits.steps}
          onClick={() => add("message")}
        >
          Add message
        </Button>
      </div>
    </fieldset>
  );
}

interface StepProps {
  readonly number: number;
  readonly step: DraftStep;
  readonly onChange: (changed: Partial<DraftStep>) => void;
  readonly onRemove: () => void;
}

function Step({ number, step, onChange, onRemove }: StepProps): ReactElement {
  const members = useMemberChoices();
  const isTask = step.kind === "task";
  const name = `Step ${number}: ${step.kind}`;
  return (
    <fieldset className="grid min-w-0 gap-2 rounded border border-line px-3 py-2">
      <legend className="sr-only">{name}</legend>
      <div className="flex items-center justify-between gap-2">
        <span aria-hidden="true" className="font-medium">
          {name}
        </span>
        <Button isSmall look="quiet" aria-label={`Remove step ${number}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
      <div className="grid gap-x-4 gap-y-3 pb-1 sm:grid-cols-2">
        {isTask && (
          <>
            <Input
              label="Title"
              required
              maxLength={workLimits.taskTitleCharacters}
              autoComplete="off"
              value={step.title}
              onChange={({ target }) => onChange({ title: target.value })}
            />
            <Select
              label="Assignee"
              value={step.assignee}
              choices={withChoice(
                [{ value: "", label: "The owner" }, ...members],
                step.assignee,
                "A former team member",
              )}
              onChoose={(assignee) => onChange({ assignee })}
            />
          </>
        )}
        <Input
          label="Days after the alert"
          type="number"
          required
          min={isTask ? 0 : 1}
          max={ruleLimits.days}
          value={step.afterDays}
          onChange={({ target }) => onChange({ afterDays: target.value })}
        />
        {isTask && (
          <Input
            label="Days until it is due"
            type="number"
            min={0}
            max={ruleLimits.days}
            value={step.dueDays}
            placeholder="No due day"
            onChange={({ target }) => onChange({ dueDays: target.value })}
          />
        )}
      </div>
    </fieldset>
  );
}
