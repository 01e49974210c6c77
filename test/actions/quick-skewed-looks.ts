/** The server of quick-looks.ts, with the wall clock of skewed-clock.ts. */
import "../skewed-clock.ts";
import "./quick-looks.ts";
