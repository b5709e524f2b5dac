/** A configuration in which servers of this machine may be reached. */
export function yamlWith(servers: Record<string, object>, more: object = {}): string {
  const ports = Object.values(servers).flatMap((server) => {
    const { url } = server as { url?: string };
    return url === undefined ? [] : [new URL(url.replace(/\{\{.*?\}\}/g, 'x')).host];
  });
  return JSON.stringify({
    mcpSettings: { operatorAddresses: [...new Set(ports)] },
    mcpServers: servers,
    ...more,
  });
}

export const http = (url: string, more: object = {}) => ({ type: 'streamable-http', url, ...more });
