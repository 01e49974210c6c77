/** Rules about the text of files. Each takes files and returns what breaks the rule, as sentences. */
import { type SourceFile, withoutComments } from "./source-files.ts";

const isCode = (path: string) => /\.(ts|tsx|mjs)$/.test(path);

interface Pattern {
  readonly pattern: RegExp;
  readonly why: string;
}

/** Looks for patterns line by line. `code` leaves comments out. */
function find(files: readonly SourceFile[], patterns: readonly Pattern[], of: "code" | "text"): string[] {
  return files.flatMap(({ path, text }) =>
    (of === "code" ? withoutComments(text) : text)
      .split("\n")
      .flatMap((line, index) =>
        patterns
          .filter(({ pattern }) => pattern.test(line))
          .map(({ why }) => `${path}:${index + 1}: ${why}: ${line.trim()}`),
      ),
  );
}

/** Literals that are spread into a literal, where their entries could stand. */
export function spreadLiterals(files: readonly SourceFile[]): string[] {
  const patterns = [{ pattern: /\.\.\.\(*\{/, why: "write the fields without the spread literal" }];
  return find(
    files.filter(({ path }) => isCode(path)),
    patterns,
    "code",
  );
}

/** Comments that are wider than code may be. Lines that are indented within a comment stay as they are: they
 * are commands. */
export function wideComments(files: readonly SourceFile[]): string[] {
  const pattern = /^(?=.{111}) *(\/\/|\*|\/\*\*) (?!biome-ignore)\S(?!\S*$)/;
  const why = "wrap comments at 110 columns";
  return find(
    files.filter(({ path }) => isCode(path)),
    [{ pattern, why }],
    "text",
  );
}

/** One file reads the environment. Tests and benchmarks set it for processes that they start. */
export function environmentReaders(files: readonly SourceFile[]): string[] {
  const patterns = [
    {
      pattern: /\b(process|Bun|import\.meta)\.env\b(?!\.\w+ = )/,
      why: "only server/config.ts reads the environment",
    },
  ];
  const judged = ({ path }: SourceFile) =>
    isCode(path) && path !== "server/config.ts" && !/^(test|bench)\//.test(path);
  return find(files.filter(judged), patterns, "code");
}

/** One file of the server reads the wall clock and repeats work by itself: see its comment. */
const timeFile = "server/process/time.ts";
/** Files that may name the machine's own time, each with its reason. All others are given theirs. */
const namesSystemTime: ReadonlySet<string> = new Set([
  timeFile,
  // The product's entry: the default of `serve`.
  "server/start/main.ts",
  // Defaults of ledgers, which tests and commands open by themselves.
  "server/ledger/postgres/ledger.ts",
  "server/ledger/postgres/move-in.ts",
  "server/ledger/sqlite/open.ts",
  // A receiver's date, and a server's clock, are compared with the real one.
  "server/sending/post.ts",
  "server/warehouse/engine/probe.ts",
]);

/** The server's clock and intervals are those that it was given. Otherwise a test could set neither. */
export function clocksOfTheirOwn(files: readonly SourceFile[]): string[] {
  const reads = [
    /\bDate\.now\b/,
    /\bnew Date(\(\s*\)|(?!\w|\())/,
    /(?<!new )\bDate\(\s*\)/,
    /\bsetInterval\b/,
  ].map((pattern) => ({ pattern, why: `only ${timeFile} reads the clock and sets intervals` }));
  const names = [{ pattern: /\bsystemTime\b/, why: "time is given, by a parameter" }];
  const ofServer = files.filter(({ path }) => isCode(path) && path.startsWith("server/"));
  return [
    ...find(
      ofServer.filter(({ path }) => path !== timeFile),
      reads,
      "code",
    ),
    ...find(
      ofServer.filter(({ path }) => !namesSystemTime.has(path)),
      names,
      "code",
    ),
  ];
}

/** Decisions must depend on their input only. Otherwise neither tests nor replays could repeat them. */
export function clocksInPureFiles(files: readonly SourceFile[], pureGlobs: readonly string[]): string[] {
  const why = "a pure file has no clock and no chance";
  const patterns = [
    /\bDate\.now\b/,
    /\bnew Date(\(\s*\)|(?!\w|\())/,
    /(?<!new )\bDate\(\s*\)/,
    /\bperformance\.now\b/,
    /\b(Bun\.nanoseconds|hrtime)\b/,
    /\bset(Timeout|Interval|Immediate)\b/,
    /\bBun\.sleep/,
    /\bMath\.random\b/,
    /\brandom(UUID|Bytes|Int)\b|\bgetRandomValues\b/,
  ].map((pattern) => ({ pattern, why }));
  const globs = pureGlobs.map((glob) => new Bun.Glob(glob));
  return find(
    files.filter(({ path }) => globs.some((glob) => glob.match(path))),
    patterns,
    "code",
  );
}

/** Ways around the compiler and the tests. */
export function shortcuts(files: readonly SourceFile[]): string[] {
  const inCode = [
    { pattern: /(:|<|\||&|\bas|=>|\bextends|,)\s*any\b(?![\w'"(])/, why: "say what the type is" },
    { pattern: /\.(skip|only|todo|skipIf|todoIf|if)\(\s*(["'`]|[^)]*\)\()/, why: "every test runs" },
  ];
  const anywhere = [
    { pattern: /@ts-(ignore|nocheck|expect-error)\b/, why: "mend the type" },
    { pattern: /biome-i[g]nore\b.*(noExplicitAny|noNonNullAssertion)/, why: "mend the type" },
    { pattern: /\b(TO[D]O|FIX[M]E|X[X]X)\b/, why: "do it, or open an issue" },
  ];
  const code = files.filter(({ path }) => isCode(path));
  return [...find(code, inCode, "code"), ...find(code, anywhere, "text")];
}

/** A path of one machine, or the host of a registry, works only there. */
export function tracesOfMachines(files: readonly SourceFile[]): string[] {
  const patterns = [
    { pattern: /(^|[\s"'`=(:])\/(wor[k]|roo[t]|hom[e]|User[s])\//, why: "a path of one machine" },
    { pattern: /\/tmp\/prob[e]/, why: "a path of one machine" },
    {
      pattern: /\bregistry\.(npmj[s]|yarnpk[g]|npmmirro[r])\b|"resolve[d]":\s*"\w+:/,
      why: "a registry's host",
    },
  ];
  return find(files, patterns, "text");
}

/** An exported function has a doc comment with its purpose, units and errors. */
export function undocumentedExports(files: readonly SourceFile[]): string[] {
  const exported =
    /^export (?:default )?(?:async )?(?:function\*?\s+(\w+)|const (\w+)[^=\n]*= (?:async )?(?:\([^)]*\)|\w+)(?:: [^=]+)? =>)/;
  return files
    .filter(({ path }) => isCode(path) && /^(server|simulation|contract|client)\//.test(path))
    .flatMap(({ path, text }) => {
      const lines = text.split("\n");
      return lines.flatMap((line, index) => {
        const match = exported.exec(line);
        if (match === null || endsDocstring(lines, index - 1)) return [];
        return [`${path}:${index + 1}: ${match[1] ?? match[2]} has no docstring directly above it`];
      });
    });
}

/** Overloads share the docstring above the first of them. */
function endsDocstring(lines: readonly string[], index: number): boolean {
  let at = index;
  while (/^export (async )?function .*;$/.test(lines[at] ?? "")) at -= 1;
  if (!lines[at]?.endsWith("*/")) return false;
  while (at > 0 && !lines[at]?.includes("/*")) at -= 1;
  return lines[at]?.trimStart().startsWith("/**") === true;
}

/**
 * Tests wait on conditions, by test/until.ts. A sleep that belongs to what is tested says why: in a comment
 * on its line or on the line above, or by a name such as slowPeerMs. A loop of sleeps on one line waits for
 * something and is never right.
 */
export function unexplainedSleeps(files: readonly SourceFile[], except: readonly string[]): string[] {
  const sleep =
    /\bBun\.sleep(Sync)?\(|\bwaitForTimeout\(|\bnew Promise\b.*\bsetTimeout\b|["']\w*:?timers\/promises["']/;
  const globs = except.map((path) => new Bun.Glob(path));
  const isJudged = ({ path }: SourceFile) =>
    isCode(path) && path.startsWith("test/") && !globs.some((glob) => glob.match(path));
  return files.filter(isJudged).flatMap(({ path, text }) => {
    const lines = text.split("\n");
    const code = withoutComments(text).split("\n");
    return code.flatMap((line, index) => {
      if (!sleep.test(line)) return [];
      const isComment = lines[index - 1]?.trim() !== "" && code[index - 1]?.trim() === "";
      const hasComment = line !== lines[index] || isComment;
      const isExplained = hasComment || /\bsleep\([\w.#]*Ms\)/.test(line);
      const isLoop = /\b(while|for|do)\b/.test(line);
      return isExplained && !isLoop ? [] : [`${path}:${index + 1}: wait by test/until.ts: ${line.trim()}`];
    });
  });
}

/** Two tests of one name in a group are counted as one in a report. It does not show which one failed. Groups
 * are recognized by the formatter's indentation. */
export function testsOfOneName(files: readonly SourceFile[]): string[] {
  const named = /^( *)(test|describe)(?:\.each\(.*\))?\(\s*(["'`])(.*?)\3/gm;
  return files
    .filter(({ path }) => isCode(path) && path.startsWith("test/"))
    .flatMap(({ path, text }) => {
      const known = new Set<string>();
      const groups: { readonly depth: number; readonly name: string }[] = [];
      return [...withoutComments(text).matchAll(named)].flatMap(([, indent = "", what, , name = ""]) => {
        while ((groups.at(-1)?.depth ?? -1) >= indent.length) groups.pop();
        const full = [...groups.map((group) => group.name), name].join(" > ");
        // A name with placeholders gives several names.
        const isFilled = /[%$]/.test(full);
        if (what === "describe") groups.push({ depth: indent.length, name });
        else if (known.has(full) && !isFilled) return [`${path}: two tests are named ${full}`];
        else known.add(full);
        return [];
      });
    });
}
