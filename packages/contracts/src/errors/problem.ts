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

/** Which approval a call waits for, and until when (milliseconds since the epoch). */
export const ApprovalNeeded = z.object({ id: z.string(), expiresAt: z.number() });
export type ApprovalNeeded = z.infer<typeof ApprovalNeeded>;

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
  approval: ApprovalNeeded.optional(),
  /** Of a secret that must be entered again: what has changed that it is bound to. */
  changedFields: z.array(z.string()).optional(),
});
export type Problem = z.infer<typeof Problem>;
