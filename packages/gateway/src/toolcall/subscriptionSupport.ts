import type { ServerSnapshot } from '../registry/server.ts';
import type { ServerClaims } from '../upstream/upstream.ts';

/** Nothing is held open for one chat request, and no child process for one user's curiosity. */
export function cannotSubscribe(server: ServerSnapshot): boolean {
  return server.scope === 'user' && (server.requestScoped || server.settings.type === 'stdio');
}

/** Whether this server says that it tells of updated resources. */
export function supportsResourceUpdates({ capabilities }: ServerClaims): boolean {
  const { resources } = capabilities;
  const capability = typeof resources === 'object' && resources !== null ? resources : {};
  return 'subscribe' in capability && capability.subscribe === true;
}
