import { z } from 'zod';

/** `GET /api/admin/connections`: what this process has open for the caller's tenant. */
export const LiveConnectionsView = z.object({
  replica: z.string(),
  totals: z.object({
    shared: z.number(),
    user: z.number(),
    /** For operators alone: these serve the users of all tenants. */
    stateless: z.number().optional(),
    breakersOpen: z.number(),
  }),
  servers: z.array(
    z.object({
      server: z.string(),
      title: z.string().optional(),
      scope: z.enum(['app', 'user']),
      /** Of a shared server: its one connection. */
      state: z.enum(['connected', 'connecting', 'disconnected', 'error']).optional(),
      /** How many users have a connection of their own. */
      users: z.number(),
      /** Requests under way. Absent where others than operators would see those of other tenants in it. */
      inFlight: z.number().optional(),
      /** What failed last: for all, or for one of the users. */
      code: z.string().optional(),
      /** Since when it fails, and when it is tried again. */
      since: z.number().optional(),
      retryAt: z.number().optional(),
      isBreakerOpen: z.boolean(),
    }),
  ),
});
export type LiveConnectionsView = z.infer<typeof LiveConnectionsView>;

export const StatsQuery = z.strictObject({ range: z.enum(['hour', 'day']).default('hour') });

/** `GET /api/admin/stats`: what this process counted, in buckets of equal length, the oldest first. */
export const StatsView = z.object({
  replica: z.string(),
  range: z.enum(['hour', 'day']),
  /** When the first bucket begins, and how long each one is. */
  from: z.number(),
  bucketMs: z.number(),
  servers: z.array(
    z.object({
      server: z.string(),
      calls: z.array(z.number()),
      errors: z.array(z.number()),
      /** Milliseconds; null where there was no call. */
      p50: z.array(z.number().nullable()),
      p95: z.array(z.number().nullable()),
    }),
  ),
  /** For operators alone: of the whole process since it started. */
  exchanges: z.object({ requests: z.number(), outcomes: z.record(z.string(), z.number()) }).optional(),
  refreshes: z.object({ outcomes: z.record(z.string(), z.number()) }).optional(),
});
export type StatsView = z.infer<typeof StatsView>;

/** `GET /api/admin/config`: what runs, with `********` for each secret. For operators. */
export const EffectiveConfigView = z.object({
  file: z.string().nullable(),
  /** The configuration as it was read, `${NAME}` left as it is written. */
  config: z.record(z.string(), z.unknown()),
  /** The variables of the environment: what holds, and whether somebody said so. */
  environment: z.array(
    z.object({ name: z.string(), value: z.string().nullable(), isSet: z.boolean(), isSecret: z.boolean() }),
  ),
  warnings: z.array(z.object({ path: z.string(), message: z.string(), line: z.number().optional() })),
});
export type EffectiveConfigView = z.infer<typeof EffectiveConfigView>;

export const ReadyView = z.object({
  status: z.enum(['ready', 'not_ready']),
  version: z.string(),
  /** Which technology serves what. */
  stores: z.object({
    primary: z.enum(['sqlite', 'mongo', 'memory']),
    coordination: z.enum(['sqlite', 'mongo', 'redis', 'memory']),
  }),
  /** What keeps the gateway from serving; empty when it is ready. */
  missing: z.array(z.object({ part: z.string(), reason: z.string() })),
});
export type ReadyView = z.infer<typeof ReadyView>;
