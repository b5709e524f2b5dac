import { z } from 'zod';
import { openSection, section, unusedKey } from './section.ts';

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
  addParams: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Fields added to every request, such as `temperature`. What is said and the tools stay ours.'),
  dropParams: z.array(z.string()).optional().describe('Fields taken out of every request.'),
});
export type CustomEndpoint = z.output<typeof CustomEndpoint>;

const patterns = z.array(z.string().min(1));

/** What differs for one role. */
export const RoleToolPolicy = section({
  allow: patterns
    .optional()
    .describe('The only tools there are for this role. Absent or empty: no such limit.'),
  deny: patterns.optional().describe('Tools that do not exist for this role.'),
  ask: patterns.optional().describe('Tools that ask first for this role.'),
  readOnlyOnly: z
    .boolean()
    .default(false)
    .describe('Offer this role only tools that declare themselves read-only.'),
});
export type RoleToolPolicy = z.output<typeof RoleToolPolicy>;

/**
 * LibreChat's shape, and `roles`. A key that is misspelt would leave a tool open, so none is passed over but `reason`,
 * which is a text for a chat.
 */
export const ToolApproval = section({
  enabled: z.boolean().optional().describe('False: no tool asks first. What is denied stays denied.'),
  mode: z
    .enum(['default', 'dontAsk', 'bypass'])
    .optional()
    .describe(
      '`default`: tools that no list names ask first; absent, they run. `dontAsk`: what would ask is denied. ' +
        '`bypass`: what would ask runs.',
    ),
  allow: patterns
    .optional()
    .describe(
      'Tools that run at once: `mcp:<server>:<tool>` or `mcp:<server>`, with `*` for any text and `?` for one character.',
    ),
  deny: patterns
    .optional()
    .describe(
      'Tools that are neither listed nor called, whatever the other lists, the mode and `enabled` say.',
    ),
  ask: patterns
    .optional()
    .describe('Tools that ask first: each call waits for the user’s approval. Wins over `allow`.'),
  roles: z
    .record(z.string().min(1), RoleToolPolicy)
    .optional()
    .describe('Further rules for the users of a role, by its name. Own key of Behalf.'),
  reason: unusedKey('LibreChat’s words for the question. It has no effect here.'),
  hooks: z
    .array(z.unknown())
    .optional()
    .describe('LibreChat’s modules that restrict further. They are not run here, so there may be none.'),
});
export type ToolApproval = z.output<typeof ToolApproval>;

export const Endpoints = openSection({
  custom: z.array(CustomEndpoint).optional().describe('Models for the chat.'),
  agents: openSection({ toolApproval: ToolApproval.optional().describe('Which tools ask first.') })
    .optional()
    .describe('Only `toolApproval` is used.'),
});
export type Endpoints = z.output<typeof Endpoints>;
