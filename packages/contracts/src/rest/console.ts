import { z } from 'zod';
import { Authority } from './chat.ts';

/** A tool with all that a form for it needs. Its texts are the server's: data, never markup. */
export const ToolDetail = z.object({
  name: z.string(),
  /** The name that models use. */
  publicName: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.record(z.string(), z.unknown()).optional(),
  /** Whether each call waits for the user's word. */
  asksFirst: z.boolean(),
});
export type ToolDetail = z.infer<typeof ToolDetail>;

/** `GET /api/mcp/servers/:serverName/tools`. */
export const ServerToolsView = z.object({
  serverName: z.string(),
  title: z.string(),
  state: z.enum(['connected', 'unreachable', 'needs_authorization', 'needs_configuration']),
  code: z.string().optional(),
  incomplete: z.boolean().optional(),
  authority: Authority,
  tools: z.array(ToolDetail),
});
export type ServerToolsView = z.infer<typeof ServerToolsView>;

/** `POST /api/mcp/servers/check`: everything that saving would check, and nothing is stored. */
export const ServerCheckRequest = z.strictObject({
  config: z.record(z.string(), z.unknown()),
  /** The server that is being edited: its secrets stand behind masks. */
  serverName: z.string().min(1).max(256).optional(),
});
export type ServerCheckRequest = z.infer<typeof ServerCheckRequest>;

export const ServerCheckView = z.object({
  /** `false`: it could not be looked at without a user's own credential; what can be checked was. */
  inspected: z.boolean(),
  tools: z.number().int().optional(),
});
export type ServerCheckView = z.infer<typeof ServerCheckView>;
