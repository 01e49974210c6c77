/**
 * Makes mutants of a source file: the file with one small fault each. The faults are those of a programmer.
 * They are a wrong comparison, an off-by-one, a missing condition or statement, and arguments in the wrong
 * order.
 */
import { parseSync } from "vite";

/** A file with one fault. */
export interface Mutant {
  readonly path: string;
  /** The kind of fault, e.g. `comparison flipped`. */
  readonly operator: string;
  readonly line: number;
  /** Characters of the file, from and up to. */
  readonly start: number;
  readonly end: number;
  /** Takes the place of these characters. */
  readonly text: string;
}

type Place = Pick<Mutant, "operator" | "start" | "end" | "text">;

/** A node of the syntax tree, as far as this file looks at it. */
export type Node = { readonly [key: string]: unknown } & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

const flipped: ReadonlyMap<string, string> = new Map([
  ["<", ">="],
  ["<=", ">"],
  [">", "<="],
  [">=", "<"],
  ["===", "!=="],
  ["!==", "==="],
]);
const shifted: ReadonlyMap<string, string> = new Map([
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
]);
const calculated: ReadonlyMap<string, string> = new Map([
  ["+", "-"],
  ["-", "+"],
  ["*", "/"],
  ["/", "*"],
  ["%", "*"],
]);
const methods: ReadonlyMap<string, string> = new Map([
  ["min", "max"],
  ["max", "min"],
  ["some", "every"],
  ["every", "some"],
  ["floor", "ceil"],
  ["ceil", "floor"],
]);
/** Larger numbers are limits and times: one more is no fault. */
const maxNumber = 100;
const sql = /\b(SELECT|FROM|WHERE|GROUP BY|ORDER BY|HAVING|VALUES|SET)\b/;
const sqlFaults: readonly (readonly [RegExp, string, string])[] = [
  [/ < /g, " <= ", "comparison shifted in SQL"],
  [/ <= /g, " < ", "comparison shifted in SQL"],
  [/ > /g, " >= ", "comparison shifted in SQL"],
  [/ >= /g, " > ", "comparison shifted in SQL"],
  [/ AND /g, " OR ", "AND is OR in SQL"],
  [/ DESC\b/g, " ASC", "order turned in SQL"],
  [/\bmin\(/g, "max(", "min is max in SQL"],
  [/\bmax\(/g, "min(", "max is min in SQL"],
];

/** All mutants of a file, in the order of their places. @throws Error when it cannot be parsed */
export function mutantsOf(path: string, source: string): Mutant[] {
  const places = visit(parse(path, source), false, source);
  return places
    .filter(({ start, end, text }) => source.slice(start, end) !== text)
    .map((place) => ({ path, line: lineOf(source, place.start), ...place }))
    .sort((a, b) => a.start - b.start || a.end - b.end || (a.text < b.text ? -1 : 1));
}

/** The file's text with the fault. */
export function mutated(
  source: string,
  { start, end, text }: Pick<Mutant, "start" | "end" | "text">,
): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** The syntax tree of a TypeScript file. @throws Error when it cannot be parsed */
export function parse(path: string, source: string): Node {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  return program as unknown as Node;
}

/** The nodes directly below a node, without types and annotations. */
export function childrenOf(node: Node): Node[] {
  if (/^TS(As|Satisfies|NonNull|TypeAssertion)/.test(node.type)) return [node.expression as Node];
  const children = Object.values(node).flat().filter(isNode);
  return children.filter(
    ({ type }) => !/^TS(?!As|Satisfies|NonNull|TypeAssertion|ParameterProperty)/.test(type),
  );
}

/** Whether a node is a function. */
export function isFunction({ type }: Node): boolean {
  return /Function(Expression|Declaration)$/.test(type);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function lineOf(source: string, at: number): number {
  return source.slice(0, at).split("\n").length;
}

function visit(node: Node, isInFunction: boolean, source: string): Place[] {
  if (node.type === "ImportDeclaration" || isLogging((node.expression as Node | undefined) ?? node))
    return [];
  const inner = isInFunction || isFunction(node);
  const below = childrenOf(node).flatMap((child) => visit(child, inner, source));
  const make = faults[node.type];
  return make === undefined ? below : [...make(node, source, isInFunction), ...below];
}

/** Texts of the log are no behaviour. */
function isLogging(node: Node): boolean {
  const { type, callee } = node as Node & { readonly callee?: Node };
  if (type !== "CallExpression" || callee?.type !== "MemberExpression") return false;
  const object = callee.object as Node;
  return /log$/i.test(String(object.name ?? (object.property as Node | undefined)?.name ?? ""));
}

type Faults = (node: Node, source: string, isInFunction: boolean) => Place[];

const faults: Readonly<Record<string, Faults>> = {
  BinaryExpression: (node, source) => {
    const { start, end } = operatorPlace(node, source);
    const to = (operator: string, text: string | undefined): Place[] =>
      text === undefined ? [] : [{ operator, start, end, text }];
    const sign = String(node.operator);
    return [
      ...to("comparison flipped", flipped.get(sign)),
      ...to("comparison shifted", shifted.get(sign)),
      ...to("calculation changed", calculated.get(sign)),
    ];
  },
  LogicalExpression: (node, source) => {
    const { left, right, operator: sign } = node as unknown as { left: Node; right: Node; operator: string };
    const textOf = ({ start, end }: Node) => source.slice(start, end);
    const whole = { start: node.start, end: node.end };
    if (sign === "??") return [{ operator: "default dropped", ...whole, text: textOf(left) }];
    return [
      { operator: "&& is ||", ...operatorPlace(node, source), text: sign === "&&" ? "||" : "&&" },
      { operator: "condition dropped", ...whole, text: textOf(left) },
      { operator: "condition dropped", ...whole, text: textOf(right) },
    ];
  },
  IfStatement: (node) => ["true", "false"].map((text) => constantTest(node, text)),
  ConditionalExpression: (node) => ["true", "false"].map((text) => constantTest(node, text)),
  UnaryExpression: ({ operator, start }) =>
    operator === "!" ? [{ operator: "negation dropped", start, end: start + 1, text: "" }] : [],
  Literal: (node, source, isInFunction) => {
    const { value, start, end } = node;
    if (typeof value === "string") return faultsOfSql(source, start, end);
    if (typeof value === "boolean") return [{ operator: "boolean turned", start, end, text: String(!value) }];
    const isSmall = Number.isInteger(value) && Number(value) <= maxNumber;
    return isSmall && isInFunction
      ? [{ operator: "off by one", start, end, text: String(Number(value) + 1) }]
      : [];
  },
  TemplateElement: ({ start, end }, source) => faultsOfSql(source, start, end),
  CallExpression: (node, source) => [...swappedArguments(node, source), ...otherMethod(node)],
  NewExpression: swappedArguments,
  ExpressionStatement: ({ expression, start, end }) => {
    const { type, argument } = expression as Node & { readonly argument?: Node };
    const isCall =
      type === "CallExpression" || (type === "AwaitExpression" && argument?.type === "CallExpression");
    return isCall || type === "AssignmentExpression" || type === "UpdateExpression"
      ? [{ operator: "statement dropped", start, end, text: ";" }]
      : [];
  },
};

/** The place of the operator between the two sides. */
function operatorPlace(node: Node, source: string): { readonly start: number; readonly end: number } {
  const sign = String(node.operator);
  const start = source.indexOf(sign, (node.left as Node).end);
  return { start, end: start + sign.length };
}

function constantTest(node: Node, text: string): Place {
  const { start, end } = node.test as Node;
  return { operator: `condition always ${text}`, start, end, text };
}

function swappedArguments(node: Node, source: string): Place[] {
  const given = node.arguments as readonly Node[];
  return given.slice(1).flatMap((second, index): Place[] => {
    const first = given[index];
    if (first === undefined || first.type === "SpreadElement" || second.type === "SpreadElement") return [];
    const between = source.slice(first.end, second.start);
    const text = source.slice(second.start, second.end) + between + source.slice(first.start, first.end);
    return [{ operator: "arguments swapped", start: first.start, end: second.end, text }];
  });
}

function otherMethod({ callee }: Node): Place[] {
  const { type, property } = callee as Node & { readonly property?: Node };
  const text = methods.get(String(property?.name));
  if (type !== "MemberExpression" || property === undefined || text === undefined) return [];
  return [{ operator: "method exchanged", start: property.start, end: property.end, text }];
}

function faultsOfSql(source: string, start: number, end: number): Place[] {
  const written = source.slice(start, end);
  if (!sql.test(written)) return [];
  return sqlFaults.flatMap(([from, text, operator]) =>
    [...written.matchAll(from)].map((match): Place => {
      const at = start + match.index;
      return { operator, start: at, end: at + match[0].length, text };
    }),
  );
}
