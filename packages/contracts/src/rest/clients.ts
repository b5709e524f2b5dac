import { z } from 'zod';

/** An application that a user agreed to, at our own authorization server. */
export const ClientView = z.object({
  /** Of what was agreed to; names nothing elsewhere. */
  id: z.string(),
  clientId: z.string(),
  /** As the application calls itself. */
  clientName: z.string(),
  /** Where its users are sent back to. */
  redirectHost: z.string(),
  createdAt: z.number(),
});
export type ClientView = z.infer<typeof ClientView>;
