/** An e-mail address that opens the reader's mail program. */
import type { ReactElement } from "react";

export function EmailLink({ email, className }: { email: string; className?: string }): ReactElement {
  return (
    <a
      href={`mailto:${encodeURIComponent(email).replaceAll("%40", "@")}`}
      className={className ?? "underline decoration-edge underline-offset-3"}
    >
      {email}
    </a>
  );
}
