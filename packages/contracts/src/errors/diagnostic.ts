import { z } from 'zod';

/** One thing wrong with an input or a configuration: where, what, and what was probably meant. */
export const Diagnostic = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  suggestion: z.string().optional(),
  line: z.number().int().positive().optional(),
});
export type Diagnostic = z.infer<typeof Diagnostic>;
