/** One uploaded file: its step under way, its mapping, its dry run and its outcome. */
import type { ReactElement } from "react";
import { useChange, useRead } from "../../../api/query.ts";
import { Button } from "../../../parts/form/button.tsx";
import { FormError } from "../../../parts/form/field.tsx";
import { PlainTable } from "../../../parts/list/data-table.tsx";
import { FigurePanel } from "../../../parts/states.tsx";
import { counted, numbers } from "../../../text/format.ts";
import { type Detail, isActive, oftenMs, outcomeWords, seldomMs, stateWords } from "./import-words.ts";
import { MappingForm } from "./mapping-form.tsx";

export function OneImport({ id }: { id: number }): ReactElement {
  const asked = useRead("/api/imports/:id", {
    path: { id },
    everyMs: (file) => (file !== undefined && isActive(file) ? oftenMs : seldomMs),
  });
  return (
    <FigurePanel title={asked.data?.fileName ?? "File"} asked={asked}>
      {(file) => (
        <div className="grid gap-5">
          <State file={file} />
          {file.preview !== null && !isActive(file) && file.state !== "done" && (
            <MappingForm key={file.updatedAt} file={file} preview={file.preview}>
              <Outcome file={file} />
            </MappingForm>
          )}
        </div>
      )}
    </FigurePanel>
  );
}

/** What is being done with the file, or what became of it. */
function State({ file }: { file: Detail }): ReactElement | null {
  if (file.failure !== null) {
    return (
      <p role="alert" className="text-at-risk">
        {file.failure}
      </p>
    );
  }
  if (file.state === "done") return <p role="status">Imported: {outcomeWords(file)}.</p>;
  if (!isActive(file)) return null;
  const rows = file.progress === null || file.state !== "running" ? "" : ` ${outcomeWords(file)}.`;
  return (
    <div role="status" className="grid gap-1.5">
      <p>
        {stateWords[file.state]}: {numbers.wholeShare(file.share)} of the file.{rows}
        {file.waitsFor !== null && ` It waits: ${file.waitsFor}`}
      </p>
      <progress aria-label={stateWords[file.state]} max={1} value={file.share} className="h-1.5 w-full" />
      <p className="text-sm text-soft">You can leave this page: it goes on.</p>
    </div>
  );
}

/** The dry run, and the button that imports. */
function Outcome({ file }: { file: Detail }): ReactElement | null {
  const run = useChange("POST /api/imports/:id/run");
  const { check, state, progress } = file;
  const mayRun = state === "checked" || (state === "failed" && progress !== null);
  if (!mayRun) return null;
  return (
    <section aria-label="Dry run" className="grid gap-3">
      {check !== null && (
        <>
          <p>
            Of {counted(check.rows, "row")}, {numbers.count(check.stored)} would be stored,{" "}
            {numbers.count(check.duplicates)} are stored already, {numbers.count(check.ignored)} say nothing
            that is kept, {numbers.count(check.rejected)} would be rejected.
            {check.held > 0 && ` ${counted(check.held, "event")} would wait until their user is identified.`}
          </p>
          {check.reasons.length > 0 && (
            <PlainTable
              label="Why rows would be rejected"
              rows={check.reasons.map((reason, index) => Object.assign({ id: index }, reason))}
              columns={[
                { id: "rows", header: "Rows", isNumber: true, cell: ({ rows }) => numbers.count(rows) },
                {
                  id: "line",
                  header: "First on line",
                  isNumber: true,
                  cell: ({ line }) => numbers.count(line),
                },
                { id: "reason", header: "Reason", cell: ({ reason }) => reason },
              ]}
            />
          )}
        </>
      )}
      <FormError error={run.error} />
      <div>
        <Button look="primary" isBusy={run.isPending} onClick={() => run.mutate({ path: { id: file.id } })}>
          {state === "failed" ? "Go on with the import" : "Import file"}
        </Button>
      </div>
    </section>
  );
}
