import { z } from 'zod';
import { MissingParts } from '../rest/blocks.ts';
import { errorCodes } from './codes.ts';
import { Diagnostic } from './diagnostic.ts';

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
  /** Of the sign-in that is under way already. */
  flowId: z.string().optional(),
  connectUrl: z.string().optional(),
  expiresAt: z.number().optional(),
  label: z.string().optional(),
  /** Of a secret that must be entered again: what has changed that it is bound to. */
  changedFields: z.array(z.string()).optional(),
  /** What has to be there before a block runs. */
  missing: MissingParts.optional(),
});
export type Problem = z.infer<typeof Problem>;
