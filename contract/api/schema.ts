/** Constructors of the schemas of parameters, bodies and answers. */
import Type from "typebox";

/** A text that may be empty. */
export const text = (description: string) => Type.String({ description });
/** True or false. */
export const boolean = (description: string) => Type.Boolean({ description });
/** A whole number. */
export const integer = (description: string) => Type.Integer({ description });
/** Any number. */
export const number = (description: string) => Type.Number({ description });
/** A date. */
export const day = (description: string) => Type.String({ format: "date", description });
/** A date-time in UTC. */
export const instant = (description: string) => Type.String({ format: "date-time", description });
/** A number of people, events or rows. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });
/** A part of a whole. */
export const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** The schema or null. */
export const nullable = <T extends Type.TSchema>(schema: T, options: Type.TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);
/** A text, or null where there is none. */
export const textOrNull = (description: string) => nullable(Type.String(), { description });

/** An object without other keys, as parameters and bodies are. */
export const closedObject = <Properties extends Type.TProperties>(
  properties: Properties,
  options: Type.TObjectOptions = {},
) => Type.Object(properties, { additionalProperties: false, ...options });

/** An array of objects with these properties. */
export const listOf = <Properties extends Type.TProperties>(description: string, properties: Properties) =>
  Type.Array(Type.Object(properties), { description });

/** An object with these properties, or null. */
export const objectOrNull = <Properties extends Type.TProperties>(
  description: string,
  properties: Properties,
) => nullable(Type.Object(properties), { description });

type WithDefault<Schema, Options> = Options extends { readonly default: infer Default }
  ? Schema & { readonly default: Default }
  : Schema;

/** Constructors of parameters. Their types say which have a default, so that a request may leave them out. */
export const Parameter = {
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

/** A parameter: a whole number from 1. */
export const positive = (maximum: number, byDefault: number, description: string) =>
  Parameter.Integer({ minimum: 1, maximum, default: byDefault, description });

/** A parameter: a text that is empty by default. */
export const anyText = (description: string) =>
  Parameter.String({ maxLength: 256, default: "", description });

/** A parameter that may be left out: the name of an event or a trait, or an id. */
export const optionalName = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }));

/** A date that may be left out. */
export const optionalDay = (description: string) => Type.Optional(day(description));

/** The part of a list that is read. */
export const pageParameters = {
  limit: positive(1_000, 100, "At most this many."),
  offset: Parameter.Integer({
    minimum: 0,
    maximum: 10_000_000,
    default: 0,
    description: "So many are passed over.",
  }),
};

export const order = Parameter.Enum(["ascending", "descending"], { default: "descending" });

export const weekStart = Type.Optional(
  Type.Enum([1, 7], {
    description: "With which day a week begins: 1 Monday, 7 Sunday. Default: as the organization has set it.",
  }),
);
