/** Below `/api/mcp/<server>/`. */
export function serverPath(server: string, rest: string): string {
  return `/api/mcp/${encodeURIComponent(server)}/${rest}`;
}

/** Below `/api/mcp/servers/<server>`. */
export function definitionPath(server: string, rest = ''): string {
  return `/api/mcp/servers/${encodeURIComponent(server)}${rest}`;
}
