/** The server of unscheduled-server.ts, with the wall clock of skewed-clock.ts. */
import "./skewed-clock.ts";
import "./unscheduled-server.ts";
