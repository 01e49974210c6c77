/** Unpacks Chromium and the libraries that its package carries into $TMPDIR; run by chromium.ts, as a process of its
 * own, because the package reads its environment when it is imported. */
import chromium from "@sparticuz/chromium";

await chromium.executablePath();
