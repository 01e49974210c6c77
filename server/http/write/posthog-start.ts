/**
 * Answers what PostHog's clients ask for when they start: configuration, feature flags, surveys. There are
 * none here, and a 404 would be an error in the console of every page. The answers have no data, so nobody
 * needs a token for them.
 */
import type { Handler } from "../port/handler.ts";
import { preflight, withAnyOrigin } from "./any-origin.ts";

/** Switches off what loads a script or sends what is not kept here. Autocapture stays as the page has set
 * it. */
const config = {
  supportedCompression: ["gzip", "gzip-js"],
  hasFeatureFlags: false,
  siteApps: [],
  surveys: false,
  productTours: false,
  sessionRecording: false,
  heatmaps: false,
  captureDeadClicks: false,
  capturePerformance: false,
  autocaptureExceptions: false,
  conversations: false,
  logs: { captureConsoleLogs: false },
} as const;

/** The flags of `/flags`, and of `/decide` which older clients call. */
const flags = {
  flags: {},
  featureFlags: {},
  featureFlagPayloads: {},
  errorsWhileComputingFlags: false,
} as const;

const said = JSON.stringify(
  "Rekindle has no scripts of PostHog: install posthog-js with npm, or load array.js from another host. Nothing is sent.",
);

/** Paths below these prefixes have one route. */
export const posthogScriptPrefixes = ["/array/", "/static/"] as const;

/** The routes of PostHog's clients at their start. */
export function posthogStartRoutes(): Record<string, Handler> {
  const answers = {
    "POST /flags": json(Object.assign({}, config, flags)),
    "POST /decide": json(Object.assign({}, config, flags)),
    "GET /array/*": (request: Request) =>
      isScript(request) ? script(isSnippet(request)) : Response.json(config),
    "GET /static/*": (request: Request) => script(isSnippet(request)),
    "GET /api/surveys": json({ surveys: [] }),
    "GET /api/early_access_features": json({ earlyAccessFeatures: [] }),
    "GET /api/web_experiments": json({ experiments: [] }),
    "GET /api/product_tours": json({ product_tours: [] }),
  };
  const handlers = Object.entries(answers).map(([route, answer]): [string, Handler] => [
    route,
    withAnyOrigin(answer),
  ]);
  return Object.assign(Object.fromEntries(handlers), {
    "OPTIONS /flags": preflight,
    "OPTIONS /decide": preflight,
  });
}

function json(answer: object): () => Response {
  return () => Response.json(answer);
}

function isScript({ url }: Request): boolean {
  return /\.js(\?|$)/.test(url);
}

/** The script that PostHog's snippet of HTML loads. Without it the snippet only keeps calls, which a page has
 * to be told. */
function isSnippet({ url }: Request): boolean {
  return /\/array(\.full)?(\.es5)?\.js(\?|$)/.test(url);
}

/** An empty script. */
function script(isWarning: boolean): Response {
  return new Response(isWarning ? `console.warn(${said});\n` : "", {
    headers: { "Content-Type": "text/javascript; charset=utf-8", "X-Content-Type-Options": "nosniff" },
  });
}
