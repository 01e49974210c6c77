/** The server of quick-skewed-looks.ts, which scores by `rekindle score` alone. */
import { Scheduler } from "../../server/scoring/run/scheduler.ts";

Scheduler.prototype.start = () => undefined;
await import("./quick-skewed-looks.ts");
