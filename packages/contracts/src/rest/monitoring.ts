import { z } from 'zod';

/** `GET /api/admin/connections`: the open connections of this process for the caller's tenant. */
export const LiveConnectionsView = z.object({
  replica: z.string(),
  totals: z.object({
    shared: z.number(),
    user: z.number(),
    /** For operators only, because these serve the users of all tenants. */
    stateless: z.number().optional(),
    breakersOpen: z.number(),
  }),
  servers: z.array(
    z.object({
      server: z.string(),
      title: z.string().optional(),
      scope: z.enum(['app', 'user']),
      /** The state of a shared server's connection. */
      state: z.enum(['connected', 'connecting', 'disconnected', 'error']).optional(),
      /** The number of users with a user-scoped connection. */
      users: z.number(),
      /** Requests in progress. Absent if the number would include other tenants and the caller is not an operator. */
      inFlight: z.number().optional(),
      /** The last error, for all or for one user. */
      code: z.string().optional(),
      /** Since when it fails, and when the next attempt takes place. */
      since: z.number().optional(),
      retryAt: z.number().optional(),
      isBreakerOpen: z.boolean(),
    }),
  ),
});
export type LiveConnectionsView = z.infer<typeof LiveConnectionsView>;

export const StatsQuery = z.strictObject({ range: z.enum(['hour', 'day']).default('hour') });

/** `GET /api/admin/stats`: the counters of this process in buckets of equal length, the oldest first. */
export const StatsView = z.object({
  replica: z.string(),
  range: z.enum(['hour', 'day']),
  /** The start of the first bucket, and the length of each bucket. */
  from: z.number(),
  bucketMs: z.number(),
  servers: z.array(
    z.object({
      server: z.string(),
      calls: z.array(z.number()),
      errors: z.array(z.number()),
      /** In milliseconds; null without a call. */
      p50: z.array(z.number().nullable()),
      p95: z.array(z.number().nullable()),
    }),
  ),
  /** For operators only: totals of the process since its start. */
  exchanges: z.object({ requests: z.number(), outcomes: z.record(z.string(), z.number()) }).optional(),
  refreshes: z.object({ outcomes: z.record(z.string(), z.number()) }).optional(),
});
export type StatsView = z.infer<typeof StatsView>;

/** `GET /api/admin/config`: the active configuration with each secret masked. For operators only. */
export const EffectiveConfigView = z.object({
  file: z.string().nullable(),
  /** The configuration as written, with `${NAME}` not substituted. */
  config: z.record(z.string(), z.unknown()),
  /** The environment variables: their values, and whether they were set explicitly. */
  environment: z.array(
    z.object({ name: z.string(), value: z.string().nullable(), isSet: z.boolean(), isSecret: z.boolean() }),
  ),
  warnings: z.array(z.object({ path: z.string(), message: z.string(), line: z.number().optional() })),
});
export type EffectiveConfigView = z.infer<typeof EffectiveConfigView>;

export const ReadyView = z.object({
  status: z.enum(['ready', 'not_ready']),
  version: z.string(),
  /** The technology of each store. */
  stores: z.object({
    primary: z.enum(['sqlite', 'mongo', 'memory']),
    coordination: z.enum(['sqlite', 'mongo', 'redis', 'memory']),
  }),
  /** The components that are not ready; empty if the gateway is ready. */
  missing: z.array(z.object({ part: z.string(), reason: z.string() })),
});
export type ReadyView = z.infer<typeof ReadyView>;
