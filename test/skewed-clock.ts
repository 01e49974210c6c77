/** Makes the wall clock of this process wrong by the milliseconds in the file `clock-skew-ms` of its data folder. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const file = join(process.env.DATA_DIR ?? "", "clock-skew-ms");
const trueNow = Date.now;
Date.now = () => trueNow() + (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
