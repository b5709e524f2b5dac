import { GatewayError } from '../errors/gatewayError.ts';
import type { StoredServerName } from '../ports/index.ts';
import type { ConfigureParts } from './parts.ts';

export type ServerNames = readonly StoredServerName[];

/** Whether this author may have one more server. */
export function requireServerQuota(
  { maxPerUser }: Pick<ConfigureParts, 'maxPerUser'>,
  author: string,
  names: ServerNames,
): void {
  const ownServers = names.filter((server) => server.author === author);
  if (ownServers.length >= maxPerUser) throw new GatewayError('MCP_SERVER_LIMIT');
}
