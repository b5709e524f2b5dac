import { z } from 'zod';

/** `GET /api/mcp/tools`, in the shape an existing front end reads; `state` and `code` are additions. */
export const ToolsView = z.object({
  servers: z.record(
    z.string(),
    z.object({
      name: z.string(),
      icon: z.string(),
      authenticated: z.boolean(),
      authConfig: z.array(z.unknown()),
      tools: z.array(z.object({ name: z.string(), pluginKey: z.string(), description: z.string() })),
      state: z.enum(['connected', 'unreachable']),
      code: z.string().optional(),
    }),
  ),
});
export type ToolsView = z.infer<typeof ToolsView>;

export const ToolCallRequest = z.strictObject({ arguments: z.record(z.string(), z.unknown()).default({}) });
export type ToolCallRequest = z.infer<typeof ToolCallRequest>;
