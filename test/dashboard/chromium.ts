/**
 * A Chromium that needs nothing of the machine but npm. The program and the libraries that a bare machine
 * lacks are in the package @sparticuz/chromium. It is unpacked once per version, beside the other
 * dependencies.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** In a copy of the project its folder is a link, and outlives the copy. */
const modules = realpathSync(join(import.meta.dir, "..", "..", "node_modules"));

/** Starts a browser. It has to be closed. */
export async function startBrowser(): Promise<Browser> {
  const folder = await unpacked();
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    // Tests run as root in many places, where Chromium's sandbox is not available. It opens only our own
    // pages.
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
      HOME: folder,
    },
  });
}

async function unpacked(): Promise<string> {
  const { version } = JSON.parse(
    readFileSync(join(modules, "@sparticuz", "chromium", "package.json"), "utf8"),
  ) as { version: string };
  const folder = join(modules, ".cache", `chromium-${version}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const unpacking = Bun.spawn([process.execPath, join(import.meta.dir, "unpack-chromium.ts")], {
      // By this name of Amazon's service the package knows that its libraries are wanted.
      env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" },
      stdout: "ignore",
      stderr: "pipe",
    });
    const said = await new Response(unpacking.stderr).text();
    if ((await unpacking.exited) !== 0) throw new Error(`Chromium could not be unpacked:\n${said}`);
    // The package's own configuration names folders of Amazon's. Without any font Chromium ends at the first
    // text.
    writeFileSync(join(unfinished, "fonts.conf"), fontConfiguration(folder));
    renameSync(unfinished, folder);
  } catch (error) {
    // Another test was quicker.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, "fonts")}</dir>
  <cachedir>${join(folder, "fonts-cache")}</cachedir>
</fontconfig>
`;
}
