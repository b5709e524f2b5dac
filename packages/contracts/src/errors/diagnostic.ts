import { z } from 'zod';

/** A problem of an input or configuration: path, line, message and suggestion. */
export const Diagnostic = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  suggestion: z.string().optional(),
  line: z.number().int().positive().optional(),
});
export type Diagnostic = z.infer<typeof Diagnostic>;
