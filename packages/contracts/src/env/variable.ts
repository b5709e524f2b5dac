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

export type VariableGroup<T extends Record<string, Variable>> = { title: string; variables: T };

type VariableOptions = Partial<Pick<Variable, 'default' | 'secret' | 'librechat' | 'alias'>>;

function createVariable<S extends z.ZodType, F extends VariableOptions>(
  type: string,
  schema: S,
  description: string,
  options: F,
) {
  return { secret: false, librechat: false, ...options, type, schema, description };
}

export const textVariable = <F extends VariableOptions>(description: string, options: F) =>
  createVariable('text', z.string(), description, options);

export const enumVariable = <const V extends readonly [string, ...string[]], F extends VariableOptions>(
  values: V,
  description: string,
  options: F,
) =>
  createVariable(
    values.join(' \\| '),
    z.enum(values, `must be one of ${values.join(', ')}`),
    description,
    options,
  );

export const booleanVariable = <F extends VariableOptions>(description: string, options: F) =>
  createVariable(
    'true \\| false',
    z
      .string()
      .regex(/^(true|false|1|0)$/i, 'must be true or false')
      .transform((value) => /^(true|1)$/i.test(value)),
    description,
    options,
  );

/** Whole numbers, also as a product (`15 * 60 * 1000`), which is how LibreChat's files write durations. */
export const numberVariable = <F extends VariableOptions>(
  min: number,
  max: number,
  description: string,
  options: F,
) =>
  createVariable(
    'whole number',
    z
      .string()
      .regex(/^\d{1,15}(\s*\*\s*\d{1,15})*$/, 'must be a whole number')
      .transform((value) => value.split('*').reduce((product, factor) => product * Number(factor), 1))
      .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
    description,
    options,
  );

export const customVariable = <S extends z.ZodType, F extends VariableOptions>(
  type: string,
  schema: S,
  description: string,
  options: F,
) => createVariable(type, schema, description, options);
