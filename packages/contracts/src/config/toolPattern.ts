/**
 * What an entry of `toolApproval` names. `tools`: tools of MCP servers, by a glob for each part. `other`: another kind
 * of tool, of which there are none here.
 */
export type ToolPattern =
  | { readonly kind: 'tools'; readonly server: string; readonly tool: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'malformed'; readonly problem: string };

const PREFIX = 'mcp:';

/**
 * The server's part ends at the first colon behind the prefix: then no server can be named so that it falls under a
 * pattern meant for another one's tools. One that has a colon in its name is written in its normalised form.
 */
export function parseToolPattern(text: string): ToolPattern {
  if (text.trim() !== text) return malformed('may not begin or end with a blank');
  if (/^\*+$/.test(text)) return { kind: 'tools', server: '*', tool: '*' };
  if (!text.startsWith(PREFIX)) return isMeantForMcp(text) ?? { kind: 'other' };
  const rest = text.slice(PREFIX.length);
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
function isMeantForMcp(text: string): ToolPattern | undefined {
  if (/^mcp\s*:/i.test(text)) return malformed('must begin with mcp: in small letters, without a blank');
  if (text.includes('_mcp_')) return malformed('names a tool of a server by the name models use');
  const wildcard = text.search(/[*?]/);
  if (wildcard < 0 || !PREFIX.startsWith(text.slice(0, wildcard))) return undefined;
  return malformed('may or may not mean tools of servers');
}
