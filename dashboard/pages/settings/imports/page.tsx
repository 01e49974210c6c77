/** Importing files: upload one, see what it seems to be, try it, import it. */
import { type ReactElement, useState } from "react";
import { useRead } from "../../../api/query.ts";
import { PageHeader } from "../../../parts/panel.tsx";
import { Empty, FigurePanel } from "../../../parts/states.tsx";
import { RequiresRole } from "../denied.tsx";
import { FileDrop } from "./file-drop.tsx";
import { ImportHistory } from "./history.tsx";
import { isActive, oftenMs, seldomMs } from "./import-words.ts";
import { OneImport } from "./one-import.tsx";

export default function ImportSettings(): ReactElement {
  return (
    <>
      <PageHeader title="Import">
        Users, accounts and events from a CSV or JSON lines, or from another tool’s export.
      </PageHeader>
      <RequiresRole least="owner">
        <Imports />
      </RequiresRole>
    </>
  );
}

function Imports(): ReactElement {
  const asked = useRead("/api/imports", {
    everyMs: (answer) => (answer?.imports.some(isActive) === true ? oftenMs : seldomMs),
  });
  const [chosen, choose] = useState<number>();
  const imports = asked.data?.imports ?? [];
  // After a reload: the file that is worked on, or that is not imported yet.
  const waiting =
    imports.find(isActive) ?? imports.find((one) => one.fileUntil !== null && one.state !== "done");
  const open = imports.find(({ id }) => id === chosen) ?? waiting;
  return (
    <div className="grid gap-5">
      <FileDrop onUploaded={choose} />
      {open !== undefined && open.fileUntil !== null && <OneImport key={open.id} id={open.id} />}
      <FigurePanel
        title="Imports of the last 90 days"
        isFlush
        asked={asked}
        empty={(answer) =>
          answer.imports.length === 0 && (
            <Empty title="No imports yet">
              Files are deleted after 7 days, and when a user or account is erased.
            </Empty>
          )
        }
      >
        {(answer) => <ImportHistory imports={answer.imports} onOpen={choose} />}
      </FigurePanel>
    </div>
  );
}
