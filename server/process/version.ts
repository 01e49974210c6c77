/** Which Rekindle this is. */
import manifest from "../../package.json" with { type: "json" };

/** The version in package.json, such as 0.1.0. */
export function rekindleVersion(): string {
  return manifest.version;
}
