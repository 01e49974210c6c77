/** Unpacks Chromium and the libraries of its package into $TMPDIR. chromium.ts runs it as a process of its
 * own, because the package reads its environment when it is imported. */
import chromium from "@sparticuz/chromium";

await chromium.executablePath();
