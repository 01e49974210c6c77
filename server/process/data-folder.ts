/** What stands where in a data folder. */
import { join } from "node:path";

/** The folder of the embedded warehouse. */
export function warehouseFolder(dataDir: string): string {
  return join(dataDir, "warehouse");
}
