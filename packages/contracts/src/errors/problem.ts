import { z } from 'zod';
import { MissingParts } from '../rest/blocks.ts';
import { errorCodes } from './codes.ts';
import { Diagnostic } from './diagnostic.ts';

/** The approval that a call waits for, and when it expires (milliseconds since the epoch). */
export const ApprovalNeeded = z.object({ id: z.string(), expiresAt: z.number() });
export type ApprovalNeeded = z.infer<typeof ApprovalNeeded>;

/** The body of every error (RFC 9457). `message` and `error` are for LibreChat's front end. */
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
  /** The sign-in that is already in progress. */
  flowId: z.string().optional(),
  connectUrl: z.string().optional(),
  expiresAt: z.number().optional(),
  label: z.string().optional(),
  /** The changed fields that require a secret to be entered again. */
  changedFields: z.array(z.string()).optional(),
  /** Requirements that are missing before a block can run. */
  missing: MissingParts.optional(),
});
export type Problem = z.infer<typeof Problem>;
