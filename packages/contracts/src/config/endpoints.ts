import { z } from 'zod';
import { openSection } from './section.ts';

/** LibreChat's shape. Behalf speaks to OpenAI-compatible models alone. */
export const CustomEndpoint = openSection({
  name: z.string().min(1).describe('Name shown to people.'),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key of the model API. Take it from the environment: `${NAME}`.'),
  baseURL: z.string().min(1).describe('Base URL of an OpenAI-compatible API.'),
  models: openSection({
    default: z
      .array(z.union([z.string(), z.looseObject({ name: z.string() })]))
      .optional()
      .describe('Models to offer.'),
    fetch: z.boolean().optional().describe('Ask the API for its models.'),
  })
    .optional()
    .describe('Which models it has.'),
  headers: z.record(z.string(), z.string()).optional().describe('Headers sent with every request.'),
});
export type CustomEndpoint = z.output<typeof CustomEndpoint>;

const patterns = z.array(z.string().min(1));

export const ToolApproval = openSection({
  enabled: z.boolean().optional().describe('Whether approval is asked for at all.'),
  mode: z
    .enum(['default', 'dontAsk', 'bypass'])
    .optional()
    .describe('What happens with tools that no list names.'),
  allow: patterns.optional().describe('Tools that run at once: globs such as `mcp:<server>:<tool>`.'),
  deny: patterns.optional().describe('Tools that never run; wins over the other lists.'),
  ask: patterns.optional().describe('Tools that ask first.'),
});
export type ToolApproval = z.output<typeof ToolApproval>;

export const Endpoints = openSection({
  custom: z.array(CustomEndpoint).optional().describe('Models for the chat.'),
  agents: openSection({ toolApproval: ToolApproval.optional().describe('Which tools ask first.') })
    .optional()
    .describe('Only `toolApproval` is used.'),
});
export type Endpoints = z.output<typeof Endpoints>;
