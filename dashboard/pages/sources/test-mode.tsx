/** The switch of a billing tool's test purchases, and what it means while they are taken. */
import type { ReactElement } from "react";
import type { TestMode } from "../../../contract/source-settings.ts";
import { Select } from "../../parts/form/field.tsx";
import { Notice } from "../../parts/panel.tsx";

const choices = [
  { value: "ignore", label: "Ignore test purchases" },
  { value: "take", label: "Take test purchases" },
] as const;

interface TestModeProps {
  readonly value: TestMode;
  readonly isBusy: boolean;
  readonly onChoose: (chosen: TestMode) => void;
}

export function TestModeSelect({ value, isBusy, onChoose }: TestModeProps): ReactElement {
  return (
    <>
      <Select label="Test mode" value={value} choices={choices} disabled={isBusy} onChoose={onChoose} />
      {value === "take" && (
        <Notice>
          Test purchases count as MRR. Ignore them again before you rely on figures, and erase their users.
        </Notice>
      )}
    </>
  );
}
