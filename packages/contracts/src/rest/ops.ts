import { z } from 'zod';

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
