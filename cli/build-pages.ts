/** Builds the dashboard's pages where they are not built yet, for an installation whose service may not write to its own
 * folder: `cli/with-bun cli/build-pages.ts`. Otherwise the first `rekindle serve` does it. */
import { builtPages } from "./pages.ts";

process.exit((await builtPages()) === undefined ? 1 : 0);
