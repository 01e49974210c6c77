/**
 * Builds the pages into a folder: `bun dashboard/build.ts FOLDER`. Files that benefit are also compressed
 * once, at the highest level, so that the server never compresses. cli/pages.ts decides when to build.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import { build } from "vite";

/** Browsers with every feature that the pages use. light-dark() was the last one, in May 2024. */
const target = ["chrome123", "edge123", "firefox121", "safari17.5"];
/** Below this, headers weigh more than what is won. */
const minCompressedBytes = 800;

async function main(folder: string): Promise<void> {
  // Under `bun test` it is "test", which builds in the development version of React.
  process.env.NODE_ENV = "production";
  await build({
    configFile: false,
    root: import.meta.dir,
    // Scripts and styles find each other by relative addresses, so that they work below a path, too
    // (PUBLIC_URL).
    base: "./",
    logLevel: "warn",
    plugins: [tailwindcss()],
    oxc: { jsx: { runtime: "automatic" } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target,
      cssTarget: target,
      // A file as a data: address would need a wider security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1_000,
      rolldownOptions: {
        output: {
          // Every page needs them. Split by which page needs which, they take 800 bytes more.
          codeSplitting: {
            groups: [{ name: "parts", test: /dashboard\/parts\/(panel|icons|form\/button)\.tsx$/ }],
          },
        },
        // "use client" is for servers that render React. These pages have none.
        onLog: (level, log, pass) => {
          if (log.code !== "MODULE_LEVEL_DIRECTIVE") pass(level, log);
        },
      },
    },
  });
  // The document stands at addresses of any depth. Below a path the server puts it before each address.
  const document = join(folder, "index.html");
  writeFileSync(document, readFileSync(document, "utf8").replaceAll('="./', '="/'));
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (/\.(js|css|html|svg)$/.test(path)) compress(join(folder, path));
  }
}

function compress(file: string): void {
  if (statSync(file).size < minCompressedBytes) return;
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}

const folder = process.argv[2];
if (folder === undefined) throw new Error("say into which folder: bun dashboard/build.ts FOLDER");
await main(folder);
