import { z } from 'zod';
import { errorCodes } from './codes.ts';

/** One thing wrong with an input or a configuration: where, what, and what was probably meant. */
export const Diagnostic = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  suggestion: z.string().optional(),
  line: z.number().int().positive().optional(),
});
export type Diagnostic = z.infer<typeof Diagnostic>;

/** Every error body (RFC 9457). `message` and `error` are what an existing front end reads. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  instance: z.string().optional(),
  code: z.enum(errorCodes),
  message: z.string(),
  error: z.string(),
  errors: z.array(Diagnostic).optional(),
});
export type Problem = z.infer<typeof Problem>;
