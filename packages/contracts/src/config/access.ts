import { z } from 'zod';
import { section } from './section.ts';

const names = z.array(z.string().min(1));

/** Who sees a server of the file. Without it: everyone whose role has MCP_SERVERS.USE. */
export const Access = section({
  users: names
    .optional()
    .describe(
      'Ids of users, or emails of local accounts. An email in a token of an identity provider grants nothing.',
    ),
  groups: names.optional().describe('Group names from the token claim named by `OPENID_GROUPS_CLAIM`.'),
  roles: names.optional().describe('Role names, such as `ADMIN`.'),
});
export type Access = z.output<typeof Access>;

/** Which of a server's tools exist here; a user's own choice can only narrow it further. */
export const ToolFilter = section({
  include: names.optional().describe('Globs of tool names to offer. Absent: all.'),
  exclude: names.optional().describe('Globs of tool names to hide; wins over `include`.'),
  readOnlyOnly: z.boolean().default(false).describe('Offer only tools that declare themselves read-only.'),
});
export type ToolFilter = z.output<typeof ToolFilter>;
