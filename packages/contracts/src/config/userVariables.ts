import { z } from 'zod';
import { section } from './section.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const UserVariable = section({
  title: z.string().min(1).describe('Label of the field in which a user enters the value.'),
  description: z.string().describe('Help text beside the field.'),
  sensitive: z.boolean().default(true).describe('Mask the value. Only an explicit `false` shows it.'),
});

/** Names are what `{{NAME}}` may say, so a name of the trusted placeholders would let a user stand in for them. */
export const UserVariables = z.record(
  z
    .string()
    .regex(
      NAME,
      'a variable name consists of letters, digits and underscores and does not begin with a digit',
    )
    .refine(
      (name) => !name.toUpperCase().startsWith('LIBRECHAT_'),
      'names beginning with LIBRECHAT_ are reserved',
    ),
  UserVariable,
);
export type UserVariables = z.output<typeof UserVariables>;
