/** Where a file is dropped or chosen, and its upload. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { ApiFailure, addressOf } from "../../../api/client.ts";
import { upload } from "../../../api/upload.ts";
import { useOrganization } from "../../../app/session.ts";
import { FormError, Input } from "../../../parts/form/field.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { classes } from "../../../text/classes.ts";
import { numbers } from "../../../text/format.ts";

export function FileDrop({ onUploaded }: { onUploaded: (id: number) => void }): ReactElement {
  const { id: organization } = useOrganization();
  const client = useQueryClient();
  const [sent, setSent] = useState<{ readonly name: string; readonly share: number }>();
  const [error, setError] = useState<ApiFailure | null>(null);
  const [isOver, setOver] = useState(false);
  const send = async (file: File | undefined) => {
    if (file === undefined || sent !== undefined) return;
    const { name } = file;
    setError(null);
    setSent({ name, share: 0 });
    try {
      const address = addressOf("/api/imports", {}, { name: name.slice(-200) }, organization);
      const answer = await upload(address, file, (share) => setSent({ name, share }));
      await client.invalidateQueries({ queryKey: [organization, "/api/imports"] });
      onUploaded((answer as { readonly id: number }).id);
    } catch (failure) {
      if (!(failure instanceof ApiFailure)) throw failure;
      setError(failure);
    } finally {
      setSent(undefined);
    }
  };
  return (
    <Panel title="New import">
      <section
        aria-label="Drop a file here"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void send(event.dataTransfer.files[0]);
        }}
        className={classes(
          "grid gap-3 rounded border border-dashed px-4 py-5",
          isOver ? "border-ember bg-sunk" : "border-edge",
        )}
      >
        <Input
          label="Choose a file, or drop it here"
          type="file"
          accept=".csv,.tsv,.json,.jsonl,.ndjson,.gz,.zip,.txt"
          disabled={sent !== undefined}
          className="py-1! file:mr-3 file:cursor-pointer file:font-medium file:underline file:underline-offset-3"
          onChange={({ target }) => {
            void send(target.files?.[0]);
            target.value = "";
          }}
          help="CSV or JSON lines in UTF-8, also as .gz or .zip, up to 2 GB. Nothing is stored before you have seen a dry run."
        />
        {sent !== undefined && (
          <div role="status" className="grid gap-1.5">
            <p className="text-sm text-soft">
              {sent.name}: {numbers.wholeShare(sent.share)} sent
            </p>
            <progress aria-label="Upload" max={1} value={sent.share} className="h-1.5 w-full" />
          </div>
        )}
      </section>
      <FormError error={error} />
    </Panel>
  );
}
