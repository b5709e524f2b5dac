/**
 * What an entry of `toolApproval` names. `tools`: tools of MCP servers, by a glob for each part. `other`: another kind
 * of tool, of which there are none here.
 */
export type ToolPattern =
  | { readonly kind: 'tools'; readonly server: string; readonly tool: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'malformed'; readonly problem: string };

const MCP_PREFIX = 'mcp:';

/**
 * The server's part ends at the first colon behind the prefix: then no server can be named so that it falls under a
 * pattern meant for another one's tools. One that has a colon in its name is written in its normalised form.
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

/** To pass over what was meant for tools of servers would let a denied one run: it has to be said clearly. */
function detectMcpMistake(text: string): ToolPattern | undefined {
  if (/^mcp\s*:/i.test(text)) return malformed('must begin with mcp: in lower case, without a space');
  if (text.includes('_mcp_')) return malformed('uses the tool name that models see');
  const wildcard = text.search(/[*?]/);
  if (wildcard < 0 || !MCP_PREFIX.startsWith(text.slice(0, wildcard))) return undefined;
  return malformed('is ambiguous: it may or may not match tools of servers');
}
