/** Constructors of the schemas of parameters, bodies and answers. */
import Type from "typebox";
import { isJsonObject } from "../json.ts";

/** The schema or null. */
export const nullable = <T extends Type.TSchema>(schema: T, options: Type.TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);

/** An object without other keys, as parameters and bodies are. */
export const closedObject = <Properties extends Type.TProperties>(
  properties: Properties,
  options: Type.TObjectOptions = {},
) => Type.Object(properties, { additionalProperties: false, ...options });

/** An array of objects with these properties. */
export const objects = <Properties extends Type.TProperties>(properties: Properties) =>
  Type.Array(Type.Object(properties));

/** An array of objects with these properties and a description. */
export const listOf = <Properties extends Type.TProperties>(description: string, properties: Properties) =>
  Type.Array(Type.Object(properties), { description });

/** An object with these properties, or null. */
export const objectOrNull = <Properties extends Type.TProperties>(
  description: string,
  properties: Properties,
) => nullable(Type.Object(properties), { description });

const inMinorUnits = { "x-minor-units": true } as const;

/** Whether a field of an answer is an amount of money in minor units, or null. */
export function isMoney(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  if (schema["x-minor-units"] === true) return true;
  return Array.isArray(schema.anyOf) && schema.anyOf.some(isMoney);
}

/** Constructors of fields by their description. */
export const Field = {
  text: (description: string) => Type.String({ description }),
  textOrNull: (description: string) => nullable(Type.String(), { description }),
  boolean: (description: string) => Type.Boolean({ description }),
  oneOf: <Values extends string[]>(values: readonly [...Values], description: string) =>
    Type.Enum(values, { description }),
  integer: (description: string) => Type.Integer({ description }),
  number: (description: string) => Type.Number({ description }),
  /** A date. */
  day: (description: string) => Type.String({ format: "date", description }),
  /** A date-time in UTC. */
  instant: (description: string) => Type.String({ format: "date-time", description }),
  /** A number of people, events or rows. */
  count: (description: string) => Type.Integer({ minimum: 0, description }),
  /** An amount of money in whole minor units: 4900 for $49.00. A CSV has it in units, beside a column
   * `currency`. */
  money: (description: string) => Type.Integer({ minimum: 0, description, ...inMinorUnits }),
  /** An expected amount of money in minor units, which may have a fraction. */
  expectedMoney: (description: string) => Type.Number({ description, ...inMinorUnits }),
  /** A part of a whole. */
  share: (description: string) => Type.Number({ minimum: 0, maximum: 1, description }),
};

type WithDefault<Schema, Options> = Options extends { readonly default: infer Default }
  ? Schema & { readonly default: Default }
  : Schema;

/** Schemas with their defaults. Their types say which have one, so that a request may leave them out. */
const withDefault = {
  Boolean: <const Options extends Type.TSchemaOptions>(options: Options) =>
    Type.Boolean(options) as WithDefault<Type.TBoolean, Options>,
  Integer: <const Options extends Type.TNumberOptions>(options: Options) =>
    Type.Integer(options) as WithDefault<Type.TInteger, Options>,
  String: <const Options extends Type.TStringOptions>(options: Options) =>
    Type.String(options) as WithDefault<Type.TString, Options>,
  Enum: <Values extends string[], const Options extends Type.TSchemaOptions>(
    values: readonly [...Values],
    options: Options,
  ) => Type.Enum(values, options) as WithDefault<Type.TEnum<Values>, Options>,
  Union: <Types extends Type.TSchema[], const Options extends Type.TSchemaOptions>(
    types: [...Types],
    options: Options,
  ) => Type.Union(types, options) as WithDefault<Type.TUnion<Types>, Options>,
};

/** A whole number from 1. */
const positive = (maximum: number, byDefault: number, description: string) =>
  withDefault.Integer({ minimum: 1, maximum, default: byDefault, description });

/** Constructors of parameters, and parameters that several routes have. */
export const Parameter = {
  ...withDefault,
  positive,
  /** A text that is empty by default. */
  anyText: (description: string) => withDefault.String({ maxLength: 256, default: "", description }),
  /** The name of an event or a trait, or an id. It may be left out. */
  optionalName: (description: string) =>
    Type.Optional(Type.String({ minLength: 1, maxLength: 256, description })),
  optionalDay: (description: string) => Type.Optional(Field.day(description)),
  order: withDefault.Enum(["ascending", "descending"], { default: "descending" }),
  weekStart: Type.Optional(
    Type.Enum([1, 7], {
      description:
        "The first day of a week: 1 for Monday, 7 for Sunday. Default: the organization's setting.",
    }),
  ),
  /** The part of a list that is read. */
  page: {
    limit: positive(1_000, 100, "At most this many rows."),
    offset: withDefault.Integer({
      minimum: 0,
      maximum: 10_000_000,
      default: 0,
      description: "Rows to skip.",
    }),
  },
};

const ofSegment = {
  users: "Only users of the segment with this id. A segment of accounts matches the users of its accounts.",
  accounts: "Only accounts of the segment with this id.",
  alerts:
    "Only alerts about users or accounts of the segment with this id, by its current members. A segment of accounts also matches the users of its accounts; a segment of users matches no account.",
  tasks:
    "Only tasks for users or accounts of the segment with this id, by its current members. A segment of accounts also matches the users of its accounts; a segment of users matches no account.",
  entities:
    "Only users or accounts of the segment with this id, by its current members, on all days. A segment of accounts also matches the users of its accounts; a segment of users matches no account.",
  payers:
    "Only payers of the segment with this id, by its current members, in all periods. A segment of accounts matches its accounts, and users of these accounts who pay without an account. A segment of users matches its users who pay without an account, and all accounts with at least one member in the segment.",
} as const;

/** The parameter of lists and figures for one segment. */
export const inSegment = (what: keyof typeof ofSegment) =>
  Type.Optional(Type.Integer({ minimum: 1, description: ofSegment[what] }));
