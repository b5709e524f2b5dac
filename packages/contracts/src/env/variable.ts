import { z } from 'zod';

/** What is known of one environment variable: the schema, `.env.example` and the reference are made from it. */
export interface Variable<S extends z.ZodType = z.ZodType> {
  /** From the text of the variable to its value; never called with an empty text, which counts as unset. */
  schema: S;
  /** What the schema says in words. */
  type: string;
  description: string;
  /** Taken when unset, as text. */
  default?: string;
  /** Holds a key, a password or a connection string: never shown, never expanded into the YAML. */
  secret: boolean;
  /** LibreChat knows the variable by this name too. */
  librechat: boolean;
  /** Another name for it, read when this one is unset. */
  alias?: string;
}

export type Group<T extends Record<string, Variable>> = { title: string; variables: T };

type Facts = Partial<Pick<Variable, 'default' | 'secret' | 'librechat' | 'alias'>>;

function make<S extends z.ZodType, F extends Facts>(type: string, schema: S, description: string, facts: F) {
  return { secret: false, librechat: false, ...facts, type, schema, description };
}

export const text = <F extends Facts>(description: string, facts: F) =>
  make('text', z.string(), description, facts);

export const oneOf = <const V extends readonly [string, ...string[]], F extends Facts>(
  values: V,
  description: string,
  facts: F,
) => make(values.join(' \\| '), z.enum(values, `must be one of ${values.join(', ')}`), description, facts);

export const flag = <F extends Facts>(description: string, facts: F) =>
  make(
    'true \\| false',
    z
      .string()
      .regex(/^(true|false|1|0)$/i, 'must be true or false')
      .transform((value) => /^(true|1)$/i.test(value)),
    description,
    facts,
  );

/** Whole numbers, also as a product (`15 * 60 * 1000`), which is how LibreChat's files write durations. */
export const number = <F extends Facts>(min: number, max: number, description: string, facts: F) =>
  make(
    'whole number',
    z
      .string()
      .regex(/^\d{1,15}(\s*\*\s*\d{1,15})*$/, 'must be a whole number')
      .transform((value) => value.split('*').reduce((product, factor) => product * Number(factor), 1))
      .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
    description,
    facts,
  );

export const custom = <S extends z.ZodType, F extends Facts>(
  type: string,
  schema: S,
  description: string,
  facts: F,
) => make(type, schema, description, facts);
