import { z } from 'zod';
import { auditKinds, auditOutcomes } from './constants.ts';

const name = z.string().min(1).max(200);
/** A date means its first moment. UTC unless an offset is given. */
const timestamp = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => Date.parse(text));

/** Filters of events. An event must match all that are given. */
const filters = {
  kind: z.enum(auditKinds).optional(),
  action: name.optional(),
  /** The ID of the user who acted. */
  actor: name.optional(),
  server: name.optional(),
  tool: name.optional(),
  outcome: z.enum(auditOutcomes).optional(),
  code: name.optional(),
  request: name.optional(),
  /** Inclusive bounds. */
  from: timestamp.optional(),
  to: timestamp.optional(),
};

export const AuditExportQuery = z.strictObject(filters);
export type AuditExportQuery = z.infer<typeof AuditExportQuery>;

export const AuditQuery = z.strictObject({
  ...filters,
  limit: z
    .string()
    .regex(/^[0-9]{1,4}$/, 'must be a number from 1 to 1000')
    .transform(Number)
    .pipe(z.int().min(1).max(1_000))
    .optional(),
  cursor: z.string().min(1).max(300).optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

const AuditEventView = z.union([
  z.object({ id: z.string(), unreadable: z.literal(true) }),
  z.looseObject({ id: z.string(), at: z.number(), kind: z.enum(auditKinds), action: z.string() }),
]);

/** `GET /api/admin/audit`. If `next` is present there may be more events, even if the page has fewer than `limit`. */
export const AuditView = z.object({ events: z.array(AuditEventView), next: z.string().optional() });
export type AuditView = z.infer<typeof AuditView>;

export const auditProblems = [
  'changed',
  'unknown_key',
  'missing',
  'link_broken',
  'start_missing',
  'predecessor_missing',
  'end_missing',
] as const;
export type AuditProblemKind = (typeof auditProblems)[number];

/** `GET /api/admin/audit/verify`. */
export const AuditVerifyView = z.object({
  ok: z.boolean(),
  writers: z.number(),
  segments: z.number(),
  events: z.number(),
  problems: z.array(
    z.object({
      writer: z.string(),
      /** The first and last segment of the problem. */
      seq: z.number(),
      through: z.number(),
      problem: z.enum(auditProblems),
    }),
  ),
  /** The number of problems that are not listed. */
  more: z.number(),
});
export type AuditVerifyView = z.infer<typeof AuditVerifyView>;
