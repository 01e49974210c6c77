/** Which Rekindle this is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version in package.json, such as 0.1.0. */
export function rekindleVersion(): string {
  const text = readFileSync(join(import.meta.dir, "..", "..", "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
