import type { ServerClaims } from '../upstream/upstream.ts';
import type { Allowed } from './checkAccess.ts';
import type { Ready } from './obtainCredential.ts';

/** Nothing is held open for one chat request, and no child process for one user's curiosity. */
export function isSilent(server: Allowed, ready?: Ready): boolean {
  if (server.scope === 'app') return false;
  return (
    server.requestScoped || (ready !== undefined && 'holder' in ready && ready.holder.target.type === 'stdio')
  );
}

/** Whether this server says that it tells of updated resources. */
export function offersUpdates({ capabilities }: ServerClaims): boolean {
  const { resources } = capabilities;
  const offered = typeof resources === 'object' && resources !== null ? resources : {};
  return 'subscribe' in offered && offered.subscribe === true;
}
