/** Every regular expression of the product, found in its syntax trees, and those whose matching is slower
 * than linear. */
import { analyse } from "scslre";
import { parseSync } from "vite";
import type { SourceFile } from "./source-files.ts";

/** A regular expression as it stands in a file. */
export interface FoundExpression {
  /** `path:line`. */
  readonly place: string;
  /** Undefined when only the running program knows it. */
  readonly source: string | undefined;
  readonly flags: string;
}

type Node = Readonly<Record<string, unknown>>;

const product = /^(server|contract|client|cli|dashboard|simulation)\/.*\.tsx?$/;

/**
 * The regular expressions of the product's files: literals, those that `RegExp` makes, and the `pattern` of
 * schemas, which TypeBox makes into some. A pattern may be put together of constants of its file.
 */
export function regularExpressions(files: readonly SourceFile[]): FoundExpression[] {
  return files.filter(({ path }) => product.test(path)).flatMap(expressionsIn);
}

function expressionsIn({ path, text }: SourceFile): FoundExpression[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const nodes = nodesBelow(program);
  const constants = constantsOf(nodes);
  return nodes.flatMap((node): FoundExpression[] => {
    const place = `${path}:${text.slice(0, Number(node.start)).split("\n").length}`;
    const { regex, key, value } = node as { regex?: Node; key?: Node; value?: Node };
    if (node.type === "Literal" && regex !== undefined) {
      return [{ place, source: String(regex.pattern), flags: String(regex.flags) }];
    }
    if (node.type === "Property" && key?.name === "pattern" && value !== undefined) {
      return [{ place, source: textOf(value, constants), flags: "" }];
    }
    const made = argumentsOfRegExp(node);
    if (made === undefined || made[0]?.regex !== undefined) return [];
    return [{ place, source: textOf(made[0], constants), flags: textOf(made[1], constants) ?? "" }];
  });
}

function argumentsOfRegExp(node: Node): readonly Node[] | undefined {
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  const callee = node.callee as Node;
  return callee.name === "RegExp" ? (node.arguments as readonly Node[]) : undefined;
}

function nodesBelow(value: unknown, found: Node[] = []): readonly Node[] {
  if (typeof value !== "object" || value === null) return found;
  if (!Array.isArray(value) && "type" in value) found.push(value as Node);
  for (const key in value) nodesBelow((value as Node)[key], found);
  return found;
}

/** The texts of a file's constants, by name. */
function constantsOf(nodes: readonly Node[]): ReadonlyMap<string, string> {
  const constants = new Map<string, string>();
  for (const node of nodes) {
    if (node.type !== "VariableDeclaration" || node.kind !== "const") continue;
    for (const { id, init } of node.declarations as { id: Node; init?: Node }[]) {
      const text = textOf(init, constants);
      if (text !== undefined) constants.set(String(id.name), text);
    }
  }
  return constants;
}

/** The text that an expression always has. Undefined when it has none, or depends on values at run time. */
function textOf(node: Node | undefined, constants: ReadonlyMap<string, string>): string | undefined {
  if (node?.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node?.type === "Identifier") return constants.get(String(node.name));
  if (node?.type === "BinaryExpression" && node.operator === "+") {
    return joined([textOf(node.left as Node, constants), textOf(node.right as Node, constants)]);
  }
  if (node?.type !== "TemplateLiteral") return undefined;
  const { quasis, expressions } = node as unknown as {
    quasis: { value: { cooked: string } }[];
    expressions: Node[];
  };
  return joined(
    quasis.flatMap(({ value }, at) => {
      const next = expressions[at];
      return next === undefined ? [value.cooked] : [value.cooked, textOf(next, constants)];
    }),
  );
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join("");
}

/** Expressions that take more than linear time for some text, or with an unknown time, each with the
 * reason. */
export function slowExpressions(found: readonly FoundExpression[]): string[] {
  return found.flatMap(({ place, source, flags }) => {
    if (source === undefined) return [`${place}: only the running program knows this regular expression`];
    const [report] = analyse({ source, flags }).reports;
    if (report === undefined) return [];
    const growth = report.exponential ? "exponential" : "quadratic";
    return [`${place}: /${source}/${flags} is ${growth} for texts of ${report.character.literal.source}`];
  });
}
