/** Builds the dashboard's pages if they are not built yet: `cli/with-bun cli/build-pages.ts`. For an
 * installation whose service may not write to its own folder. Otherwise the first `rekindle serve` builds
 * them. */
import { builtPages } from "./pages.ts";

process.exit((await builtPages()) === undefined ? 1 : 0);
