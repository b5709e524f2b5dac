/** Below `/api/mcp/<server>/`. */
export function ofServer(server: string, rest: string): string {
  return `/api/mcp/${encodeURIComponent(server)}/${rest}`;
}

/** Below `/api/mcp/servers/<server>`. */
export function definition(server: string, rest = ''): string {
  return `/api/mcp/servers/${encodeURIComponent(server)}${rest}`;
}
