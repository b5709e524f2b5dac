import { z } from 'zod';
import { section } from './section.ts';

/** The variable that `apiKey.source: user` declares for each user. */
export const apiKeyVariable = 'MCP_API_KEY';

export const ApiKey = section({
  source: z.enum(['admin', 'user']).describe('Who supplies the key: the operator (`key`), or each user.'),
  authorization_type: z
    .enum(['basic', 'bearer', 'custom'])
    .describe(
      '`Authorization: Basic`, `Authorization: Bearer`, or a custom header. For `basic`, `user:password` is encoded.',
    ),
  key: z
    .string()
    .min(1)
    .optional()
    .describe('The key, for `source: admin`. Take it from the environment: `${NAME}`.'),
  custom_header: z
    .string()
    .min(1)
    .default('X-Api-Key')
    .describe('Header name for `authorization_type: custom`.'),
});
export type ApiKey = z.output<typeof ApiKey>;
