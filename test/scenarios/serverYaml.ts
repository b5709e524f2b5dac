/** A configuration in which servers of this machine may be reached. */
export function renderYaml(servers: Record<string, object>, extra: object = {}): string {
  const ports = Object.values(servers).flatMap((server) => {
    const { url } = server as { url?: string };
    return url === undefined ? [] : [new URL(url.replace(/\{\{.*?\}\}/g, 'x')).host];
  });
  return JSON.stringify({
    mcpSettings: { operatorAddresses: [...new Set(ports)] },
    mcpServers: servers,
    ...extra,
  });
}

export const httpDefinition = (url: string, extra: object = {}) => ({
  type: 'streamable-http',
  url,
  ...extra,
});
