/** The thread of `snapshot.ts`. It copies one database and answers with an error or with nothing. Then it is
 * ended. */
import { Database } from "bun:sqlite";
import { messageOf } from "../../process/message-of.ts";

declare const self: Worker;

self.onmessage = ({ data: { from, to } }: MessageEvent<{ readonly from: string; readonly to: string }>) => {
  try {
    const db = new Database(from, { readonly: true });
    try {
      db.run("PRAGMA busy_timeout = 5000");
      db.run("PRAGMA synchronous = OFF");
      db.query("VACUUM INTO ?").run(to);
    } finally {
      db.close();
    }
    self.postMessage({});
  } catch (error) {
    self.postMessage({ error: messageOf(error) });
  }
};
