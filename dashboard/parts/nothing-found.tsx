/** A list of which nothing matches the filters. */
import type { ReactElement } from "react";
import { Button } from "./form/button.tsx";
import { Empty } from "./states.tsx";

/** @param what one row is called: user */
export function NothingFound({ what, onClear }: { what: string; onClear: () => void }): ReactElement {
  return (
    <Empty title={`No ${what} matches`}>
      <p className="mb-3">Take away a filter, or look for another text.</p>
      <Button isSmall onClick={onClear}>
        Clear filters
      </Button>
    </Empty>
  );
}
