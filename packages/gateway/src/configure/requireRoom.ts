import { GatewayError } from '../errors/gatewayError.ts';
import type { StoredServerName } from '../ports/index.ts';
import type { ConfigureParts } from './parts.ts';

export type Roster = readonly StoredServerName[];

/** Whether this author may have one more server. */
export function requireRoom(
  { maxPerUser }: Pick<ConfigureParts, 'maxPerUser'>,
  author: string,
  roster: Roster,
): void {
  const own = roster.filter((server) => server.author === author);
  if (own.length >= maxPerUser) throw new GatewayError('MCP_SERVER_LIMIT');
}
