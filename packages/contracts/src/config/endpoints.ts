import { z } from 'zod';
import { openSection, section, unusedKey } from './section.ts';

/** As in LibreChat. Behalf supports OpenAI-compatible models only. */
export const CustomEndpoint = openSection({
  name: z.string().min(1).describe('Display name.'),
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
    fetch: z.boolean().optional().describe('Read the list of models from the API.'),
  })
    .optional()
    .describe('Models of this endpoint.'),
  headers: z.record(z.string(), z.string()).optional().describe('Headers sent with every request.'),
  addParams: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Fields added to every request, such as `temperature`. Messages and tools cannot be overridden.',
    ),
  dropParams: z.array(z.string()).optional().describe('Fields removed from every request.'),
});
export type CustomEndpoint = z.output<typeof CustomEndpoint>;

const patterns = z.array(z.string().min(1));

/** Deviations for one role. */
export const RoleToolPolicy = section({
  allow: patterns.optional().describe('The only tools available to this role. Absent or empty: no limit.'),
  deny: patterns.optional().describe('Tools that are hidden from this role.'),
  ask: patterns.optional().describe('Tools that require approval for this role.'),
  readOnlyOnly: z
    .boolean()
    .default(false)
    .describe('Offer this role only tools that declare themselves read-only.'),
});
export type RoleToolPolicy = z.output<typeof RoleToolPolicy>;

/**
 * As in LibreChat, plus `roles`. A misspelled key could leave a tool allowed, so unknown keys are errors. The only
 * ignored key is `reason`, a text for a chat.
 */
export const ToolApproval = section({
  enabled: z.boolean().optional().describe('False: no tool requires approval. `deny` still applies.'),
  mode: z
    .enum(['default', 'dontAsk', 'bypass'])
    .optional()
    .describe(
      '`default`: tools in no list require approval; absent: they run. `dontAsk`: tools that would require approval are denied. ' +
        '`bypass`: they run.',
    ),
  allow: patterns
    .optional()
    .describe(
      'Tools that run without approval: `mcp:<server>:<tool>` or `mcp:<server>`, with `*` for any text and `?` for one character.',
    ),
  deny: patterns
    .optional()
    .describe('Tools that are never listed or called, regardless of the other lists, `mode` and `enabled`.'),
  ask: patterns
    .optional()
    .describe('Tools that require approval: each call waits for the user. Takes precedence over `allow`.'),
  roles: z
    .record(z.string().min(1), RoleToolPolicy)
    .optional()
    .describe('Additional rules for the users of a role, by role name. Behalf extension.'),
  reason: unusedKey('LibreChat’s text of the approval prompt. Behalf ignores it.'),
  hooks: z
    .array(z.unknown())
    .optional()
    .describe('LibreChat’s policy modules. Behalf does not run them; the list must be empty.'),
});
export type ToolApproval = z.output<typeof ToolApproval>;

export const Endpoints = openSection({
  custom: z.array(CustomEndpoint).optional().describe('Models for the chat.'),
  agents: openSection({ toolApproval: ToolApproval.optional().describe('Which tools require approval.') })
    .optional()
    .describe('Only `toolApproval` is used.'),
});
export type Endpoints = z.output<typeof Endpoints>;

/**
 * An entry of `toolApproval`. `tools`: tools of MCP servers, with a glob for server and tool. `other`: another kind
 * of tool, which Behalf does not have.
 */
export type ToolPattern =
  | { readonly kind: 'tools'; readonly server: string; readonly tool: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'malformed'; readonly problem: string };

const MCP_PREFIX = 'mcp:';

/**
 * The server part ends at the first colon after the prefix, so that no server name can match a pattern for another
 * server's tools. A server with a colon in its name is written in its normalized form.
 */
export function parseToolPattern(text: string): ToolPattern {
  if (text.trim() !== text) return malformed('may not begin or end with a space');
  if (/^\*+$/.test(text)) return { kind: 'tools', server: '*', tool: '*' };
  if (!text.startsWith(MCP_PREFIX)) return detectMcpMistake(text) ?? { kind: 'other' };
  const rest = text.slice(MCP_PREFIX.length);
  const colon = rest.indexOf(':');
  const server = colon < 0 ? rest : rest.slice(0, colon);
  const tool = colon < 0 ? '*' : rest.slice(colon + 1);
  if (server === '') return malformed('names no server');
  if (tool === '') return malformed('names no tool');
  return { kind: 'tools', server, tool };
}

function malformed(problem: string): ToolPattern {
  return { kind: 'malformed', problem };
}

/** Detects a pattern that is probably meant for MCP tools. Ignoring it could allow a tool that it denies. */
function detectMcpMistake(text: string): ToolPattern | undefined {
  if (/^mcp\s*:/i.test(text)) return malformed('must begin with mcp: in lower case, without a space');
  if (text.includes('_mcp_')) return malformed('uses the tool name that models see');
  const wildcard = text.search(/[*?]/);
  if (wildcard < 0 || !MCP_PREFIX.startsWith(text.slice(0, wildcard))) return undefined;
  return malformed('is ambiguous: it may or may not match tools of servers');
}
