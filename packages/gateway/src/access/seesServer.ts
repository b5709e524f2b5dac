import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';

/** Servers of the operator are for everybody whose role may use servers; one that a user stored is for that user. */
export function seesServer(principal: Principal, { source, author, tenant }: ServerSnapshot): boolean {
  return source === 'user' ? tenant === principal.tenant && author === principal.userId : true;
}
